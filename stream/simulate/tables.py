"""Tables that deal round after round: what their devices report, in order of arrival."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush, merge
from itertools import chain, cycle, islice, repeat
from random import Random
from typing import Any, Final, cast

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import DECK_52
from stream.deal.words import SEATS, SENSES, Source
from stream.rulebook.paragraphs import Law, load
from stream.rulebook.steps import Burn, Deal, Terms
from stream.simulate.dealing import deal
from stream.simulate.faults import FAULTS, Report, Slip
from stream.simulate.faults.report import Told, spoil, spoil_once
from stream.simulate.house import House, house
from stream.simulate.mutations.registry import Needs, known, ways
from stream.simulate.round import SHOE, Change, Felt, Happening, Round
from stream.simulate.truth import Truth, truth_of

__all__ = ["Order", "Truth", "injections", "reports"]

START: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
MS: Final = 1000
BEAT_MS: Final = 20_000
CLOCK_MS: Final = 20
_EPOCH: Final = 10**12  # microseconds, at START
_DECKS: Final = "ABCDEFGHIJKLMNOP"
_SPARE: Final = 4  # cards that are left when the deal is as long as can be
DEVICES: Final = ("shoe", "layout", "rack", "shuffler", "floor")


@dataclass(frozen=True)
class Order:
    """What to simulate."""

    rules: str
    rounds: int
    tables: int = 1
    seats: int = 7
    seed: int = 0
    inject: tuple[tuple[str, str], ...] = ()  # atom, way; in turn
    every: int = 10
    faults: tuple[tuple[str, float], ...] = ()
    jitter_ms: int = 0
    start: datetime = START
    after: int = 0  # so many rounds at the end are lawful
    first: int = 0  # so many other tables come before these
    mixed: bool = False  # tables with other options than the usual ones
    beside: str = ""  # one device error of this mode in each round with something wrong, or in every so manyth


def injections(law: Law, wanted: str) -> tuple[tuple[str, str], ...]:
    """The (atom, way) pairs of `all`, of an atom, or of `ATOM:FORM`; a way is told by its form, its name, or both.

    Raises ValueError with what there is.
    """
    every = [(a.id, way) for a in law.rules.atom for name in a.inject for way in ways(name)]
    if wanted == "all":
        return tuple(every)
    atom, _, form = wanted.partition(":")
    found = tuple((a, way) for a, way in every if a == atom and form in ("", way, way.partition(":")[0], known(way)[1]))
    if not found:
        names = ", ".join(f"{a}:{way}" for a, way in every)
        raise ValueError(f"nothing to inject is called {wanted!r}; there are all, {names}")
    return found


Arrived = tuple[int, ev.AnyEvent]  # when (microseconds), and what


def reports(*orders: Order, slips: list[Slip] | None = None) -> Iterator[tuple[Arrived, Truth | None]]:
    """All reports of all tables in order of arrival; with the first of an injected round its truth.

    What devices do wrong is added to `slips` as it is made.
    """
    made: list[Slip] = [] if slips is None else slips
    tables = [_table(o, load(o.rules), n, made) for o in orders for n in range(o.first, o.first + o.tables)]
    yield from merge(*tables, key=lambda r: r[0][0])


def _table(order: Order, law: Law, n: int, slips: list[Slip]) -> Iterator[tuple[Arrived, Truth | None]]:
    """One table's reports in order of arrival: each round is dealt, numbered, spoilt and sent."""
    random = Random(f"{order.seed}/{n}")
    name = f"T{n + 1:03d}"
    begin = order.start + timedelta(milliseconds=random.randint(0, 30_000))
    turn = n * 4 % len(order.inject) if order.inject else 0  # tables begin at different places of the list
    wanted = cycle(order.inject[turn:] + order.inject[:turn])
    felt = _felt(order, law, name, Random(f"{order.seed}/{n}/house"))
    line = _Line(order, name, random, felt)
    erring = Random(f"{order.seed}/{n}/faults")  # another one, so that the same is dealt with faults and without
    line.number(opened := [line.opened(begin)])
    yield from line.send(opened, None)
    now = begin + timedelta(milliseconds=1500)
    last, atom, way = 0, "", ""
    for i in range(1, order.rounds + 1):
        if felt.again is None:
            due = order.inject and i - last >= order.every and i <= order.rounds - order.after
            atom, way = next(wanted) if due else ("", "")
        faults = _Faults(order, erring, errs=bool(atom) if order.inject else i % order.every == 0)
        rnd = _dealt(felt, random, f"{name}-{i}", way, i, faults)
        truth = truth_of(rnd, atom, way) if atom and rnd.told else None
        last = i if atom else last
        made = line.told_of(rnd, now)
        ended = made[-1].at
        slips += (Slip(name, rnd.name, mode, *told) for mode, told in faults.spoil(rnd, made))
        line.number(made)
        yield from line.send(made, truth)
        now = START + timedelta(microseconds=ended - _EPOCH) + timedelta(milliseconds=random.randint(2000, 5000))
    yield from line.rest()


