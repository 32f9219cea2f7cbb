"""Counts the truth: lawful rounds that are accused, and injected irregularities that are found, missed or mistaken.

`python -m bench.rounds` deals lawful rounds of every game (no verdict may come of them) and rounds with exactly one
thing done wrong, every atom and form in turn, with lawful rounds in between; each must give one root verdict, of the
right atom, scope and final status, and nothing beside it but what stands in `simulate/mutations/beside.py` or follows
from it. It prints the counts and the first deviations in notation.
"""

import argparse
import gc
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from stream.commands.replay import ARRANGED_EVERY
from stream.deal import events as ev
from stream.deal.notation import show
from stream.deal.verdicts import Verdict
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids, load
from stream.simulate.tables import Order, injections, reports
from stream.simulate.truth import Truth, by_round, compared, told

TABLE_ROUNDS: Final = 240  # of one table
EVERY: Final = 4  # lawful rounds show how what outlives a round was put right
AFTER: Final = 3  # rounds at the end of a table in which nothing is done wrong any more
SHOWN: Final = 5
COUNTED: Final = ("found", "missed", "wrong atom", "wrong scope", "wrong status", "extra")


@dataclass
class Tally:
    """What was counted: rounds, results by name, results by atom and form, and the first deviations."""

    rounds: int = 0
    injected: int = 0
    verdicts: int = 0
    results: Counter[str] = field(default_factory=Counter)
    by_way: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another tally in."""
        self.rounds += other.rounds
        self.injected += other.injected
        self.verdicts += other.verdicts
        self.results += other.results
        self.by_way += other.by_way
        self.shown = (self.shown + other.shown)[:SHOWN]


def judged(log: Sequence[ev.AnyEvent]) -> list[Verdict]:
    """The verdicts in force at the end of one table's log, heard as a replay does."""
    table = Table(log[0].table)
    for n, event in enumerate(log, 1):
        table.hear(event)
        if n % ARRANGED_EVERY == 0:
            table.arrange()
    table.settle()
    return [*table.left, *table.in_force()]


def table(order: Order) -> Tally:
    """Deal one table's rounds, judge them, and count."""
    gc.set_threshold(100_000, 50, 100)
    tally = Tally(rounds=order.rounds)
    log: list[ev.AnyEvent] = []
    truths: dict[str, Truth] = {}
    for (_, event), truth in reports(order):
        log.append(event)
        if truth is not None:
            truths[truth.round] = truth
    found = by_round(log, judged(log), truths)
    tally.verdicts = sum(map(len, found.values()))
    for name, truth in truths.items():
        results = compared(truth, found.get(name, []))
        tally.injected += 1
        tally.results.update(results)
        tally.by_way.update((truth.atom, truth.way, r) for r in results)
        if results != ["found"]:
            said = "; ".join(told(v) for v in found.get(name, [])) or "nothing"
            due = f"{truth.kind} {truth.status} {truth.scope}"
            head = f"{truth.atom} {truth.way}: {', '.join(results)}; due {due}; said {said}"
            tally.shown.append(f"{head}\n{_notation(log, name)}")
    for name, verdicts in found.items():
        if name not in truths:
            tally.results["extra"] += len(verdicts)
            tally.by_way.update((v.atom, "lawful", "extra") for v in verdicts)
            said = "; ".join(told(v) for v in verdicts)
            tally.shown.append(f"seed {order.seed}, lawful {name}: said {said}\n{_notation(log, name)}")
    tally.shown = tally.shown[:SHOWN]
    return tally


def _notation(log: Sequence[ev.AnyEvent], name: str) -> str:
    """A round as lines of notation, with what came between it and the rounds before and after."""
    ordered = [e for e in sorted(log, key=lambda e: e.at) if not isinstance(e, ev.DeviceHeartbeat)]
    at = next((i for i, e in enumerate(ordered) if isinstance(e, ev.RoundOpened) and e.round == name), 0)
    begin = max((i for i, e in enumerate(ordered[:at], 1) if isinstance(e, ev.RoundClosed)), default=1)
    later = (i for i, e in enumerate(ordered) if i > at and isinstance(e, ev.RoundOpened))
    piece = _plain([ordered[0], *ordered[begin : next(later, len(ordered))]])
    return "  " + show(piece).replace("{hand=left}", "").replace("{hand=right}", "").replace("\n", "\n  ")


