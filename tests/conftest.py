"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# How far the property tests look: HYPOTHESIS_PROFILE=nightly for minutes instead of seconds.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", max_examples=40, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("nightly", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
