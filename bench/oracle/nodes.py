"""How far the search for an explanation goes: nodes and time, at full tables, with one and with two things done wrong.

`python -m bench.oracle.nodes` takes every rule set's own plan, does each single thing wrong that can be done wrong with
it (a card left out, put in, turned, served elsewhere, its reading lost, a close not read), in the whole deal and in one
that has only come some cards further, and a sample of pairs of them. It prints how many nodes the search spent, how
long it took within the rule set's budget, how often that was not enough, and how often the explanation costs more than
what was done.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final, NamedTuple

from stream.deal import events as ev
from stream.deal.words import SEATS
from stream.replay.align import Weights, explain
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import Law, ids, load
from stream.rulebook.steps import Act, Burn, Close, Deal, Plan, Terms, Variant

BEGIN: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
FAR: Final = 100_000  # nodes
FURTHER: Final = 12  # cards that an open round has come on, at most
TURNED: Final = {"up": "down", "down": "up"}
BETWEEN: Final = ("burn", "gate")


class Done(NamedTuple):
    """Something done at the table: where, as the how manieth, which face; whether a hole is before it."""

    position: str | None
    nth: int
    facing: str | None
    hole: bool = False


class Way(NamedTuple):
    """A deal with something done wrong: what, what its edits cost, what was done, and from where on it shows."""

    name: str
    cost: int
    acts: tuple[Done, ...]
    since: int


@dataclass
class Tally:
    """What was seen: nodes of each search, the slowest, what cost more than it should and what went over budget."""

    nodes: list[int] = field(default_factory=list)
    slowest: float = 0.0
    worst: tuple[int, str] = (0, "")
    over: dict[str, int] = field(default_factory=dict)
    dearer: dict[str, int] = field(default_factory=dict)
    closed: int = 0

    def row(self, budget: int) -> dict[str, Any]:
        """The figures."""
        nodes = sorted(self.nodes) or [0]
        return {
            "searches": len(self.nodes),
            "nodes_median": nodes[len(nodes) // 2],
            "nodes_99": nodes[len(nodes) * 99 // 100],
            "nodes_most": self.worst[0],
            "worst": self.worst[1],
            "slowest_ms": round(self.slowest * 1000, 1),
            "budget": budget,
            "over_budget": sum(self.over.values()),
            "over_budget_by": dict(sorted(self.over.items())),
            "whole_deals": self.closed,
            "dearer_than_done": sum(self.dearer.values()),
            "dearer_by": dict(sorted(self.dearer.items())),
        }


def deal(law: Law, seats: int) -> tuple[Plan, tuple[Variant, ...]]:
    """A rule set's plan for a full table of so many seats, and its variants."""
    on = Terms(SEATS[:seats])
    kinds = (Deal, Burn, Close) if law.module.CLOSES else (Deal, Burn)
    plan = tuple(s for s in law.module.procedure(on, law.rules.settings) if isinstance(s, kinds))
    return plan, tuple(law.module.variants(plan, on, seats))


def lawful(plan: Plan) -> tuple[Done, ...]:
    """The deal as it should be."""
    return tuple(Done(s.position, s.index, s.facing) for s in plan)


def ways(law: Law, acts: tuple[Done, ...]) -> Iterator[Way]:
    """Each single thing that can be done wrong with a deal."""
    costs = law.rules.departures.costs
    places = sorted({a.position for a in acts if a.position not in (None, *BETWEEN)}, key=str)
    for i, a in enumerate(acts):
        head, tail = acts[:i], acts[i + 1 :]
        if a.position is None:
            continue
        if a.position == "gate":
            yield Way("close not read", costs["close_unseen"], head + tail, i)
            continue
        yield Way("burn left out" if a.position == "burn" else "left out", costs["skipped"], head + tail, i)
        yield Way("placement lost", costs["lost"], (*head, Done(None, 0, None), *tail), i)
        if tail and a.position != "burn":
            yield Way("reading lost", costs["lost"], (*head, tail[0]._replace(hole=True), *tail[1:]), i)
        if a.facing is not None:
            yield Way("face", costs["wrong_face"], (*head, a._replace(facing=TURNED[a.facing]), *tail), i)
    for i in range(len(acts) + 1):
        face = next((a.facing for a in acts[i:] if a.facing), "down")
        for place in (*places, "burn"):
            nth = sum(a.position == place for a in acts) + 1
            more = Done(place, 0, None) if place == "burn" else Done(place, nth, face)
            same = i < len(acts) and acts[i].position == place
            if not same:  # one more before its like is the same as one more after it
                name = "burn too many" if place == "burn" else "too many"
                yield Way(name, costs["extra"], (*acts[:i], more, *acts[i:]), i)
    for i, j in _pairs(acts):
        served = list(acts)
        served[i], served[j] = served[j], served[i]
        yield Way("swapped", costs["swapped"], tuple(served), i)
        yield Way("late", costs["moved"], (*acts[:i], *acts[i + 1 : j + 1], acts[i], *acts[j + 1 :]), i)
        yield Way("early", costs["moved"], (*acts[:i], acts[j], *acts[i:j], *acts[j + 1 :]), i)


