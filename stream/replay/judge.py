"""What a round means: its events, and what came before, into verdicts. The meaning of everything else here.

`judge` looks at the whole round at once: it lists the plan for the seats in play, finds the smallest explanation
of what was dealt, and walks the events with every check. It is pure and total, and its answer depends on the set
of events alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, in_order
from stream.deal.words import SEATS, Seat, Sense
from stream.replay.align import Explanation
from stream.replay.carry import Alive, Carry, Interruption
from stream.replay.clocks import drifts
from stream.replay.departures import told, unwatched
from stream.replay.drafts import Scene, draft
from stream.replay.explained import Memo, doubtful_wager, explained
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
from stream.replay.fold import Setup, counts_between, plan_of, plan_settings, setup
from stream.replay.precedence import fair, settled_by_rank
from stream.replay.unseen import (
    interrupted,
    known_bypassed,
    known_doubts,
    layout_interrupted,
    one_question,
    questions_named,
    vouched,
    weighed,
)
from stream.rulebook.checks import FirstDraw
from stream.rulebook.duties import ROUND_ENDS, Duty
from stream.rulebook.facts import WAIT, Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.steps import Act, Close, Deal, Terms

LONGEST: Final = 1000  # events of one round that are judged, heartbeats aside; a full table has about 300


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
"""Whether the deal was followed; too much of it went unread; or it departs in more ways than can be told apart."""


def _round(
    scene: Scene, s: Setup, config: ev.TableOpened, carry: Carry, beyond: Sequence[Heard], memo: Memo
) -> tuple[list[Finding], _View, Facts]:
    """All findings of a round, how its deal was seen, and the facts at its end."""
    facts = Facts.begin(config, carry.standing, s.settings)
    terms, end, counted = _survey(scene.events, Facts.begin(config, carry.standing, s.settings), s)
    findings: list[Finding] = []
    view: _View = "followed"
    if s.deals and terms is not None:
        facts.terms = end.terms = terms
        plan = plan_of(s.law.rules.id, terms, plan_settings(s), closes=bool(s.closes))
        dark = _unwatched(scene, end)
        acts = [] if dark else list(_acts(scene, s, end))
        explanation = None if dark else explained(scene, s, end, terms, acts, memo, s.law.rules.departures.budget)
        if explanation is None:
            view = "unwatched" if dark or _holed(scene, end, s) else "lost"
            findings += unwatched(end, s, plan) if view == "unwatched" else ()
        else:
            end.plan = facts.plan = plan
            _learn(end, explanation)
            end.look(counted, beyond)
            findings += told(explanation, end, s, scene)
            doubt = doubtful_wager(scene, s, end, terms, acts, explanation, memo)
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
    return layout_interrupted(scene, facts.first_draw.when, scene.last.when)


def _holed(scene: Scene, facts: Facts, s: Setup) -> bool:
    """Whether some of what a deal that can't be followed rests on may not have been read."""
    begin, end = facts.round.when if facts.round else 0, scene.last.when
    needed: set[Sense] = {"placements", "draws", "wagers", *s.law.module.DEAL_RESTS_ON}
    return any(interrupted(scene, Absence(sense, begin, end)) for sense in needed)


def _judgeable(events: Sequence[Heard]) -> tuple[Sequence[Heard], Heard | None]:
    """The events of a round that are judged, and the first that is not (None: all are)."""
    if len(events) <= LONGEST:
        return events, None
    beyond = [i for i, h in enumerate(events) if type(h.event) is not ev.DeviceHeartbeat][LONGEST:]
    return (events[: beyond[0]], events[beyond[0]]) if beyond else (events, None)


def _notes(facts: Facts, heard: Heard) -> bool:
    """Take an event into the facts as the round allows it; whether checks apply to it."""
    kind = type(heard.event)
    if facts.round is None or facts.closed is not None:
        counts = counts_between(kind, facts)
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
