"""A stretch of a table's history: a round with the time after it, warm as events or cold as one record.

A closed round is seldom looked at again. It is kept as the bytes of its record, which is also what a worker writes
down; only its outline stays in memory: where it begins and ends and which events of which device it can hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from stream.deal import events as ev
from stream.deal.events import AnyEvent
from stream.deal.verdicts import Verdict
from stream.deal.wire import micros
from stream.replay.carry import Alive, Carry, Interruption
from stream.replay.explained import Memo
from stream.replay.fold import BETWEEN, Fold
from stream.rulebook.findings import Absence
from stream.rulebook.heard import Heard

LOOKAHEAD: Final = 8  # later rounds in which a duty of a round can end
_PRELUDE: Final = frozenset({ev.WagerPlaced, ev.WagerRemoved})  # counts until the first card: who is in the round
_TURNS: Final = frozenset({ev.RoundOpened, ev.RoundClosed})

Key = tuple[str, int, int]  # device, boot, seq


JudgedAs = tuple[bool, bool, tuple[Interruption, ...], Alive]  # closed, reused, interruptions, senses
Order = tuple[int, str, int, int]  # when, and the key


class Outline(Struct, frozen=True, array_like=True):
    """What of a cold segment stays in memory."""

    name: str
    round: str | None
    first: Order
    last: Order
    spans: dict[str, tuple[tuple[int, int], tuple[int, int]]]  # device -> its first and last (boot, seq)


class _Whole(Struct, frozen=True, array_like=True):
    """Everything of a segment that can't be derived."""

    events: list[AnyEvent]
    whens: list[int]
    marks: list[int]
    opened: Heard | None
    conflicts: list[Key]
    found: tuple[Interruption, ...]
    reused: bool
    judged_as: JudgedAs | None
    pending: bool = False


class SegmentRecord(Struct, frozen=True, array_like=True):
    """A segment written down: its outline, readable alone, what it begins with, and the rest, as bytes."""

    outline: Outline
    carry: bytes
    whole: bytes


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_record: Final = msgspec.msgpack.Decoder(SegmentRecord).decode
_decode_carry: Final = msgspec.msgpack.Decoder(Carry).decode
_decode_whole: Final = msgspec.msgpack.Decoder(_Whole).decode


