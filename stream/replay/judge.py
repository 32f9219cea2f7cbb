"""What a round means: its events, and what came before, into verdicts. The meaning of everything else here.

`judge` looks at the whole round at once: it lists the plan for the seats in play, finds the smallest explanation
of what was dealt, and walks the events with every check. It is pure and total, and its answer depends on the set
of events alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Verdict, in_order
from stream.deal.words import SEATS, Seat
from stream.replay.align import Explanation, Weights, explain
from stream.replay.carry import Alive, Carry, Interruption
from stream.replay.clocks import drifts
from stream.replay.departures import told, unwatched
from stream.replay.drafts import Scene, draft
from stream.replay.faults import (
    advised,
    clock_faults,
    deck_faults,
    faults,
    not_followed,
    table_faults,
    too_long,
    uncaused,
)
from stream.replay.fold import BETWEEN, CARDS, CLEARING, Setup, plan_of, plan_settings, setup, variants_of
from stream.replay.precedence import fair, settled_by_rank
from stream.replay.unseen import known_bypassed, known_doubts, one_question, questions_named, vouched, weighed
from stream.rulebook.checks import FirstDraw
from stream.rulebook.duties import ROUND_ENDS, Duty
from stream.rulebook.facts import WAIT, Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.steps import Act, Close, Deal, Terms

LONGEST: Final = 1200  # events of one round that are judged, heartbeats aside; a full table has about 300


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


class Judged(NamedTuple):
    """The verdicts of a round; and by id, of those that accuse, what they say was not seen, and until when."""

    verdicts: list[Verdict]
    rests_on: Mapping[str, tuple[Absence, ...]]


NOTHING: Final = Judged([], MappingProxyType({}))


def judge(
    table: str,
    carry: Carry,
    opened: Heard | None,
    events: Sequence[Heard],
    *,
    interruptions: tuple[Interruption, ...] = (),
    alive: Alive = (),
    conflicts: Sequence[Heard] = (),
    reused: bool = False,
    closed: bool = False,
    first: bool = False,
    beyond: Sequence[Heard] = (),
    memo: Memo | None = None,
) -> Judged:
    """The verdicts of one round and the time after it, by `at` and `id`, and what each says was not seen.

    `events` are in order and begin with the round's `round.opened` (or, before any round, with anything);
    `opened` is the table.opened it is judged under; `closed` says that another round has begun; `first` that
    nothing of this table came before. `beyond` are events of later rounds that a duty can end with. `alive` tells
    since when each sense is known to be carried. `conflicts` are the events in force of identities that came
    twice with other content. `memo` spares a search that was made before, and changes no answer.
    """
    config = opened.event if opened else None
    assert config is None or isinstance(config, ev.TableOpened)
    s = setup(config) if config else None
    rnd = events[0] if events and isinstance(events[0].event, ev.RoundOpened) else None
    events, long = _judgeable(events)
    ended = closed or any(isinstance(h.event, ev.RoundClosed) for h in events)
    shut = next((h for h in events if isinstance(h.event, ev.RoundClosed)), None)
    scene = Scene(table, s, config, rnd, reused, events, ended, interruptions, dict(alive), shut)
    out = list(faults(scene, conflicts))
    out += table_faults(scene, carry, opened, first=first)
    if long is not None:
        out.append(too_long(scene, long, LONGEST))
    rests_on: dict[str, tuple[Absence, ...]] = {}
    if s is not None and config is not None:
        findings, view, end = _round(scene, s, config, carry, beyond, memo or Memo())
        duties: dict[str, Duty] = s.law.module.DUTIES

        def fulfil(f: Finding) -> Fulfilment | None:
            duty = duties.get(f.atom)
            return None if duty is None else fair(vouched(scene, duty(end, f)), f, findings, s.law.rules)

        def drafted(found: Iterable[Finding]) -> list[Verdict]:
            drafts = draft(scene, found, fulfil)
            rests_on.update((d.verdict.id, d.rests_on) for d in drafts if d.rests_on)
            return [d.verdict for d in drafts]

        drifting = list(drifts(end))
        out += clock_faults(scene, drifting)
        findings = one_question(scene, s, weighed(scene, s, findings, [set(d.devices) for d in drifting]))
        for f in sorted(findings, key=lambda f: f.deciding[:4], reverse=True):
            if f.atom in s.law.rules.ends_round and f.cause is None:
                end.endings[f.atom] = f.deciding
        verdicts = drafted(findings)
        if view == "lost":
            verdicts.append(not_followed(scene))
        verdicts += deck_faults(scene, s, end)
        verdicts += advised(scene, s.law.module.advice(end))
        if view == "followed":
            verdicts += uncaused(scene, s, end, verdicts, lambda f: drafted(weighed(scene, s, [f], [])))
        out += settled_by_rank(verdicts, findings, s.law.rules)
        out = questions_named(scene, out)
    return Judged(in_order(out), rests_on)


_View = Literal["followed", "unwatched", "lost"]
"""Whether the deal was followed; nobody was watching any of it; or it departs in more ways than can be told apart."""


def _round(
    scene: Scene, s: Setup, config: ev.TableOpened, carry: Carry, beyond: Sequence[Heard], memo: Memo
) -> tuple[list[Finding], _View, Facts]:
    """All findings of a round, how its deal was seen, and the facts at its end."""
    facts = Facts.begin(config, carry.standing, s.settings)
    terms, end, counted = _survey(scene.events, Facts.begin(config, carry.standing, s.settings), s)
    findings: list[Finding] = []
    view: _View = "followed"
    if s.deals and terms is not None and _unwatched(scene, end):
        view = "unwatched"
        facts.terms = end.terms = terms
        findings += unwatched(end, s, plan_of(s.law.rules.id, terms, plan_settings(s), closes=bool(s.closes)))
    elif s.deals and terms is not None:
        facts.terms = end.terms = terms
        acts = list(_acts(scene, s, end))
        explanation = _explain(scene, s, end, terms, acts, memo, s.law.rules.departures.budget)
        view = "followed" if explanation is not None else "unwatched" if _holed(scene, end, s) else "lost"
        if view == "unwatched":
            findings += unwatched(end, s, plan_of(s.law.rules.id, terms, plan_settings(s), closes=bool(s.closes)))
        if explanation is not None:
            end.plan = facts.plan = plan_of(s.law.rules.id, terms, plan_settings(s), closes=bool(s.closes))
            _learn(end, explanation)
            end.look(counted, beyond)
            findings += told(explanation, end, s, scene)
            doubt = _doubtful_wager(scene, s, end, terms, acts, explanation, memo)
            if doubt is not None:
                cause, explanation = doubt
                findings = [f if f.cause else replace(f, cause=cause) for f in findings]
            _learn(facts, explanation)
    if end.mingled and any(i.code != "device_offline" for i in scene.interruptions):
        return [], "lost", end  # the opening of a round was lost: what came after it is of no round that is known
    facts.over = scene.closed
    facts.look(counted, beyond)
    findings += _walk(scene, facts, s)
    return findings, view, facts


def _unwatched(scene: Scene, facts: Facts) -> bool:
    """Whether cards were drawn and none was seen placed, by a layout that was not reporting."""
    if facts.placements or facts.first_draw is None:
        return False
    begin, end = facts.first_draw.when, scene.last.when
    return any("placements" in i.senses and i.places and i.covers(begin, end) for i in scene.interruptions)


def _holed(scene: Scene, facts: Facts, s: Setup) -> bool:
    """Whether some of what a deal that can't be followed rests on may not have been read."""
    begin, end = facts.round.when if facts.round else 0, scene.last.when
    needed = {"placements", "draws", "wagers", *s.law.module.DEAL_RESTS_ON}
    return any(needed & i.senses and i.covers(begin, end) for i in scene.interruptions)


