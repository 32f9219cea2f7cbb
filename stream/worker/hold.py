"""What may be published now: a changed verdict waits a moment, since the first view of a round is often wrong.

Live the hold counts wall time; while catching up it counts the event time of that table, so that one bad clock does
not release all. What vanishes while on hold just comes off it. What rests on missing readings waits until the worker
has caught up: a record forwarded from another partition lies at the end of the backlog.
"""

from msgspec import Struct

from stream.deal.verdicts import Verdict
from stream.replay.evidence import View


class Holds(Struct, frozen=True):
    """How long a changed verdict waits, in seconds: of urgent paragraphs, and of the rest."""

    urgent_s: float = 0.2
    other_s: float = 2.0


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

    def due(self, holds: Holds, now: float, event_time: int, *, behind: bool) -> bool:
        """Whether it may be published."""
        if self.forced:
            return True
        hold = holds.urgent_s if self.urgent else holds.other_s
        if behind and self._rests_on_gaps():
            return False
        if behind:
            return event_time - self.since_event >= hold * 1_000_000
        return now - self.since >= hold

    def _rests_on_gaps(self) -> bool:
        v = self.verdict
        return v is not None and (v.kind == "device_fault" or v.cause == "coverage")
