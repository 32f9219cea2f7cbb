"""Holds the verdicts of all games to a known truth while devices err, mode by mode."""
