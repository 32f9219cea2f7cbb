"""What may be published now: a changed verdict waits a moment, since the first view of a round is often wrong.

Live the hold counts wall time; while catching up it counts the event time of that table, so that one bad clock does
not release all. What vanishes while on hold just comes off it. What rests on missing readings waits until the worker
has caught up: a record forwarded from another partition lies at the end of the backlog. An accusation that says that
something was not seen waits until every device that could show it has been heard since: one report lost or late shows
by the next.
"""

from collections.abc import Callable

from msgspec import Struct

from stream.deal.verdicts import Verdict
from stream.replay.evidence import View


class Holds(Struct, frozen=True):
    """How long a changed verdict waits, in seconds: of urgent paragraphs, of the rest, and at most for devices."""

    urgent_s: float = 0.2
    other_s: float = 2.0
    devices_s: float = 45.0  # longer than a silent device takes to be known as offline


class Pending(Struct):
    """A difference between what is in force and what was published."""

    segment: str
    verdict: Verdict | None  # None: it vanished, and is to be withdrawn
    body: bytes
    urgent: bool
    since: float  # seconds of a steady clock
    since_event: int  # microseconds of the table's event time
    forced: bool = False  # its round leaves the kept history: now or never
    view: View | None = None  # of a round that has left

    def due(self, holds: Holds, now: float, event_time: int, *, behind: bool, unheard: Callable[[], bool]) -> bool:
        """Whether it may be published; `unheard` tells whether a device could still be about to explain it away."""
        if self.forced:
            return True
        waited = (event_time - self.since_event) / 1_000_000 if behind else now - self.since
        if waited < (holds.urgent_s if self.urgent else holds.other_s) or (behind and self._rests_on_gaps()):
            return False
        return waited >= holds.devices_s or not unheard()

    def _rests_on_gaps(self) -> bool:
        v = self.verdict
        return v is not None and (v.kind == "device_fault" or v.cause == "coverage")