def _pairs(acts: Sequence[Done]) -> Iterator[tuple[int, int]]:
    """Any two cards of one stretch that lie at different positions."""
    for i, a in enumerate(acts):
        for j in range(i + 1, len(acts)):
            if acts[j].position in BETWEEN or a.position in BETWEEN:
                break
            if a.position != acts[j].position and None not in (a.position, acts[j].position):
                yield i, j


def heard(acts: Sequence[Done]) -> list[Act]:
    """What the engine hears of it, a second apart."""
    out = []
    draw = count(1)
    for n, a in enumerate(acts):
        said = ev.CardBurned(table="T1", device="layout", boot=0, seq=n, at=BEGIN, clock_ms=5)
        place = Heard(n * 1_000_000, "layout", 0, n, n * 1_000_000, said)
        drawn = None if a.position == "gate" else next(draw)
        out.append(Act(place, a.position, a.nth, a.facing, drawn))  # type: ignore[arg-type]  # words
    return out


def search(law: Law, plan: Plan, variants: Sequence[Variant], way: Way, tally: Tally, *, closed: bool) -> None:
    """Explain a deal as `judge` would, and count."""
    parts = law.rules.departures.parts
    budget = law.rules.departures.budget

    def part_of(act: Act) -> str | None:
        if act.position is None or act.position == "burn":
            return parts.get("burn")
        return parts.get(act.position, parts["seat"])

    def trace(_before: Act | None, after: Act | None) -> bool:
        return after is not None and way.acts[after.heard.seq].hole

    acts = heard(way.acts)
    costs = law.rules.departures.costs
    tried = variants if len(acts) > 1 else ()
    begun = perf_counter()
    found = explain(plan, tried, acts, Weights(costs, part_of, budget), trace, closed=closed)
    tally.slowest = max(tally.slowest, perf_counter() - begun)
    if found is None:  # how far would it have had to go?
        tally.over[way.name] = tally.over.get(way.name, 0) + 1
        found = explain(plan, tried, acts, Weights(costs, part_of, FAR), trace, closed=closed)
    spent = FAR if found is None else found.spent
    tally.nodes.append(spent)
    tally.worst = max(tally.worst, (spent, way.name))
    if closed:
        tally.closed += 1
        if found is None or found.cost > way.cost:
            tally.dearer[way.name] = tally.dearer.get(way.name, 0) + 1


def measure(rules: str, seats: int, pairs: int, random: Random) -> dict[str, Any]:
    """One rule set at a full table: every single departure, and so many pairs."""
    law = load(rules)
    plan, variants = deal(law, seats)
    right = lawful(plan)
    one, two = Tally(), Tally()
    singles = list(ways(law, right))
    for way in singles:
        search(law, plan, variants, way, one, closed=True)
        search(law, plan, variants, _cut(way, random), one, closed=False)
    for _ in range(pairs):
        first = random.choice(singles)
        more = [w for w in ways(law, first.acts) if w.since < len(first.acts)]
        second = random.choice(more)
        names = " + ".join(sorted((first.name, second.name)))
        way = Way(names, first.cost + second.cost, second.acts, max(first.since, second.since))
        search(law, plan, variants, way, two, closed=True)
        search(law, plan, variants, _cut(way, random), two, closed=False)
    budget = law.rules.departures.budget
    return {"seats": seats, "steps": len(plan), "one": one.row(budget), "two": two.row(budget)}


def _cut(way: Way, random: Random) -> Way:
    """The same while the round is open: some acts after what was done."""
    upto = way.since + 1 + random.randrange(FURTHER)
    return way._replace(acts=way.acts[:upto])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=500, help="pairs of departures a rule set")
    parser.add_argument("--seats", type=int, default=7)
    parser.add_argument("--rules", action="append", choices=ids(), help="only this rule set (may be repeated)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures here")
    asked = parser.parse_args()
    result = {}
    for rules in asked.rules or ids():
        result[rules] = figures = measure(rules, asked.seats, asked.pairs, Random(asked.seed))
        print(f"{rules}, {figures['seats']} seats, {figures['steps']} steps")
        for what in ("one", "two"):
            row = figures[what]
            print(f"  {what}: " + ", ".join(f"{k} {v}" for k, v in row.items()))
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
