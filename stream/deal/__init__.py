"""The words: cards, events, verdicts, their notation and their bytes. Pure; knows nothing of any rule."""
