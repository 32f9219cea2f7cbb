"""Does telemetry fit? What an integrator asks first: bytes, numbers, clocks, openings, senses, rounds and keys."""
