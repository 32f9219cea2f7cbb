"""What the core costs an event, on one core: decode, fold, bytes to verdict; lawful, with departures, and jittered."""

import gc
from collections.abc import Callable
from time import process_time

from msgspec.structs import replace

from stream.commands.replay import ARRANGED_EVERY
from stream.deal.events import AnyEvent, TableOpened
from stream.deal.verdicts import body
from stream.deal.wire import Reader, Refusal, encode
from stream.replay.fold import setup
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports


def telemetry(rules: str, rounds: int, tables: int, *, every: int = 0, jitter: int = 150) -> list[bytes]:
    """Lines of telemetry in order of arrival; `every` n-th round has one departure."""
    inject = injections(load(rules), "all") if every else ()
    order = Order(rules, rounds, tables, inject=inject, every=every or 1, jitter_ms=jitter)
    return [encode(event) for (_, event), _ in reports(order)]


def decode(lines: list[bytes]) -> list[AnyEvent]:
    """Every line as an event."""
    reader = Reader()
    events = [reader.read(line) for line in lines]
    return [e for e in events if not isinstance(e, Refusal)]


def judge(events: list[AnyEvent]) -> int:
    """Feed events to their tables; returns how many verdicts are in force at the end, each made into bytes."""
    tables: dict[str, Table] = {}
    heard: dict[str, int] = {}
    for event in events:
        table = tables.get(event.table)
        if table is None:
            table = tables[event.table] = Table(event.table)
            heard[event.table] = 0
        table.hear(event)
        heard[event.table] += 1
        if heard[event.table] >= ARRANGED_EVERY:
            table.arrange()
            heard[event.table] = 0
    count = 0
    for table in tables.values():
        table.settle()
        count += sum(len(body(v)) > 0 for v in (*table.left, *table.in_force()))
    return count


def rate(work: Callable[[], object], events: int, repeats: int = 3) -> float:
    """Events per CPU second, the best of some runs: noise only ever slows."""
    gc.set_threshold(100_000, 50, 100)  # as `misdeal replay` and the worker do
    best = 0.0
    for _ in range(repeats):
        begun = process_time()
        work()
        best = max(best, events / (process_time() - begun))
    return best


def growth(rules: str) -> dict[str, float]:
    """How the fold's cost an event grows: with the length of a session, and with the paragraphs that are judged.

    Ratios of microseconds an event in this run. A session of 800 rounds is compared with eight of 100; a table that
    monitors every atom with one that sees the cards and monitors as good as none.
    """
    long, short = decode(telemetry(rules, 800, 1)), decode(telemetry(rules, 100, 8))
    seen = [_seeing_cards_only(e) if isinstance(e, TableOpened) else e for e in short]
    return {
        "a session of 800 rounds to eight of 100": rate(lambda: judge(short), len(short))
        / rate(lambda: judge(long), len(long)),
        f"all {len(load(rules).atoms)} atoms to {_monitored(seen)}": rate(lambda: judge(seen), len(seen))
        / rate(lambda: judge(short), len(short)),
    }


def _seeing_cards_only(opened: TableOpened) -> TableOpened:
    return replace(opened, senses=("draws", "placements"))


def _monitored(events: list[AnyEvent]) -> int:
    config = setup(next(e for e in events if isinstance(e, TableOpened)))
    return len(config.monitored) if config else 0


def measure(rules: str) -> dict[str, float]:
    """Events per CPU second of each stage."""
    lawful = telemetry(rules, 300, 4)
    events = decode(lawful)
    faulty = telemetry(rules, 300, 4, every=10)
    return {
        "decode": rate(lambda: decode(lawful), len(lawful)),
        "fold": rate(lambda: judge(events), len(events)),
        "bytes to verdict, lawful": rate(lambda: judge(decode(lawful)), len(lawful)),
        "bytes to verdict, a departure in every tenth round": rate(lambda: judge(decode(faulty)), len(faulty)),
    }