def _judgeable(events: Sequence[Heard]) -> tuple[Sequence[Heard], Heard | None]:
    """The events of a round that are judged, and the first that is not (None: all are)."""
    if len(events) <= LONGEST:
        return events, None
    beyond = [i for i, h in enumerate(events) if type(h.event) is not ev.DeviceHeartbeat][LONGEST:]
    return (events[: beyond[0]], events[beyond[0]]) if beyond else (events, None)


def _settles(heard: Heard) -> bool:
    return isinstance(heard.event, ev.WagerSettled) and heard.event.outcome != "returned"


def _notes(facts: Facts, heard: Heard) -> bool:
    """Take an event into the facts as the round allows it; whether checks apply to it."""
    kind = type(heard.event)
    if facts.round is None or facts.closed is not None:
        if kind in CARDS and facts.closed is not None:
            facts.stray()
        counts = kind in BETWEEN or (kind in CLEARING and facts.round is not None and not facts.strayed)
        if counts or (kind is ev.RoundOpened and facts.round is None):
            facts.note(heard)
        return counts
    facts.note(heard)
    return True


def _survey(events: Sequence[Heard], facts: Facts, s: Setup) -> tuple[Terms | None, Facts, list[Heard]]:
    """What the deal was on (None: nothing was dealt), the facts at the end of the events, and those that count."""
    seats: tuple[Seat, ...] | None = None
    first: Terms | None = None
    counted: list[Heard] = []
    for heard in events:
        if _notes(facts, heard) or heard is facts.round:
            counted.append(heard)
        if seats is None and (facts.first_draw or facts.placements):
            first = s.law.module.terms(facts)
            seats = first.seats
    if first is None or seats is None:
        return None, facts, counted
    dealt = {h.event.position for h in facts.placements if isinstance(h.event, ev.CardPlaced)}
    more = {p for p in SEATS if p in dealt and p not in seats and s.law.module.had_wager(p, facts)}
    facts.terms = replace(first, seats=tuple(p for p in SEATS if p in seats or p in more))
    return s.law.module.terms(facts), facts, counted


