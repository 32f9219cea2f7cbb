"""Tables that deal round after round: what their devices report, in order of arrival."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush, merge
from itertools import cycle
from random import Random
from typing import Any, Final, cast

from stream.deal import events as ev
from stream.deal.words import SEATS, SENSES
from stream.rulebook.paragraphs import Law, load
from stream.simulate.faults import FAULTS, Report
from stream.simulate.mutations import MUTATIONS
from stream.simulate.round import SHOE, Happening, Round, deal

START: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
MS: Final = 1000
BEAT_MS: Final = 20_000
CLOCK_MS: Final = 20
DEVICES: Final = ("shoe", "layout", "rack", "shuffler", "floor")


@dataclass(frozen=True)
class Order:
    """What to simulate."""

    rules: str
    rounds: int
    tables: int = 1
    seats: int = 7
    seed: int = 0
    inject: tuple[tuple[str, str], ...] = ()  # atom, form; in turn
    every: int = 10
    faults: tuple[tuple[str, float], ...] = ()
    jitter_ms: int = 0
    start: datetime = START


@dataclass(frozen=True)
class Truth:
    """What was done on purpose in a round."""

    table: str
    round: str
    atom: str
    form: str
    positions: tuple[str, ...]


def injections(law: Law, wanted: str) -> tuple[tuple[str, str], ...]:
    """The (atom, form) pairs of `all`, of an atom, or of `ATOM:FORM`. Raises ValueError with what there is."""
    known = [(a.id, form) for a in law.rules.atom for form in a.inject]
    if wanted == "all":
        return tuple(known)
    atom, _, form = wanted.partition(":")
    found = tuple(k for k in known if k[0] == atom and form in ("", k[1]))
    if not found:
        names = ", ".join(f"{a}:{f}" for a, f in known)
        raise ValueError(f"nothing to inject is called {wanted!r}; there are all, {names}")
    return found


def reports(order: Order) -> Iterator[tuple[Report, Truth | None]]:
    """All reports of all tables in order of arrival; with the first of an injected round its truth."""
    law = load(order.rules)
    tables = [_table(order, law, n) for n in range(order.tables)]
    yield from merge(*tables, key=lambda r: r[0][0])


def _table(order: Order, law: Law, n: int) -> Iterator[tuple[Report, Truth | None]]:
    """One table's reports in order of arrival: each round is dealt, numbered, spoilt and sent."""
    random = Random(f"{order.seed}/{n}")
    name = f"T{n + 1:03d}"
    begin = order.start + timedelta(milliseconds=random.randint(0, 30_000))
    turn = n * 4 % len(order.inject) if order.inject else 0  # tables begin at different places of the list
    wanted = cycle(order.inject[turn:] + order.inject[:turn]) if order.inject else None
    line = _Line(order, name, random)
    yield from line.send([line.opened(begin)], None)
    now = begin + timedelta(milliseconds=1500)
    for i in range(order.rounds):
        atom, form = "", ""
        if wanted is not None and i % order.every == order.every - 1:
            atom, form = next(wanted)
        rnd = _dealt(order, law, random, f"{name}-{i + 1}", form, "AB"[i % 2])
        truth = Truth(name, f"{name}-{i + 1}", atom, form, rnd.positions) if atom else None
        made = line.number(rnd, now)
        yield from line.send(made, truth)
        now = made[-1].at + timedelta(milliseconds=random.randint(2000, 5000))
    yield from line.rest()


def _dealt(order: Order, law: Law, random: Random, name: str, form: str, deck: str) -> Round:
    mutation, needs = MUTATIONS[form] if form else (None, "either")
    low = 3 if form else 1
    count = random.randint(min(low, order.seats), order.seats)
    chosen = set(random.sample(SEATS[: order.seats], count))
    seats = tuple(s for s in SEATS if s in chosen)
    by_hand = needs == "hand" or (needs == "either" and random.random() < 0.3)
    rnd = Round(random, seats, by_hand, deck)
    deal(law, dict(law.rules.settings), rnd, name)
    if mutation is not None:
        mutation(rnd)
    rnd.happenings.sort(key=lambda h: h.ms)
    _count_draws(rnd.happenings)
    return rnd


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

    def __init__(self, order: Order, table: str, random: Random) -> None:
        self.order = order
        self.table = table
        self.random = random
        self.seq: dict[str, int] = {}
        self.waiting: list[tuple[int, int, ev.AnyEvent, Truth | None]] = []
        self.sent = 0
        self.arrived: dict[str, int] = {}
        self.beat: datetime | None = None

    def opened(self, at: datetime) -> ev.AnyEvent:
        """The table's opening."""
        order = self.order
        fields: dict[str, Any] = {
            "rules": order.rules,
            "seats": order.seats,
            "shoe_side": "left",
            "decks": (ev.Deck("A", 52), ev.Deck("B", 52)),
            "limits": ev.Limits(10, 1000),
            "currency": "USD",
            "approved": (SHOE,),
            "senses": SENSES,
        }
        self.beat = at + timedelta(milliseconds=500)
        return self._event(ev.TableOpened, "floor", at, fields)

    def _event(self, kind: type[ev.Event], device: str, at: datetime, fields: dict[str, Any]) -> ev.AnyEvent:
        name = f"{self.table}-{device}"
        seq = self.seq.get(name, -1) + 1
        self.seq[name] = seq
        made = kind(table=self.table, device=name, boot=0, seq=seq, at=at, clock_ms=CLOCK_MS, **fields)
        return cast("ev.AnyEvent", made)

    def number(self, rnd: Round, begin: datetime) -> list[ev.AnyEvent]:
        """The events of a round with heartbeats between them, each device counting its own."""
        assert self.beat is not None
        happened = [(begin + timedelta(milliseconds=h.ms), h.device, h.kind, h.fields) for h in rnd.happenings]
        last = happened[-1][0]
        while self.beat <= last:
            for i, device in enumerate(DEVICES):
                happened.append((self.beat + timedelta(milliseconds=i), device, ev.DeviceHeartbeat, {}))
            self.beat += timedelta(milliseconds=BEAT_MS)
        happened.sort(key=lambda h: h[0])
        return [self._event(kind, device, at, fields) for at, device, kind, fields in happened]

    def send(self, events: list[ev.AnyEvent], truth: Truth | None) -> Iterator[tuple[Report, Truth | None]]:
        """Reports that arrive before anything later can; later ones wait."""
        reports: list[Report] = [(self._arrival(e), e) for e in events]
        for name, rate in self.order.faults:
            reports = FAULTS[name][0](reports, rate, self.random)
        for i, (arrival, event) in enumerate(reports):
            self.sent += 1
            heappush(self.waiting, (arrival, self.sent, event, truth if i == 0 else None))
        horizon = _us(events[-1].at)
        while self.waiting and self.waiting[0][0] <= horizon:
            arrival, _, event, told = heappop(self.waiting)
            yield (arrival, event), told

    def rest(self) -> Iterator[tuple[Report, Truth | None]]:
        """Everything still on its way."""
        while self.waiting:
            arrival, _, event, told = heappop(self.waiting)
            yield (arrival, event), told

    def _arrival(self, event: ev.AnyEvent) -> int:
        """When a report arrives: jittered, never before an earlier one of its device."""
        arrival = _us(event.at) + self.random.randint(0, self.order.jitter_ms * MS)
        arrival = max(arrival, self.arrived.get(event.device, 0))
        self.arrived[event.device] = arrival
        return arrival


def _us(at: datetime) -> int:
    return (at - START) // timedelta(microseconds=1) + 10**12
