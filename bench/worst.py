"""`python -m bench.worst`: the dearest single event, and what garbage costs beside lawful play.

Every event is heard and settled by itself, portion by portion, as a worker does at the live edge. Told are the longest
time at a stretch, in which other tables wait, and what the dearest event took in all. The tables are those that ought
to hurt: nine seats, every departure there is, devices that err a hundred times as often as they do, rounds whose cards
went anywhere, rounds that never close, and events of any kind with any content. A shared machine shows times that are
not the engine's own: each event that seems dear is measured again from the state before it. At full speed a table is
arranged every so many events and judged at its end, as a replay does.
"""

import argparse
import gc
from collections.abc import Callable, Iterator, Sequence
from random import Random
from time import process_time_ns
from typing import Final, NamedTuple

from msgspec.structs import replace

from stream.commands.replay import ARRANGED_EVERY
from stream.deal import events as ev
from stream.deal.words import SEATS
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids, load
from stream.simulate.faults import FAULTS
from stream.simulate.tables import Order, injections, reports

_TIMES: Final = 3  # a dear event is measured again so often; the least counts
_DEAR_US: Final = 5_000
_OFTEN: Final = 100  # times the planning rate
_ENDLESS: Final = 2_500  # events of a round that never closes
_MIXED: Final = 0.3  # of the cards, dealt anywhere


class Cost(NamedTuple):
    """What a kind of log cost, in microseconds: the mean event, the longest stretch, the dearest event; and where."""

    events: int
    mean: float
    stretch: float
    dearest: float
    where: str


