"""What masking hid of a verdict, for the few who may see it: the evidence with every card named, the round's telemetry.

A record is a function of the set of events, as a verdict's body is. While the round is open its telemetry ends with
the last event of the evidence; once another round has begun it is the whole round. So a record changes once when its
round closes, else only with what it tells.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.notation import brief
from stream.deal.verdicts import EvidenceRole, Verdict, body
from stream.deal.wire import canonical, full
from stream.deal.words import Setting
from stream.replay.carry import Carry, Interruption
from stream.replay.drafts import digest
from stream.replay.fold import setup
from stream.replay.segment import Key, Segment
from stream.replay.table import Table
from stream.rulebook.heard import Heard

LARGEST: Final = 768 * 1024  # of a record: Kafka's clients and brokers take 1 MB unless told otherwise
_ROOM: Final = 1024  # of that for what `cut` says
_ESCAPED: Final = 6  # bytes that one letter can take in JSON

Extent = Literal["so_far", "whole"]


class Told(Struct, frozen=True):
    """One event of the evidence in canonical form, every default written out, and its role."""

    role: EvidenceRole
    event: dict[str, Any]


class Cut(Struct, frozen=True, omit_defaults=True):
    """How much was left out so that the record is not too large for its topic."""

    telemetry: int = 0  # events, from the end
    evidence: int = 0  # events, from the end
    deal: int = 0  # letters, from the end


class Unmasked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a verdict rests on, with every card named as it was read."""

    verdict: str
    body: str
    table: str
    round: str | None = None
    rules: str | None = None
    edition: str | None = None
    settings: dict[str, Setting]
    digest: str | None = None
    evidence: tuple[Told, ...]
    deal: str
    dealer: str | None = None
    extent: Extent
    telemetry: tuple[dict[str, Any], ...]
    cut: Cut | None = None


class View(Struct, frozen=True):
    """What a round was judged by, as far as its verdicts can name events of it."""

    events: Sequence[Heard] = ()
    opened: Heard | None = None  # the table.opened it is judged under
    carry: Carry | None = None  # what it begins with
    interruptions: tuple[Interruption, ...] = ()
    beyond: tuple[Heard, ...] = ()  # of later rounds, what its duties can end with
    closed: bool = False  # another round has begun
    dealer: str | None = None  # who dealt when it began

    def find(self, wanted: set[Key]) -> dict[Key, Heard]:
        """The events of some identities; one that it does not hold is left out."""
        found = {h[1:4]: h for h in self.events if h[1:4] in wanted}
        if len(found) < len(wanted):
            rest = (self.beyond, self.opened, self.interruptions, self.carry)
            for h in _heard_in(rest):
                if h[1:4] in wanted:
                    found.setdefault(h[1:4], h)
        return found


