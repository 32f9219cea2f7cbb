"""What is known of a device at one table: its newest event and what it has sent."""

from collections.abc import Iterable

from stream.deal import events as ev
from stream.rulebook.heard import Heard


class Tail:
    """The newest event of a device by (`boot`, `seq`), the running maximum of its clock, and the types it has sent."""

    __slots__ = ("boot", "first", "kinds", "online", "seq", "when")

    def __init__(self, boot: int, seq: int, when: int) -> None:
        self.boot = boot
        self.seq = seq
        self.when = when
        self.first = when  # the earliest that it was heard, as far as events are kept
        self.kinds: set[type[ev.AnyEvent]] = set()
        self.online: Heard | None = None  # the last device.online that speaks of all of it

    def relearn(self, kept: Iterable[Heard], *, anew: bool) -> None:
        """Learn from its kept events, after one gave way to another; `anew`: there never were others."""
        if anew:
            self.kinds = set()
        self.online = None
        first: int | None = None
        for heard in kept:
            first = heard.at if first is None else min(first, heard.at)
            self.kinds.add(type(heard.event))
            if isinstance(heard.event, ev.DeviceOnline) and heard.event.sense is None:
                self.online = heard
        if anew and first is not None:
            self.first = first