def lawful(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """A table of nine seats that does nothing wrong."""
    return [e for (_, e), _ in reports(Order(rules, rounds, seats=9, seed=seed, mixed=True))]


def departing(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """Every other round has a departure."""
    inject = injections(load(rules), "all")
    order = Order(rules, rounds, seats=9, seed=seed, inject=inject, every=2, after=2, mixed=True)
    return [e for (_, e), _ in reports(order)]


def erring(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """All error modes at once, a hundred times as often as planned."""
    faults = tuple((mode, min(0.2, fault.rate * _OFTEN)) for mode, fault in FAULTS.items())
    return [e for (_, e), _ in reports(Order(rules, rounds, seats=9, seed=seed, faults=faults, mixed=True))]


def scattered(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """A third of the cards is dealt to any place, with any face."""
    random = Random(seed)
    return [_anywhere(e, random) for e in lawful(rules, rounds, seed)]


def _anywhere(e: ev.AnyEvent, random: Random) -> ev.AnyEvent:
    if not isinstance(e, ev.CardPlaced) or random.random() > _MIXED:
        return e
    return replace(e, position=random.choice((*SEATS, "D", "C")), facing=random.choice(("up", "down")))


def endless(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """One round of many rounds' events: nothing opens or closes but once."""
    every = scattered(rules, rounds * 20, seed)
    kept = [e for e in every if not isinstance(e, ev.RoundClosed | ev.RoundOpened)][:_ENDLESS]
    first = next(e for e in every if isinstance(e, ev.RoundOpened))
    at = next(i for i, e in enumerate(kept) if e.at > first.at)
    return _renumbered([*kept[:at], first, *kept[at:]])


def idle(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """A table after a departing round, whose devices beat on for hours."""
    begun = departing(rules, max(4, rounds // 10), seed)
    beats = [e for e in begun if isinstance(e, ev.DeviceHeartbeat)]
    devices = {e.device: e for e in beats}
    last, step = begun[-1].at, beats[-1].at - beats[0].at
    more = [
        replace(e, at=last + step * i / max(1, len(beats)))
        for i in range(1, _ENDLESS // len(devices))
        for e in devices.values()
    ]
    return _renumbered([*begun, *more])


def _renumbered(events: Sequence[ev.AnyEvent]) -> list[ev.AnyEvent]:
    seq: dict[str, int] = {}
    out = []
    for e in events:
        seq[e.device] = seq.get(e.device, -1) + 1
        out.append(replace(e, boot=0, seq=seq[e.device]))
    return out


def garbage(rules: str, rounds: int, seed: int) -> list[ev.AnyEvent]:
    """Well-formed events in any order, at any time, by any device, of rounds that make no sense."""
    random = Random(seed)
    every = erring(rules, rounds, seed)
    opened, rest = every[0], every[1:]
    random.shuffle(rest)
    times = [e.at for e in every]
    devices = sorted({e.device for e in every})
    mixed = [_anywhere(replace(e, device=random.choice(devices), at=random.choice(times)), random) for e in rest]
    return _renumbered([opened, *mixed])


KINDS: Final[dict[str, Callable[[str, int, int], list[ev.AnyEvent]]]] = {
    "lawful": lawful, "departing": departing, "erring": erring, "scattered": scattered, "endless": endless,
    "idle": idle, "garbage": garbage,
}  # fmt: skip


def cost(name: str, log: Sequence[ev.AnyEvent]) -> Cost:
    """Hear and settle a log event by event."""
    table = Table(log[0].table)
    spent = [_stretches(table, event) for event in log]
    dear = {i for key in (max, sum) for i in sorted(range(len(log)), key=lambda i: -key(spent[i]))[:4]}
    for i in dear:
        if sum(spent[i]) > _DEAR_US * 1000:
            again = [_once(log, i) for _ in range(_TIMES)]
            spent[i] = [min(stretch) for stretch in zip(*again, strict=True)]
    most = max(dear, key=lambda i: max(spent[i]))
    where = f"{name}, event {most} of {len(log)}, a {type(log[most]).__name__}"
    mean = sum(map(sum, spent)) / len(spent)
    return Cost(len(log), mean / 1000, max(spent[most]) / 1000, max(sum(spent[i]) for i in dear) / 1000, where)


def _stretches(table: Table, event: ev.AnyEvent) -> list[int]:
    """What it takes to hear an event and to settle it, nanoseconds, a portion at a time."""
    out: list[int] = []
    settled = False
    while not settled:
        begun = process_time_ns()
        if not out:
            table.hear(event)
        settled = table.settle(portion=True)
        out.append(process_time_ns() - begun)
    return out


def _once(log: Sequence[ev.AnyEvent], at: int) -> list[int]:
    """What one event costs after all that came before it."""
    table = Table(log[0].table)
    for event in log[:at]:
        table.hear(event)
    table.settle()
    return _stretches(table, log[at])


def costs(rules: str, rounds: int, seeds: int) -> Iterator[tuple[str, Cost]]:
    """Each kind of log, its dearest seed."""
    for name, make in KINDS.items():
        every = [cost(f"{rules} {name} seed {seed}", make(rules, rounds, seed)) for seed in range(seeds)]
        mean = sum(c.mean * c.events for c in every) / sum(c.events for c in every)
        worst = max(every, key=lambda c: c.stretch)
        dearest = max(c.dearest for c in every)
        yield name, Cost(sum(c.events for c in every), mean, worst.stretch, dearest, worst.where)


def at_full_speed(rules: str, rounds: int) -> float:
    """What an event of garbage costs beside a lawful one, as a replay hears them."""
    sane, mad = _hasty(lawful(rules, rounds, 0)), _hasty(garbage(rules, rounds, 0))
    return mad / sane


def _hasty(log: Sequence[ev.AnyEvent]) -> float:
    """Nanoseconds of CPU an event, the least of some runs."""
    return min(_run(log) for _ in range(_TIMES)) / len(log)


def _run(log: Sequence[ev.AnyEvent]) -> int:
    begun = process_time_ns()
    table = Table(log[0].table)
    for i, event in enumerate(log, 1):
        table.hear(event)
        if i % ARRANGED_EVERY == 0:
            table.arrange()
    table.settle()
    return process_time_ns() - begun


def main() -> None:
    """Print the table, and the worst of all."""
    parser = argparse.ArgumentParser(prog="python -m bench.worst", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=60, help="rounds of a table")
    parser.add_argument("--seeds", type=int, default=3, help="tables of a kind")
    asked = parser.parse_args()
    gc.set_threshold(100_000, 50, 100)  # as `misdeal replay` and the worker do
    worst = Cost(0, 0.0, 0.0, 0.0, "")
    for rules in ids():
        print(f"\n{rules}: microseconds of CPU an event, heard and settled by itself")
        base = 0.0
        for name, c in costs(rules, asked.rounds, asked.seeds):
            base = base or c.mean
            ratio = f"of lawful {c.mean / base:>6.1f}"
            most = f"at a stretch {c.stretch:>6.0f}  in all {c.dearest:>7.0f}"
            print(f"  {name:10} events {c.events:>6}  mean {c.mean:>8.1f}  {ratio}  {most}", flush=True)
            worst = max(worst, c, key=lambda one: one.stretch)
        print(f"  garbage at full speed costs {at_full_speed(rules, asked.rounds):.1f} times what lawful play does")
    print(f"\nthe longest stretch of all took {worst.stretch / 1000:.1f} ms: {worst.where}")


if __name__ == "__main__":
    main()
