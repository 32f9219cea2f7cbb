"""The law: procedures, checks and paragraphs of each rule set. Pure; knows nothing of the engine."""
