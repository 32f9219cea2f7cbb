"""The engine: telemetry against procedure, into verdicts. Pure and total."""