def _over(scene: Scene, facts: Facts) -> bool:
    """Whether the deal is over: its round has closed, or a hand in play won or lost and no card came after."""
    if facts.voids:
        return False
    last = facts.last_placed
    ends = (h for h in facts.settled if _settles(h) and h.event.seat not in facts.folded)
    return scene.closed or any(last is None or h > last for h in ends)


def _acts(scene: Scene, s: Setup, facts: Facts) -> Iterator[Act]:
    """The cards dealt, in the order in which they left the source; a draw whose placement was lost among them.

    What came after the round was declared void is no deal. Between the cards stands what closed a stretch.
    """
    void = next((h for h in facts.voids if h.event.what in ROUND_ENDS), None)
    drawn: list[Act] = []
    rest: list[Act] = []
    for first in facts.placements:
        draw = first.event.draw
        last = facts.placed[draw] if draw is not None else first
        e = last.event
        assert isinstance(e, ev.CardPlaced)
        if void is not None and first > void:
            continue
        dealt = first.event
        assert isinstance(dealt, ev.CardPlaced)
        act = Act(first, e.position, e.index, dealt.facing, draw)  # as it was dealt, where it came to lie
        if draw is None:
            rest.append(act)
        else:
            drawn.append(act)
    for heard in facts.burned:
        assert isinstance(heard.event, ev.CardBurned)
        if void is not None and heard > void:
            continue
        burn = Act(heard, "burn", 0, None, heard.event.draw)
        drawn.append(burn) if burn.draw else rest.append(burn)
    top = max((a.draw or 0 for a in drawn), default=0)
    burned = {a.draw for a in drawn if a.position == "burn"}
    away = facts.accounted()
    for draw, taken in facts.draws.items():
        unseen = draw not in facts.placed and draw not in away and draw not in burned
        if unseen and void is None and (scene.closed or draw < top):
            drawn.append(Act(taken, None, 0, None, draw))
    drawn.sort(key=lambda a: a.draw or 0)
    if s.closes:
        _as_used(drawn)
    drawn = list(_with_missing_draws(drawn, away))
    for act in rest:  # no draw says where it belongs: its time does
        drawn.insert(next((i for i, other in enumerate(drawn) if other.heard > act.heard), len(drawn)), act)
    yield from _with_closes(drawn, scene, s)


def _as_used(acts: list[Act]) -> None:
    """A card that left the source before its time counts where it was used, unless the clocks leave that open."""
    for i in range(1, len(acts)):
        j = i
        while j and acts[j].heard < acts[j - 1].heard and not unsure(acts[j].heard, acts[j - 1].heard):
            acts[j], acts[j - 1] = acts[j - 1], acts[j]
            j -= 1


