"""Surveillance for casino card tables: telemetry in, verdicts out."""
