"""What all tests share."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from stream.deal.events import AnyEvent
from stream.replay import fold
from stream.replay.fold import plan_of, variants_of
from stream.replay.table import Table
from stream.rulebook.paragraphs import load

# How far the property tests look: HYPOTHESIS_PROFILE=nightly for minutes instead of seconds.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", max_examples=40, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("nightly", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
PROFILE: Final = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)
_heard: Counter[str] = Counter()


@pytest.fixture(scope="session", autouse=True)
def _counted() -> Iterator[None]:
    """In a long run every event that a table hears is counted, to be told at the end."""
    if PROFILE == "ci":
        yield
        return
    hear = Table.hear

    def counting(table: Table, event: AnyEvent, mark: int = 0) -> None:
        _heard["events"] += 1
        hear(table, event, mark)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "hear", counting)
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how many events were heard."""
    if _heard:
        terminalreporter.write_line(f"{_heard['events']} events were heard by tables")


@pytest.fixture(scope="session", autouse=True)
def _nothing_kept_from_before() -> None:
    """A mutation run forks a process that has judged already: what it keeps of rule sets is not the mutant's."""
    for kept in (load, plan_of, variants_of, fold._setup):
        kept.cache_clear()
