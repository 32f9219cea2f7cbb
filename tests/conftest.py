"""What all tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

from stream.replay import fold
from stream.replay.fold import plan_of, variants_of
from stream.rulebook.paragraphs import load

# How far the property tests look: HYPOTHESIS_PROFILE=nightly for minutes instead of seconds.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", max_examples=40, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("nightly", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def _nothing_kept_from_before() -> None:
    """A mutation run forks a process that has judged already: what it keeps of rule sets is not the mutant's."""
    for kept in (load, plan_of, variants_of, fold._setup):
        kept.cache_clear()