def _with_closes(acts: Sequence[Act], scene: Scene, s: Setup) -> Iterator[Act]:
    """Acts, and where a stretch of the deal was closed, that."""
    closes = [h for h in scene.events if type(h.event) in s.closes]
    i = 0
    for act in acts:
        while i < len(closes) and closes[i] < act.heard:
            yield Act(closes[i], "gate", 0, None, None)
            i += 1
        yield act
    for h in closes[i:]:
        yield Act(h, "gate", 0, None, None)


def _with_missing_draws(drawn: Sequence[Act], away: set[int]) -> Iterator[Act]:
    """Acts by draw number, and where a number is missing, a card whose draw was not read either."""
    due = 1
    for act in drawn:
        number = act.draw or due
        yield from (Act(act.heard, None, 0, None, n) for n in range(due, number) if n not in away)
        yield act
        due = max(due, number + 1)


def _explain(
    scene: Scene, s: Setup, facts: Facts, terms: Terms, acts: Sequence[Act], memo: Memo, budget: int
) -> Explanation | None:
    """The smallest explanation of the acts on these terms within a budget; the same question is searched once."""
    over, halted = _over(scene, facts), any(h.event.what in ROUND_ENDS for h in facts.voids)
    last = scene.last[:4] if scene.interruptions else None
    asked = (s, facts.round, over, halted, facts.last_draw, scene.interruptions, last, tuple(acts))
    weights = Weights(s.law.rules.departures.costs, _part_of(s), budget)
    return memo.recall(
        asked, terms, budget, lambda: _searched(scene, s, facts, terms, acts, weights, over=over, halted=halted)
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
    weights: Weights,
    *,
    over: bool,
    halted: bool,
) -> Explanation | None:
    rules, settings = s.law.rules, plan_settings(s)

    def trace(before: Act | None, after: Act | None) -> bool:
        """A reading may be lost where the layout was not watched and the draws leave room for it."""
        if before is not None and after is not None and before.draw and after.draw == before.draw + 1:
            return False
        begin = before.heard.when if before else facts.round.when if facts.round else 0
        end = after.heard.when if after else scene.last.when
        holes = [i for i in scene.interruptions if i.covers(begin, end)]
        if (
            after is None
            and before is not None
            and before.draw
            and before.draw >= facts.last_draw
            and not any("draws" in i.senses for i in holes)
        ):
            return False
        return any("placements" in i.senses and i.places for i in holes)

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
        weights,
        trace,
        closed=over,
        halted=halted,
    )


def _doubtful_wager(
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
        again = _explain(scene, s, facts, other, acts, memo, _PLAIN)
        if again is not None and not again.departures:
            return cause, again
    return None


def _learn(facts: Facts, explanation: Explanation) -> None:
    """Tell the facts what each act was, so that checks ask the explained plan and not the bare one."""
    for step, act in explanation.matched:
        facts.explained[act.heard.device, act.heard.boot, act.heard.seq] = step
    facts.steps = {act.draw: step for step, act in explanation.matched if act.draw is not None}
    facts.ahead = tuple(step for step in explanation.rest if not isinstance(step, Close))
    deals = [act.heard for step, act in explanation.matched if isinstance(step, Deal)]
    if explanation.complete and deals:
        facts.completes = max(deals, key=lambda h: h[:4])


def _walk(scene: Scene, facts: Facts, s: Setup) -> Iterator[Finding]:
    """Every check at its moment, with the facts as they were then and sight of what came later."""
    for heard in scene.events:
        if not _notes(facts, heard):
            continue
        step = facts.explained.get((heard.device, heard.boot, heard.seq))
        if step is not None and step.facing == "down" and isinstance(heard.event, ev.CardPlaced):
            facts.hidden.add((heard.event.position, heard.event.index))
        if heard is facts.completes:
            facts.complete_at = heard
        moments: Iterable[type[ev.Event]] = (type(heard.event),)
        if facts.first_draw is heard:
            moments = (FirstDraw, type(heard.event))
            facts.deck_doubts, facts.bypassed = known_doubts(scene, facts), known_bypassed(scene, facts)
        for moment in moments:
            for bound in s.checks.get(moment, ()):
                yield from (f for f in bound.check(facts, heard) if f is not WAIT)
