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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

from stream.deal import events as ev
from stream.deal.notation import show
from stream.deal.verdicts import Scope, Verdict
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids, load
from stream.simulate.mutations.beside import BESIDE
from stream.simulate.tables import Order, Truth, injections, reports

TABLE_ROUNDS: Final = 240  # of one table
EVERY: Final = 4  # lawful rounds show how what outlives a round was put right
SHOWN: Final = 5
SETTLE_EVERY: Final = 512
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


def scope(s: Scope) -> str:
    """A scope as a story tells it."""
    if s.level == "card":
        return f"card:#{s.draw}" if s.draw is not None else f"card:{s.position}.{s.index}"
    if s.level == "wager":
        return f"wager:{s.position}/{s.area}"
    name = s.position or s.deck or s.device
    return f"{s.level}:{name}" if name else s.level


def told(v: Verdict) -> str:
    """A verdict in short."""
    follows = " follows" if v.root else ""
    return f"{v.atom} {v.kind}{':' + v.cause if v.cause else ''} {v.status} {scope(v.scope)}{follows}"


def judged(log: Sequence[ev.AnyEvent]) -> list[Verdict]:
    """The verdicts in force at the end of one table's log."""
    table = Table(log[0].table)
    for n, event in enumerate(log, 1):
        table.hear(event)
        if n % SETTLE_EVERY == 0:
            table.settle()
    table.settle()
    return [*table.left, *table.in_force()]


def compared(truth: Truth, verdicts: Iterable[Verdict]) -> list[str]:
    """What is right or wrong with the verdicts of a round in which one thing was done wrong."""
    beside = BESIDE.get(truth.atom, ((), ""))[0]
    mine = [v for v in verdicts if v.atom == truth.atom]
    others = [v for v in verdicts if v.atom != truth.atom and not v.root and f"{v.atom} {v.status}" not in beside]
    if not mine:
        return ["wrong atom" if others else "missed"]
    wrong = []
    best = next((v for v in mine if scope(v.scope) == truth.scope), None)
    if best is None:
        wrong.append("wrong scope")
    elif best.status != truth.status:
        wrong.append("wrong status")
    if others or len(mine) > 1:
        wrong.append("extra")
    return wrong or ["found"]


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
    found: dict[str, list[Verdict]] = defaultdict(list)
    rounds = _round_of(log)
    for v in judged(log):
        found[_belongs(v, rounds, truths)].append(v)
        tally.verdicts += 1
    for name, truth in truths.items():
        results = compared(truth, found.pop(name, []) if False else found.get(name, []))
        tally.injected += 1
        tally.results.update(results)
        tally.by_way.update((truth.atom, truth.way, r) for r in results)
        if results != ["found"]:
            said = "; ".join(told(v) for v in found.get(name, [])) or "nothing"
            head = f"{truth.atom} {truth.way}: {', '.join(results)}; due {truth.status} {truth.scope}; said {said}"
            tally.shown.append(f"{head}\n{_notation(log, name)}")
    for name, verdicts in found.items():
        if name not in truths:
            tally.results["extra"] += len(verdicts)
            tally.by_way.update((v.atom, "lawful", "extra") for v in verdicts)
            said = "; ".join(told(v) for v in verdicts)
            tally.shown.append(f"seed {order.seed}, lawful {name}: said {said}\n{_notation(log, name)}")
    tally.shown = tally.shown[:SHOWN]
    return tally


def _round_of(log: Sequence[ev.AnyEvent]) -> dict[tuple[str, int, int], str]:
    """Which round comes next after each event: what goes wrong between rounds belongs to the one it prepares."""
    out: dict[tuple[str, int, int], str] = {}
    name = ""
    for event in sorted(log, key=lambda e: e.at)[::-1]:
        if isinstance(event, ev.RoundOpened):
            name = event.round
        out[event.device, event.boot, event.seq] = name
    return out


def _belongs(v: Verdict, rounds: dict[tuple[str, int, int], str], truths: dict[str, Truth]) -> str:
    """The round that a verdict is about."""
    if v.round is None or (v.round not in truths and v.scope.level in ("deck", "device")):
        deciding = next(e for e in v.evidence if e.role == "deciding")
        return rounds.get((deciding.device, deciding.boot, deciding.seq), "")
    return v.round


def _notation(log: Sequence[ev.AnyEvent], name: str) -> str:
    """A round as lines of notation, with what came between it and the round before."""
    ordered = sorted(log, key=lambda e: e.at)
    at = next((i for i, e in enumerate(ordered) if isinstance(e, ev.RoundOpened) and e.round == name), 0)
    begin = max((i for i, e in enumerate(ordered[:at]) if isinstance(e, ev.RoundClosed)), default=0)
    later = (i for i, e in enumerate(ordered) if i > at and isinstance(e, ev.RoundOpened))
    piece = [e for e in ordered[begin : next(later, len(ordered))] if not isinstance(e, ev.DeviceHeartbeat)]
    return f"  table {show(ordered[:1])}\n  deal {show(piece)}"


def orders(rules: str, rounds: int, *, wrong: bool, seed: int) -> Iterator[Order]:
    """Tables enough for so many rounds (or so many with something wrong), with seats and options mixed."""
    inject = injections(load(rules), "all") if wrong else ()
    while rounds > 0:
        dealt = min(TABLE_ROUNDS, rounds * EVERY + EVERY if wrong else rounds)
        seats = 3 + seed % 5 if wrong else 1 + seed % 9
        start = seed * (TABLE_ROUNDS // EVERY) % len(inject) if wrong else 0
        turned = inject[start:] + inject[:start]
        yield Order(rules, dealt, seats=seats, seed=seed, inject=turned, every=EVERY, mixed=True)
        rounds -= (dealt - EVERY) // EVERY + 1 if wrong else dealt
        seed += 1


def measure(rules: str, lawful: int, injected: int, *, seed: int, jobs: int) -> tuple[Tally, Tally]:
    """The tallies of a game: of its lawful rounds, and of those with something wrong."""
    out = []
    with Pool(jobs) as pool:
        for rounds, wrong in ((lawful, False), (injected, True)):
            total = Tally()
            for tally in pool.imap(table, orders(rules, rounds, wrong=wrong, seed=seed)):
                total.add(tally)
            out.append(total)
    return out[0], out[1]


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
