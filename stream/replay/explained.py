"""The smallest explanation of a round's deal: on its own terms, and with a wager read the other way."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause
from stream.deal.words import SEATS, Seat
from stream.replay.align import Explanation, Weights, explain
from stream.replay.drafts import Scene
from stream.replay.fold import Setup, plan_of, plan_settings, variants_of
from stream.replay.unseen import interrupted, layout_interrupted
from stream.rulebook.duties import ROUND_ENDS
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.steps import Act, Close, Terms

_PLAIN: Final = 1  # nodes: the plan as it is, with no edit


class Memo:
    """The explanations found for the acts of a round as they were last, by the terms on which they were asked for."""

    __slots__ = ("asked", "found")

    def __init__(self) -> None:
        self.asked: object = None
        self.found: dict[tuple[Terms, int], Explanation | None] = {}  # by terms and budget

    def recall(
        self, asked: object, terms: Terms, budget: int, search: Callable[[], Explanation | None]
    ) -> Explanation | None:
        """What was found for the same question before, else what a search finds."""
        if asked != self.asked:
            self.asked, self.found = asked, {}
        if (terms, budget) not in self.found:
            self.found[terms, budget] = search()
        return self.found[terms, budget]


def _over(scene: Scene, facts: Facts) -> bool:
    """Whether the deal is over: its round has closed, or a hand in play won or lost and no card came after."""
    if facts.voids:
        return False
    last = facts.last_placed
    ends = (h for h in facts.settled if _settles(h) and h.event.seat not in facts.folded)
    return scene.closed or any(last is None or h > last for h in ends)


def _settles(heard: Heard) -> bool:
    return isinstance(heard.event, ev.WagerSettled) and heard.event.outcome != "returned"


def explained(
    scene: Scene, s: Setup, facts: Facts, terms: Terms, acts: Sequence[Act], memo: Memo, budget: int
) -> Explanation | None:
    """The smallest explanation of the acts on these terms within a budget; the same question is searched once."""
    closed, halted = _over(scene, facts), any(h.event.what in ROUND_ENDS for h in facts.voids)
    last = scene.last[:4] if scene.interruptions else None
    asked = (s, facts.round, closed, halted, facts.last_draw, scene.interruptions, last, tuple(acts))
    return memo.recall(
        asked, terms, budget, lambda: _searched(scene, s, facts, terms, acts, budget, closed=closed, halted=halted)
    )


def _part_of(s: Setup) -> Callable[[Act], str | None]:
    """Who owns an act; None: whatever was due."""
    parts = s.law.rules.departures.parts

    def part_of(act: Act) -> str | None:
        if act.position is None or act.position == "burn":
            return parts.get("burn")
        return parts.get(act.position, parts["seat"])

    return part_of


def _searched(
    scene: Scene,
    s: Setup,
    facts: Facts,
    terms: Terms,
    acts: Sequence[Act],
    budget: int,
    *,
    closed: bool,
    halted: bool,
) -> Explanation | None:
    rules, settings = s.law.rules, plan_settings(s)
    last = scene.last.when

    def trace(before: Act | None, after: Act | None) -> bool:
        """A reading may be lost where the layout was not watched and the draws leave room for it."""
        if before is not None and after is not None and before.draw and after.draw == before.draw + 1:
            return False
        begin = before.heard.when if before else facts.round.when if facts.round else 0
        end = after.heard.when if after else last
        if (
            after is None
            and before is not None
            and before.draw
            and before.draw >= facts.last_draw
            and not interrupted(scene, Absence("draws", begin, end))
        ):
            return False
        return layout_interrupted(scene, begin, end)

    closes = bool(s.closes)
    plan = plan_of(rules.id, terms, settings, closes=closes)
    room = sum(isinstance(step, Close) for step in plan)
    gates = [a for a in acts if a.position == "gate"][:room]
    kept = [a for a in acts if a.position != "gate" or a in gates]
    variants = variants_of(rules.id, terms, settings, closes=closes, seats=facts.opened.seats)
    return explain(
        plan,
        variants if len(acts) > 1 else (),
        kept,
        Weights(rules.departures.costs, _part_of(s), budget),
        trace,
        closed=closed,
        halted=halted,
    )


def doubtful_wager(
    scene: Scene,
    s: Setup,
    facts: Facts,
    terms: Terms,
    acts: Sequence[Act],
    explanation: Explanation,
    memo: Memo,
) -> tuple[Cause, Explanation] | None:
    """Why the deal may be lawful after all: a wager is read the other way.

    It was placed or taken back so near to the first card that the clocks leave the order open; or its placing, or
    that of several, fell into a hole of the bet sensors' readings.
    """
    begin = facts.first_draw or next(iter(facts.placements), None)
    if not explanation.departures or begin is None:
        return None
    doubts: dict[Seat, Cause] = {}
    since = facts.round.when if facts.round else begin.when
    if any("wagers" in i.senses and i.covers(since, begin.when) for i in scene.interruptions):
        at = {a.position for a in acts}
        doubts |= {p: "coverage" for p in SEATS if (p in at) != (p in terms.seats)}
    for (seat, _), w in facts.wagers.items():
        if unsure(w.placed, begin) or unsure(w.touched, begin):
            doubts[seat] = "order"
    lost = {seat for seat, cause in doubts.items() if cause == "coverage"}
    others: list[tuple[set[Seat], Cause]] = [({seat}, cause) for seat, cause in sorted(doubts.items())]
    if len(lost) > 1:
        others.append((lost, "coverage"))
    for seats, cause in others:
        other = replace(terms, seats=tuple(p for p in SEATS if (p in terms.seats) != (p in seats)))
        again = explained(scene, s, facts, other, acts, memo, _PLAIN)
        if again is not None and not again.departures:
            return cause, again
    return None
