"""What the core costs an event, on one core: decode, fold, bytes to verdict; lawful, with departures, and jittered."""

import gc
from collections.abc import Callable
from time import process_time

from stream.deal.events import AnyEvent
from stream.deal.verdicts import body
from stream.deal.wire import Reader, Refusal, encode
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports

SETTLE_EVERY = 512


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
        if heard[event.table] >= SETTLE_EVERY:
            table.settle()
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