def _felt(order: Order, law: Law, name: str, random: Random) -> Felt:
    """A table before its first round."""
    held = house(order.rules, random, mixed=order.mixed, lawful=not order.inject)
    names = iter(_DECKS)
    decks = list(islice(names, held.decks))
    return Felt(name, law, held, _fitting(order, law, held), decks, chain(names, repeat(decks[0])))


def _fitting(order: Order, law: Law, held: House) -> int:
    """How many seats a deck serves, at most as many as are ordered."""
    settings = dict(law.rules.settings) | held.options
    for seats in range(order.seats, 1, -1):
        due = law.module.procedure(Terms(SEATS[:seats]), settings)
        if sum(isinstance(d, Deal | Burn) for d in due) <= len(DECK_52) - _SPARE:
            return seats
    return 1


class _Faults:
    """What devices do wrong in one round."""

    def __init__(self, order: Order, random: Random, *, errs: bool) -> None:
        self.wanted = [(name, FAULTS[name], rate) for name, rate in order.faults]
        self.beside = order.beside if errs else ""
        self.random = random
        self.told: list[tuple[str, Told]] = []
        self.after: list[tuple[str, Callable[[Round], Told | None]]] = []

    def deals(self, rnd: Round) -> Change | None:
        """How a machine's error changes what is dealt, if one is made; in a lawful round only."""
        every = [(name, fault) for name, fault, rate in self.wanted if fault.deals and self.random.random() < rate]
        if self.beside:
            every.append((self.beside, FAULTS[self.beside]))
        for name, fault in every:
            made = fault.deals(rnd, self.random) if fault.deals else None
            if made is not None:
                self.after.append((name, made[1]))
                return made[0]
        return None

    def spoil(self, rnd: Round, reports: list[Report]) -> list[tuple[str, Told]]:
        """Make the errors of the round's reports, in place; all that were made in the round."""
        told = ((name, after(rnd)) for name, after in self.after)
        self.told += [(name, t) for name, t in told if t is not None]
        self.told += spoil(reports, self.wanted, self.random)
        if self.beside:
            self.told += spoil_once(reports, self.beside, FAULTS[self.beside], self.random)
        return self.told


def _dealt(felt: Felt, random: Random, name: str, way: str, number: int, faults: _Faults) -> Round:
    mutation, form = known(way) if way else (None, "")
    needs = mutation.needs if mutation else "any"
    low = min(3 if way else 1, felt.seats)
    high = felt.seats - 1 if needs == "free_seat" and felt.seats > 1 else felt.seats
    count = random.randint(min(low, high), high)
    chosen = set(random.sample(SEATS[: felt.seats], count))
    seats = felt.keep or tuple(s for s in SEATS if s in chosen)
    rnd = Round(
        random, felt, name, seats, _source(felt, random, needs), felt.decks[(number - 1) % len(felt.decks)], form=form
    )
    if len(felt.house.methods) > 1:
        rnd.method = random.choice(felt.house.methods)
    change, felt.again, felt.keep = felt.again or (mutation.change if mutation else None), None, ()
    if mutation is not None and mutation.change is not None:
        rnd.loyal = set(random.sample(seats, min(2, len(seats))))
    lawful = mutation is None and change is None  # two wrongs in one round could not be told apart
    deal(rnd, faults.deals(rnd) if lawful else change)
    if mutation is not None and mutation.edit is not None:
        mutation.edit(rnd)
    rnd.happenings.sort(key=lambda h: h.ms)
    _count_draws(rnd.happenings)
    return rnd


def _source(felt: Felt, random: Random, needs: Needs) -> Source:
    """What the cards come from: as what is done wrong needs it, else as the house has it."""
    if needs in ("manual_shoe", "auto_shoe", "hand"):
        return needs
    if needs == "shoe":
        return "manual_shoe"
    if felt.law.rules.id == "nj-double-down-stud-17" and not felt.house.options:
        return "hand" if random.random() < 0.3 else "manual_shoe"
    return random.choice(felt.house.sources)


def _count_draws(happenings: Sequence[Happening]) -> None:
    """Number the draws in the order of removal."""
    draws = (h for h in happenings if h.kind is ev.CardDrawn)
    for number, h in enumerate(draws, 1):
        assert h.card is not None
        h.card.draw = number
    for h in happenings:
        if h.card is not None:
            h.fields["draw"] = h.card.draw


