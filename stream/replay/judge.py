"""What a round means: its events, and what came before, into verdicts. The meaning of everything else here.

`judge` looks at the whole round at once: it lists the plan for the seats in play, finds the smallest explanation
of what was dealt, and walks the events with every check. It is pure and total, and its answer depends on the set
of events alone.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Verdict, in_order
from stream.deal.words import SEATS, Seat
from stream.replay.align import Explanation, Weights, explain
from stream.replay.carry import Alive, Carry, Interruption
from stream.replay.departures import told
from stream.replay.drafts import Scene, draft
from stream.replay.faults import faults, not_followed, sorted_deck, table_faults, void_without_cause
from stream.replay.fold import BETWEEN, CLEARING, Setup, number, plan_of, plan_settings, setup, variants_of
from stream.rulebook.checks import FirstDraw
from stream.rulebook.facts import WAIT, Facts
from stream.rulebook.findings import Finding
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.steps import Act


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
) -> list[Verdict]:
    """The verdicts of one round and the time after it, by `at` and `id`.

    `events` are in order and begin with the round's `round.opened` (or, before any round, with anything);
    `opened` is the table.opened it is judged under; `closed` says that another round has begun; `first` that
    nothing of this table came before. `alive` tells since when each sense is known to be carried. `conflicts`
    are the events in force of identities that came twice with other content.
    """
    config = opened.event if opened else None
    assert config is None or isinstance(config, ev.TableOpened)
    s = setup(config) if config else None
    rnd = events[0] if events and isinstance(events[0].event, ev.RoundOpened) else None
    ended = closed or any(isinstance(h.event, ev.RoundClosed) for h in events)
    scene = Scene(table, s, config, rnd, reused, events, ended, interruptions, dict(alive))
    out = list(faults(scene, conflicts))
    out += table_faults(scene, carry, opened, first=first)
    if s is not None and config is not None and rnd is not None:
        findings, followed, end = _round(scene, s, config, carry)
        verdicts = draft(scene, _weighed(scene, s, findings))
        if not followed:
            verdicts.append(not_followed(scene))
        out += verdicts
        out += sorted_deck(scene, end.dealt_from, end.first_draw)
        out += void_without_cause(scene, verdicts)
    return in_order(out)


def _round(scene: Scene, s: Setup, config: ev.TableOpened, carry: Carry) -> tuple[list[Finding], bool, Facts]:
    """All findings of a round, whether its deal could be followed, and the facts at its end."""
    facts = Facts(config, carry.standing, s.settings)
    seats, end = _survey(scene.events, Facts(config, carry.standing, s.settings), s)
    findings: list[Finding] = []
    followed = True
    if s.deals and seats is not None:
        acts = list(_acts(end, scene.closed))
        over = not end.voids and (scene.closed or any(_settles(h) for h in end.settled))
        explanation = _explain(scene, s, end, seats, acts, closed=over)
        followed = explanation is not None
        if explanation is not None:
            findings += told(explanation, end, s, scene)
            doubt = _doubtful_wager(scene, s, end, seats, acts, explanation, closed=over)
            if doubt is not None:
                cause, explanation = doubt
                findings = [f if f.cause else replace(f, cause=cause) for f in findings]
            _learn(facts, explanation)
    findings += _walk(scene.events, facts, s)
    return findings, followed, end


def _settles(heard: Heard) -> bool:
    return isinstance(heard.event, ev.WagerSettled) and heard.event.outcome != "returned"


def _notes(facts: Facts, heard: Heard) -> bool:
    """Take an event into the facts as the round allows it; whether checks apply to it."""
    kind = type(heard.event)
    if facts.round is None or facts.closed is not None:
        clearing = kind in CLEARING and facts.round is not None
        if clearing or kind in BETWEEN or (kind is ev.RoundOpened and facts.round is None):
            facts.note(heard)
        return clearing
    facts.note(heard)
    return True


def _survey(events: Sequence[Heard], facts: Facts, s: Setup) -> tuple[tuple[Seat, ...] | None, Facts]:
    """The seats in play (None: nothing was dealt), and the facts at the end of the events."""
    seats: tuple[Seat, ...] | None = None
    for heard in events:
        _notes(facts, heard)
        if seats is None and (facts.first_draw or facts.placements):
            seats = s.law.module.in_play(facts)
    if seats is None:
        return None, facts
    dealt = {h.event.position for h in facts.placements if isinstance(h.event, ev.CardPlaced)}
    more = {p for p in SEATS if p in dealt and p not in seats and s.law.module.had_wager(p, facts)}
    return tuple(p for p in SEATS if p in seats or p in more), facts


def _acts(facts: Facts, closed: bool) -> Iterator[Act]:
    """The cards dealt, in the order in which they left the source; a draw whose placement was lost among them."""
    drawn: list[Act] = []
    rest: list[tuple[int, Act]] = []
    for place, first in enumerate(facts.placements):
        draw = first.event.draw  # type: ignore[union-attr]  # a card.placed
        last = facts.placed[draw] if draw is not None else first
        e = last.event
        assert isinstance(e, ev.CardPlaced)
        act = Act(first, e.position, e.index, e.facing, draw)
        if draw is None:
            rest.append((place, act))
        else:
            drawn.append(act)
    for heard in facts.burned:
        assert isinstance(heard.event, ev.CardBurned)
        burn = Act(heard, "burn", 0, None, heard.event.draw)
        drawn.append(burn) if burn.draw else rest.append((len(drawn), burn))
    top = max((a.draw or 0 for a in drawn), default=0)
    burned = {a.draw for a in drawn if a.position == "burn"}
    away = facts.accounted()
    for draw, heard in facts.draws.items():
        if draw not in facts.placed and draw not in away and draw not in burned and (closed or draw < top):
            drawn.append(Act(heard, None, 0, None, draw))
    drawn.sort(key=lambda a: a.draw or 0)
    drawn = list(_with_missing_draws(drawn, away))
    for place, act in rest:
        drawn.insert(place, act)
    yield from drawn


def _with_missing_draws(drawn: Sequence[Act], away: set[int]) -> Iterator[Act]:
    """Acts by draw number, and where a number is missing, a card whose draw was not read either."""
    due = 1
    for act in drawn:
        number = act.draw or due
        yield from (Act(act.heard, None, 0, None, n) for n in range(due, number) if n not in away)
        yield act
        due = max(due, number + 1)


def _explain(
    scene: Scene, s: Setup, facts: Facts, seats: tuple[Seat, ...], acts: Sequence[Act], *, closed: bool
) -> Explanation | None:
    rules, settings = s.law.rules, plan_settings(s)
    parts = rules.departures.parts

    def part_of(act: Act) -> str:
        if act.position is None or act.position == "burn":
            return parts["C"]
        return parts.get(act.position, parts["seat"])

    def trace(before: Act | None, after: Act | None) -> bool:
        """A reading may be lost where the layout was not watched and the draws leave room for it."""
        if before is not None and after is not None and before.draw and after.draw == before.draw + 1:
            return False
        begin = before.heard.when if before else facts.round.when if facts.round else 0
        end = after.heard.when if after else scene.events[-1].when
        blind = {s for i in scene.interruptions if i.covers(begin, end) for s in i.senses}
        if (
            after is None
            and before is not None
            and before.draw
            and before.draw >= facts.last_draw
            and "draws" not in blind
        ):
            return False
        return "placements" in blind

    weights = Weights(rules.departures.costs, part_of, rules.departures.budget)
    return explain(
        plan_of(rules.id, seats, settings),
        variants_of(rules.id, seats, settings) if len(acts) > 1 else (),
        acts,
        weights,
        trace,
        closed=closed,
    )


def _doubtful_wager(
    scene: Scene,
    s: Setup,
    facts: Facts,
    seats: tuple[Seat, ...],
    acts: Sequence[Act],
    explanation: Explanation,
    *,
    closed: bool,
) -> tuple[Cause, Explanation] | None:
    """Why the deal may be lawful after all: one wager is read the other way.

    It was placed or taken back so near to the first card that the clocks leave the order open; or its placing fell
    into a hole of the bet sensors' readings.
    """
    begin = facts.first_draw or next(iter(facts.placements), None)
    if not explanation.departures or begin is None:
        return None
    doubts: dict[Seat, Cause] = {}
    since = facts.round.when if facts.round else begin.when
    if any("wagers" in i.senses and i.covers(since, begin.when) for i in scene.interruptions):
        doubts |= {p: "coverage" for p in SEATS if p not in seats and any(a.position == p for a in acts)}
    for (seat, _), w in facts.wagers.items():
        if unsure(w.placed, begin) or unsure(w.touched, begin):
            doubts[seat] = "order"
    for seat, cause in sorted(doubts.items()):
        other = tuple(p for p in SEATS if (p in seats) != (p == seat))
        again = _explain(scene, s, facts, other, acts, closed=closed)
        if again is not None and not again.departures:
            return cause, again
    return None


def _learn(facts: Facts, explanation: Explanation) -> None:
    """Tell the facts what each act was, so that checks ask the explained plan and not the bare one."""
    for step, act in explanation.matched:
        facts.explained[act.heard.device, act.heard.boot, act.heard.seq] = step
    if explanation.complete and explanation.matched:
        facts.completes = max((a.heard for _, a in explanation.matched), key=lambda h: h[:4])


def _walk(events: Sequence[Heard], facts: Facts, s: Setup) -> Iterator[Finding]:
    """Every check at its moment, with the facts as they were then and sight of what came later."""
    facts.look(list(events))
    for heard in events:
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
        for moment in moments:
            for bound in s.checks.get(moment, ()):
                yield from (f for f in bound.check(facts, heard) if f is not WAIT)


def _weighed(scene: Scene, s: Setup, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings with what the devices can't vouch for made undetermined."""
    least = number(s.settings, "identity_confidence")
    for f in findings:
        doubtful = f.deciding.event.confidence < least or _unseen(scene, f)
        yield replace(f, cause="coverage") if f.cause is None and doubtful else f


def _unseen(scene: Scene, f: Finding) -> bool:
    gap = f.absence
    if gap is not None and scene.alive.get(gap.sense, gap.end + 1) > gap.end:
        return True  # nothing that could have seen it had been heard by then
    return gap is not None and any(gap.sense in i.senses and i.covers(gap.begin, gap.end) for i in scene.interruptions)