class Segment:
    """A round with the time after it, up to the next `round.opened`; the first one may have no round."""

    __slots__ = (
        "_cold", "_events", "_held", "_outline", "_record", "beyond", "carry", "conflicts", "fold", "folded", "found",
        "full", "judged_as", "memo", "opened", "out", "pending", "rests_on", "reused", "saved", "stale", "verdicts",
    )  # fmt: skip

    def __init__(self, events: list[Heard]) -> None:
        self._events: list[Heard] | None = events
        self._cold: bytes | None = None
        self._record: bytes | None = None  # as last written down; it holds while `saved` does
        self._outline: Outline | None = None
        self._held: dict[Key, Heard] = {}  # its events by identity, when they were last asked for
        self.carry: Carry | None = None  # what it begins with, once settled
        self.opened: Heard | None = None  # the table.opened it is judged under
        self.fold: Fold | None = None
        self.folded = 0
        self.out: Carry | None = None  # what it hands on, once another segment follows
        self.found: tuple[Interruption, ...] = ()
        self.conflicts: set[Key] = set()
        self.reused = False
        self.verdicts: dict[str, Verdict] | None = {}  # None: not judged since it was read back
        self.rests_on: Mapping[str, tuple[Absence, ...]] = {}  # verdict -> what it says was not seen
        self.full = False  # it has more events than are judged: what is added at its end changes nothing
        self.memo = Memo()
        self.judged_as: JudgedAs | None = None
        self.pending = False  # a duty of it can end in a later round
        self.beyond: tuple[Heard, ...] = ()  # what later rounds have shown of it
        self.stale = True  # its events changed since it was judged
        self.saved = False  # its record, as it is now, has been written

    @property
    def events(self) -> list[Heard]:
        """Its events in order; a cold segment is warmed."""
        if self._events is None:
            self._thaw()
        assert self._events is not None
        return self._events

    @events.setter
    def events(self, events: list[Heard]) -> None:
        self._thaw()
        self._events, self._held = events, {}

    @property
    def cold(self) -> bool:
        """Whether only its record is held."""
        return self._events is None

    @property
    def outline(self) -> Outline | None:
        """Where it lies; None while it has no event."""
        if self._outline is not None:
            return self._outline
        events = self._events
        return _outline(events) if events else None

    @property
    def name(self) -> str:
        """What it is called in records; empty while it has no event."""
        if self._outline is not None:
            return self._outline.name
        return _name(self._events[0]) if self._events else ""

    @property
    def ends(self) -> tuple[Order, Order] | None:
        """Its first and last event in the order."""
        if self._outline is not None:
            return self._outline.first, self._outline.last
        return (self._events[0][:4], self._events[-1][:4]) if self._events else None

    @property
    def round(self) -> str | None:
        """The id of its round."""
        if self._outline is not None:
            return self._outline.round
        event = self._events[0].event if self._events else None
        return event.round if isinstance(event, ev.RoundOpened) else None

    @property
    def begins_with(self) -> Carry | None:
        """The state it begins with, if it was ever settled; a cold segment is not warmed for it."""
        if self._cold is not None:
            return _decode_carry(_decode_record(self._cold).carry)
        return self.carry

    def may_hold(self, key: Key) -> bool:
        """Whether an event of this identity can be in it."""
        if self._outline is None:
            return True
        span = self._outline.spans.get(key[0])
        return span is not None and span[0] <= key[1:] <= span[1]

    def find(self, key: Key) -> Heard | None:
        """Its event of an identity."""
        if not self.may_hold(key):
            return None
        if len(self._held) != len(self.events):
            self._held = {h[1:4]: h for h in self.events}
        return self._held.get(key)

    def restart(self) -> None:
        """Fold and judge it from its beginning at the next settling."""
        self._thaw()
        self.fold, self.folded, self.stale, self.saved, self.full = None, 0, True, False, False

    def begin_with(self, carry: Carry) -> None:
        """Fold it from another state at the next settling, and judge it where that can mean something else."""
        self._thaw()
        before, self.carry = self.carry, carry
        self.fold, self.folded, self.saved = None, 0, False
        if before is None or not before.means(carry):
            self.stale, self.full = True, False

    def freeze(self) -> None:
        """Keep the record in place of the events (settled and closed segments only)."""
        if self._events:
            self._cold = self._record if self.saved and self._record is not None else self.record()
            self._outline = _outline(self._events)
            self._events, self._held = None, {}
            self.fold = self.carry = self.out = self._record = None
            self.memo = Memo()

    def record(self) -> bytes:
        """The segment written down."""
        if self._cold is not None and self._events is None:
            return self._cold
        events, carry = self.events, self.carry
        assert carry is not None
        whole = _Whole(
            [h.event for h in events],
            [h.when for h in events],
            [h.mark for h in events],
            self.opened,
            sorted(self.conflicts),
            self.found,
            self.reused,
            self.judged_as,
            self.pending,
        )
        self._record = _encode(SegmentRecord(_outline(events), _encode(carry), _encode(whole)))
        return self._record

    def _thaw(self) -> None:
        if self._cold is None:
            return
        record = _decode_record(self._cold)
        whole = _decode_whole(record.whole)
        self._events = _heard(whole)
        self.carry, self.opened = _decode_carry(record.carry), whole.opened
        self.folded = len(self._events)
        self._cold = self._outline = None

    @classmethod
    def read(cls, record: bytes) -> "Segment":
        """A segment from its record: cold, and its verdicts unknown until it is judged again."""
        segment = cls([])
        segment._cold, segment._events = record, None
        decoded = _decode_record(record)
        whole = _decode_whole(decoded.whole)
        segment._outline = decoded.outline
        segment.conflicts, segment.found, segment.reused = set(whole.conflicts), whole.found, whole.reused
        segment.judged_as, segment.pending = whole.judged_as, whole.pending
        segment.verdicts, segment.stale, segment.saved = None, False, True
        return segment


def consequent(events: Sequence[Heard]) -> Iterator[Heard]:
    """What of a round an earlier one's duties can end with: its decks, machines, button, seats and first card."""
    dealt = False
    for h in events:
        kind = type(h.event)
        if kind is ev.CardDrawn and not dealt:
            dealt = True
            yield h
        elif kind in BETWEEN or kind in _TURNS or (kind in _PRELUDE and not dealt):
            yield h


def _heard(whole: _Whole) -> list[Heard]:
    return [
        Heard(when, e.device, e.boot, e.seq, micros(e.at), e, mark)
        for e, when, mark in zip(whole.events, whole.whens, whole.marks, strict=True)
    ]


def _outline(events: list[Heard]) -> Outline:
    spans: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {}
    for h in events:
        here = (h.boot, h.seq)
        span = spans.get(h.device)
        spans[h.device] = (here, here) if span is None else (span[0], here)
    first = events[0]
    opened = first.event
    rnd = opened.round if isinstance(opened, ev.RoundOpened) else None
    return Outline(_name(first), rnd, first[:4], events[-1][:4], spans)


def _name(first: Heard) -> str:
    if isinstance(first.event, ev.RoundOpened):
        return f"{first.device}/{first.boot}/{first.seq}"
    return "0"