def _heard_in(value: object) -> Iterator[Heard]:
    """Every event within a value."""
    if isinstance(value, Heard):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _heard_in(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from _heard_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _heard_in(item)


class Basis(NamedTuple):
    """What a record is told from; equal ones give equal records of the same body."""

    found: list[Heard | None]  # the events of the evidence, in its order; None: not held any more
    heard: list[Heard]  # the telemetry
    until: list[Heard]  # the deal
    opened: Heard | None
    dealer: str | None
    extent: Extent


def basis(view: View, verdict: Verdict) -> Basis:
    """What the record of a verdict is told from, by the events in force now."""
    wanted = [(e.device, e.boot, e.seq) for e in verdict.evidence]
    found = view.find(set(wanted))
    deciding = found.get(wanted[0])
    last = max((h[:4] for h in found.values()), default=None)
    return Basis(
        [found.get(key) for key in wanted],
        list(view.events) if view.closed else [h for h in view.events if last is not None and h[:4] <= last],
        _until(view, deciding) if deciding else [],
        view.opened,
        _dealer(view, deciding),
        "whole" if view.closed else "so_far",
    )


def evidence(on: Basis, verdict: Verdict) -> Unmasked:
    """What masking hid of a verdict. Of one that was taken back some events may be gone: then no digest is told."""
    told = tuple(Told(e.role, full(h.event)) for h, e in zip(on.found, verdict.evidence, strict=True) if h is not None)
    config = on.opened.event if on.opened else None
    s = setup(config) if isinstance(config, ev.TableOpened) else None
    settings = dict(s.settings) if s else {}
    return Unmasked(
        verdict=verdict.id,
        body=sha256(body(verdict)).hexdigest(),
        table=verdict.table,
        round=verdict.round,
        rules=verdict.rules,
        edition=verdict.edition,
        settings=settings,
        digest=digest(((t.event, t.role) for t in told), verdict.rules, verdict.edition, settings)
        if len(told) == len(on.found)
        else None,
        evidence=told,
        deal=brief(h.event for h in on.until),
        dealer=on.dealer,
        extent=on.extent,
        telemetry=tuple(full(h.event) for h in on.heard),
    )


def _until(view: View, deciding: Heard) -> list[Heard]:
    """The round's events up to the deciding one; between rounds that one alone, as in the verdict's `deal`."""
    first = view.events[0] if view.events else None
    if first is None or not isinstance(first.event, ev.RoundOpened) or deciding < first:
        return [deciding]
    return [h for h in view.events if h[:4] <= deciding[:4]]


def _dealer(view: View, deciding: Heard | None) -> str | None:
    dealer = view.dealer
    for h in view.events:
        if deciding is not None and h > deciding:
            break
        if isinstance(h.event, ev.DealerChanged):
            dealer = h.event.dealer
    return dealer


def record(found: Unmasked, largest: int = LARGEST) -> bytes:
    """The canonical bytes, cut where they would be too large: telemetry first, then the evidence, then the deal."""
    whole = canonical(to_builtins(found))
    if len(whole) <= largest:
        return whole
    bare = replace(found, evidence=(), telemetry=(), deal="")
    room = largest - len(canonical(to_builtins(bare))) - _ROOM
    told = _fitting([len(canonical(to_builtins(t))) for t in found.evidence], room)
    room -= sum(len(canonical(to_builtins(t))) + 1 for t in found.evidence[:told])
    fits = len(canonical(found.deal)) <= room
    letters = len(found.deal) if fits else max(0, room // _ESCAPED)
    room -= len(canonical(found.deal[:letters]))
    whole_evidence = told == len(found.evidence) and fits
    heard = _fitting([len(canonical(e)) for e in found.telemetry], room) if whole_evidence else 0
    cut = Cut(len(found.telemetry) - heard, len(found.evidence) - told, len(found.deal) - letters)
    return canonical(
        to_builtins(
            replace(
                found,
                evidence=found.evidence[:told],
                deal=found.deal[:letters],
                telemetry=found.telemetry[:heard],
                cut=cut,
            )
        )
    )


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of these, from the first on, have room."""
    for count, size in enumerate(sizes):
        room -= size + 1
        if room < 0:
            return count
    return len(sizes)


class Witness(Table):
    """A table that can also tell what its verdicts hide, those of rounds that have just left the kept history too."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.dealers: dict[Key, None] = {}  # events of the kept history that may say who deals
        self.former: str | None = None  # who dealt when the kept history begins
        self.gone: dict[str, View] = {}  # verdict -> its round, of those in `left`, until somebody clears it

    @classmethod
    def of(cls, table: Table, dealers: Iterable[Key] = (), former: str | None = None) -> "Witness":
        """The same table, which from here on is the witness's."""
        witness = cls(table.name)
        vars(witness).update(vars(table))
        witness.dealers, witness.former = dict.fromkeys(dealers), former
        return witness

    def hear(self, event: ev.AnyEvent, mark: int = 0) -> None:
        """Take one event in; see `Table`."""
        super().hear(event, mark)
        kind = type(event)
        if kind is ev.DealerChanged:
            self.dealers[event.device, event.boot, event.seq] = None
        elif isinstance(event, ev.EventCorrected) and isinstance(event.event, ev.DealerChanged):
            self.dealers[event.event.device, event.event.boot, event.event.seq] = None

    def view(self, name: str) -> View | None:
        """What a segment of the kept history was judged by; None where there is none of that name."""
        return next((self._view(k) for k, s in enumerate(self.segments) if s.name == name), None)

    def _view(self, k: int) -> View:
        segment = self.segments[k]
        cold = segment.cold
        view = View(
            list(segment.events),
            segment.opened,
            self.base if k == 0 else segment.carry,
            segment.judged_as[2] if segment.judged_as else (),
            segment.beyond,
            k + 1 < len(self.segments),
            self._dealer_before(k),
        )
        if cold:
            segment.freeze()
        return view

    def _dealer_before(self, k: int) -> str | None:
        """Who dealt when a segment began."""
        for segment in reversed(self.segments[:k]) if self.dealers else ():
            if not any(segment.may_hold(key) for key in self.dealers):
                continue
            cold = segment.cold
            said = [h.event.dealer for h in segment.events if isinstance(h.event, ev.DealerChanged)]
            if cold:
                segment.freeze()
            if said:
                return said[-1]
        return self.former

    def _drop(self, oldest: Segment) -> None:
        view = self._view(0)
        for name in oldest.verdicts or {}:
            self.gone[name] = view
        self.former = self._dealer_before(1)
        super()._drop(oldest)
        self.dealers = {key: None for key in self.dealers if not self._has_left(key)}

    def _has_left(self, key: Key) -> bool:
        last = self.base.last.get(key[0])
        return last is not None and key[1:] <= last[2:4]

    def _tell_late(self, heard: Heard) -> None:
        before = len(self.left)
        super()._tell_late(heard)
        for verdict in self.left[before:]:
            self.gone[verdict.id] = View([heard], self.segments[-1].opened or self.base.opened, closed=True)