def _plain(events: Sequence[ev.AnyEvent]) -> list[ev.AnyEvent]:
    """The same events a second apart, of devices and with clocks as notation takes for granted."""
    out: list[ev.AnyEvent] = []
    seqs: Counter[str] = Counter()
    for n, event in enumerate(events):
        device = event.device.rpartition("-")[2]
        at = events[0].at + timedelta(seconds=n)
        plain = replace(event, device=device, seq=seqs[device], clock_ms=5, at=at)
        out.append(replace(plain, on=None) if isinstance(plain, ev.WagerSettled) else plain)
        seqs[device] += 1
    return out


def orders(rules: str, rounds: int, seed: int, *, wrong: bool) -> list[Order]:
    """Tables for so many rounds, or for about so many with something wrong, with seats and options mixed."""
    inject = injections(load(rules), "all") if wrong else ()
    out = []
    while rounds > 0:
        dealt = min(TABLE_ROUNDS, rounds * EVERY + AFTER if wrong else rounds)
        seats = 3 + seed % 5 if wrong else 1 + seed % 9
        start = seed * (TABLE_ROUNDS // EVERY) % len(inject) if wrong else 0
        turned = inject[start:] + inject[:start]
        out.append(Order(rules, dealt, seats=seats, seed=seed, inject=turned, every=EVERY, after=AFTER, mixed=True))
        rounds -= (dealt - AFTER) // EVERY if wrong else dealt
        seed += 1
    return out


def measure(rules: str, lawful: int, injected: int, *, seed: int, jobs: int) -> tuple[Tally, Tally]:
    """The tallies of a game: of its lawful rounds, and of those with something wrong (at least as many as asked)."""
    good, wrong = Tally(), Tally()
    with Pool(jobs) as pool:
        for tally in pool.imap(table, orders(rules, lawful, seed, wrong=False)):
            good.add(tally)
        while wrong.injected < injected:  # some things take several rounds to go wrong
            more = orders(rules, injected - wrong.injected, seed, wrong=True)
            seed += len(more)
            for tally in pool.imap(table, more):
                wrong.add(tally)
    return good, wrong


def _game(rules: str, lawful: Tally, wrong: Tally, seconds: float) -> dict[str, Any]:
    counts = {name: wrong.results[name] for name in COUNTED}
    bad = sorted((f"{a} {w} {r}", n) for (a, w, r), n in wrong.by_way.items() if r != "found")
    ways = len({(a, w) for a, w, _ in wrong.by_way})
    print(f"{rules} ({seconds:.0f} s)")
    print(f"  lawful rounds    {lawful.rounds:>7}, verdicts {lawful.verdicts}")
    print(
        f"  injected rounds  {wrong.injected:>7}, atoms and forms {ways}, "
        + ", ".join(f"{n} {c}" for n, c in counts.items())
    )
    for what, n in bad:
        print(f"    {what}: {n}")
    for line in (lawful.shown + wrong.shown)[:SHOWN]:
        print("  - " + line)
    return {
        "lawful": lawful.rounds, "lawful_verdicts": lawful.verdicts, "injected": wrong.injected, "ways": ways,
        **counts, "deviations": dict(bad),
    }  # fmt: skip


def main() -> int:
    """Measure, print, and tell by the exit code whether anything deviates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--lawful", type=int, default=100_000, help="lawful rounds a game")
    parser.add_argument("--injected", type=int, default=10_000, help="rounds a game with one thing wrong")
    parser.add_argument("--rules", action="append", choices=ids(), help="only this rule set (may be repeated)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the counts here")
    asked = parser.parse_args()
    result = {}
    for rules in asked.rules or ids():
        begun = time.monotonic()
        lawful, wrong = measure(rules, asked.lawful, asked.injected, seed=asked.seed, jobs=asked.jobs)
        result[rules] = _game(rules, lawful, wrong, time.monotonic() - begun)
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")
    bad = any(g["lawful_verdicts"] or any(g[name] for name in COUNTED[1:]) for g in result.values())
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
