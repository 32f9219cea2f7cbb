"""What a round hands on to the next, and what interrupted a device's view."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.events import AnyEvent
from stream.deal.words import Sense
from stream.rulebook.heard import MS, Heard
from stream.rulebook.standing import Standing

SECOND: Final = 1000 * MS


class Carry(Struct, frozen=True):
    """The state between two rounds of a table: a value, so that a round can be judged again from it."""

    opened: Heard | None = None  # the table.opened in force
    shut: Heard | None = None  # the table.closed after it
    standing: Standing = Standing()
    last: dict[str, Heard] = {}  # device -> its last event
    beats: frozenset[str] = frozenset()  # devices that have sent a heartbeat
    down: dict[str, Heard] = {}  # device -> the event by which it was noticed to be offline
    deaf: dict[str, dict[Sense, Heard]] = {}  # device -> a capability of it -> the event that said it was offline

    def means(self, other: "Carry") -> bool:
        """Whether a round is judged from another state as from this one: the devices' last events aside."""
        return (self.opened, self.shut, self.standing) == (other.opened, other.shut, other.standing)


class Interruption(Struct, frozen=True):
    """A stretch in which a device's view of the table is not known to be whole.

    `begin` is its last event before, `noticed` the event that shows it, `end` its next event (None: not yet).
    Of a gap in `seq` the event after the gap is both. A reboot is no fault, but what a device had not sent when it
    went down is lost without a number missing. `places`: the device may have seen cards placed; a rack that tells
    only what was collected has the same sense and has not. `since`, where it is not told by an event, is when it began,
    microseconds: to a round that does not tell of it no more of its beginning matters. `fault` is the id of the verdict
    that tells of it, in the round that noticed it.
    """

    code: Literal["sequence_gap", "device_offline", "rebooted"]
    device: str
    begin: Heard | None
    noticed: Heard
    end: Heard | None
    senses: frozenset[Sense] = frozenset()
    places: bool = True
    since: int | None = None
    fault: str | None = None

    def covers(self, begin: int, end: int) -> bool:
        """Whether what happened between two moments (microseconds) may have gone unread in it.

        What is missing came after its device's last event and before its next: neither of these is a moment of it.
        """
        since, until = self.began, self.end.when if self.end is not None else None
        if since == until:
            return begin <= since <= end
        return (since < end or begin == end == since) and (until is None or until > begin)

    @property
    def began(self) -> int:
        """When its device was last heard before it, microseconds."""
        if self.since is not None:
            return self.since
        return self.begin.when if self.begin else self.noticed.when


Alive = tuple[tuple[Sense, int], ...]
"""Each sense, and since when (microseconds) some device that carries it has been heard."""


class Watch:
    """Follows the devices of one table through its ordered events; finds gaps and silences."""

    __slots__ = ("alarm", "beats", "deaf", "down", "found", "last", "silence")

    def __init__(self, carry: Carry, silence_s: int) -> None:
        self.last = dict(carry.last)
        self.beats = set(carry.beats)
        self.down = dict(carry.down)
        self.deaf = {device: dict(senses) for device, senses in carry.deaf.items()}
        self.silence = silence_s * SECOND
        self.alarm = self._next_alarm()
        self.found: list[Interruption] = []

    def hear(self, heard: Heard) -> None:
        """Take an event in; interruptions that it begins or ends are added to `found`."""
        when, device, boot, seq, _, event, _ = heard
        before = self.last.get(device)
        if before is not None and (seq != before[3] + 1 or boot != before[2]):
            rebooted = boot != before.boot and seq == 0
            code: Literal["rebooted", "sequence_gap"] = "rebooted" if rebooted else "sequence_gap"
            self.found.append(Interruption(code, device, before, heard, heard))
        if device in self.down:
            self._back(heard)
        kind = type(event)
        if kind is ev.DeviceHeartbeat or kind is ev.DeviceOffline:
            self._alive(heard, kind)
        elif kind is ev.DeviceOnline and device in self.deaf:
            self._hears_again(heard)
        self.last[device] = heard
        if when > self.alarm:
            self._silent(heard)

    def beat_late(self, heard: Heard, after: Sequence[Heard]) -> bool:
        """Take in a device's next heartbeat although later ones of others were taken in; False where order matters."""
        before = self.last.get(heard.device)
        new = before is None or heard[2:4] != (before.boot, before.seq + 1) or heard.device not in self.beats
        later = {h[:4] for h in after}
        noticed = any(i.noticed[:4] in later or (i.end is not None and i.end[:4] in later) for i in self.found)
        if new or noticed or heard.device in self.down or heard.when > self.alarm:
            return False
        self.last[heard.device] = heard
        return True

    def _alive(self, heard: Heard, kind: type[ev.AnyEvent]) -> None:
        """A device says that it is there, or that it goes."""
        offline = heard.event
        if isinstance(offline, ev.DeviceOffline) and offline.sense is not None:
            sense = offline.sense
            self.deaf.setdefault(heard.device, {})[sense] = heard
            self.found.append(Interruption("device_offline", heard.device, heard, heard, None, frozenset({sense})))
        elif kind is ev.DeviceOffline:
            self.down[heard.device] = heard
            self.found.append(Interruption("device_offline", heard.device, heard, heard, None))
        elif heard.device not in self.beats:
            self.beats.add(heard.device)
            self.alarm = min(self.alarm, heard.when + self.silence)

    def _hears_again(self, heard: Heard) -> None:
        """A device says that a capability of it, or all of them, are back."""
        online = heard.event
        assert isinstance(online, ev.DeviceOnline)
        deaf = self.deaf[heard.device]
        for sense in [s for s in deaf if online.sense in (None, s)]:
            off = deaf.pop(sense)
            self.found.append(Interruption("device_offline", heard.device, off, off, heard, frozenset({sense})))
        if not deaf:
            del self.deaf[heard.device]

    def _back(self, heard: Heard) -> None:
        noticed = self.down.pop(heard.device)
        begin = self.last.get(heard.device)
        self.found.append(Interruption("device_offline", heard.device, begin, noticed, heard))

    def _silent(self, heard: Heard) -> None:
        for device in sorted(self.beats - self.down.keys()):
            last = self.last[device]
            if heard.when - last.when > self.silence:
                self.down[device] = heard
                self.found.append(Interruption("device_offline", device, last, heard, None))
        self.alarm = self._next_alarm()

    def _next_alarm(self) -> int:
        alive = [self.last[d].when for d in self.beats - self.down.keys() if d in self.last]
        return min(alive, default=1 << 62) + self.silence


def senses_of(kinds: set[type[AnyEvent]], online: Heard | None) -> frozenset[Sense]:
    """What a device carries: what it said when it came online, else what the types it has sent carry."""
    if online is not None and isinstance(online.event, ev.DeviceOnline) and online.event.senses is not None:
        return frozenset(online.event.senses)
    return frozenset(s for k in kinds for s in k.carries)


def possible_senses(kinds: set[type[AnyEvent]], online: Heard | None) -> frozenset[Sense]:
    """What a device may carry: what it said, else all that devices of its topic do.

    A reader that has placed cards and not yet turned one is not deaf to turns; a shuffler that was never heard is.
    """
    said = senses_of(kinds, online)
    if online is not None and isinstance(online.event, ev.DeviceOnline) and online.event.senses is not None:
        return said
    topics = {k.topic for k in kinds if k.topic is not None}
    return said.union(s for t in ev.TYPES.values() if t.topic in topics for s in t.carries)