class _Line:
    """The line from a table to the log: numbers events, lets devices beat, delays and spoils reports."""

    def __init__(self, order: Order, table: str, random: Random, felt: Felt) -> None:
        self.order = order
        self.felt = felt
        self.table = table
        self.random = random
        self.boot: dict[str, int] = {}
        self.seq: dict[str, int] = {}
        self.waiting: list[tuple[int, int, ev.AnyEvent, Truth | None]] = []
        self.sent = 0
        self.arrived: dict[str, int] = {}
        self.beat: datetime | None = None

    def opened(self, at: datetime) -> Report:
        """The table's opening."""
        order, house = self.order, self.felt.house
        fields: dict[str, Any] = {
            "rules": order.rules,
            "seats": order.seats,
            "shoe_side": house.side,
            "decks": tuple(
                ev.Deck(d, 52) for d in (_DECKS if order.inject and order.rules == "nj-double-cross-25" else _DECKS[:2])
            ),
            "limits": ev.Limits(10, 1000),
            "currency": "USD",
            "approved": (SHOE,),
            "senses": SENSES if house.counting else tuple(s for s in SENSES if s != "shuffler_count"),
        }
        if house.options:
            fields["options"] = house.options
        self.beat = at + timedelta(milliseconds=500)
        return self._event(ev.TableOpened, "floor", at, fields)

    def _event(self, kind: type[ev.Event], device: str, at: datetime, fields: dict[str, Any]) -> Report:
        made = kind(
            table=self.table, device=f"{self.table}-{device}", boot=0, seq=0, at=at, clock_ms=CLOCK_MS, **fields
        )
        return Report(_us(at), cast("ev.AnyEvent", made), jitter=self.random.randint(0, self.order.jitter_ms * MS))

    def told_of(self, rnd: Round, begin: datetime) -> list[Report]:
        """What is to be reported of a round, with heartbeats between, in order of time and not yet numbered."""
        assert self.beat is not None
        happened = [(begin + timedelta(milliseconds=h.ms), h.device, h.kind, h.fields) for h in rnd.happenings]
        last = happened[-1][0]
        while self.beat <= last:
            for i, device in enumerate(DEVICES):
                happened.append((self.beat + timedelta(milliseconds=i), device, ev.DeviceHeartbeat, {}))
            self.beat += timedelta(milliseconds=BEAT_MS)
        happened.sort(key=lambda h: h[0])
        return [self._event(kind, device, at, fields) for at, device, kind, fields in happened]

    def number(self, reports: list[Report]) -> None:
        """Number reports, each device counting its own, and give them the time of its clock."""
        for r in reports:
            device = r.event.device
            if r.restarts:
                self.boot[device] = self.boot.get(device, 0) + 1
                self.seq.pop(device, None)  # it may have said nothing yet
            boot, seq = self.boot.get(device, 0), self.seq.get(device, -1) + 1
            self.seq[device] = seq
            at = START + timedelta(microseconds=r.at + r.ahead - _EPOCH)
            if r.corrects is None:
                r.event = replace(r.event, boot=boot, seq=seq, at=at)
                continue
            wrong, right = r.corrects.event, r.event
            assert not isinstance(right, ev.EventCorrected)
            r.event = ev.EventCorrected(
                table=self.table, device=device, boot=boot, seq=seq, at=at, clock_ms=right.clock_ms,
                corrects=ev.Identity(device, wrong.boot, wrong.seq),
                event=replace(right, boot=wrong.boot, seq=wrong.seq, at=wrong.at),
            )  # fmt: skip

    def send(self, reports: list[Report], truth: Truth | None) -> Iterator[tuple[Arrived, Truth | None]]:
        """Reports that arrive before anything later can; later ones wait."""
        for r in reports:
            arrival = self._arrival(r) + r.delay
            if r.lost:
                continue
            for at in (arrival,) if r.again is None else (arrival, arrival + r.again):
                self.sent += 1
                heappush(self.waiting, (at, self.sent, r.event, truth))
                truth = None
        horizon = reports[-1].at
        while self.waiting and self.waiting[0][0] <= horizon:
            arrival, _, event, told = heappop(self.waiting)
            yield (arrival, event), told

    def rest(self) -> Iterator[tuple[Arrived, Truth | None]]:
        """Everything still on its way."""
        while self.waiting:
            arrival, _, event, told = heappop(self.waiting)
            yield (arrival, event), told

    def _arrival(self, report: Report) -> int:
        """When a report arrives: jittered, never before an earlier one of its device."""
        device = report.event.device
        arrival = max(report.at + report.jitter, self.arrived.get(device, 0))
        self.arrived[device] = arrival
        return arrival


def _us(at: datetime) -> int:
    return (at - START) // timedelta(microseconds=1) + _EPOCH
