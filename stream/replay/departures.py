"""Departures from the plan, told as findings."""

from collections.abc import Iterator, Sequence
from typing import Final

from stream.deal import events as ev
from stream.deal.verdicts import Cause
from stream.deal.words import SEATS, Position, Sense
from stream.replay.align import Explanation
from stream.replay.drafts import Scene
from stream.replay.fold import Setup
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.steps import Act, Burn, Deal, Departure, Plan, Step


def told(explanation: Explanation, facts: Facts, s: Setup, scene: Scene) -> Iterator[Finding]:
    """A finding for each departure that this table's reading of the text counts."""
    parts = s.law.rules.departures.atoms
    begin = facts.round.when if facts.round else 0
    for d in explanation.departures:
        if d.part == "gate":
            continue
        reading = s.law.module.reading(d, facts)
        if reading is None or (d.edit == "lost" and isinstance(d.step, Deal) and _seen_later(d.step, facts)):
            continue
        atom = reading.atom or parts.get(d.part)
        if atom is None:
            continue
        deciding = d.act.heard if d.act else _over(facts, scene)
        cause = "coverage" if d.edit in ("lost", "unplaced") else _order_cause(d)
        yield Finding(
            atom=atom,
            deciding=deciding,
            supporting=(d.other.heard,) if d.other else (),
            observed=_sentence(d),
            scope=reading.scope,
            cause=cause or reading.cause,
            positions=_positions(d),
            interpretations=reading.interpretations,
            severity=reading.severity,
            unless=tuple(Absence(sense, begin, deciding.when) for sense in _rests_on(d, explanation, s)),
            awaits=tuple(Absence(sense, begin, deciding.when) for sense in _on_its_way(d)),
        )


def unwatched(facts: Facts, s: Setup, plan: Plan) -> Iterator[Finding]:
    """So much of the deal went unread that it can't be followed: one question, of the part that was due first."""
    atom = s.law.rules.departures.atoms.get(plan[0].part) if plan else None
    begin = facts.first_draw or next(iter(facts.placements), None)
    if atom is not None and begin is not None:
        yield Finding(
            atom=atom,
            deciding=begin,
            observed="Reports of this deal are missing, so many that it can't be followed.",
            cause="coverage",
        )


def _rests_on(d: Departure, explanation: Explanation, s: Setup) -> Sequence[Sense]:
    """What else could have changed what was due: a decision, but not before the first one, and not a face or a burn."""
    first = min((step.street for step, _ in explanation.matched if isinstance(step, Deal)), default=0)
    start = isinstance(d.step, Deal) and d.step.street <= first and d.edit != "variant"
    if start or isinstance(d.step, Burn) or d.edit in ("wrong_face", "exchanged"):
        return ()
    senses: Sequence[Sense] = s.law.module.DEAL_RESTS_ON
    return senses


def _on_its_way(d: Departure) -> Iterator[Sense]:
    """What may come late and explain a departure: the card that was not seen, the wager that it goes with."""
    if d.edit in ("skipped", "variant"):
        yield "placements"
    if d.edit in ("skipped", "variant", "extra", "swapped", "moved") and any(p in SEATS for p in _positions(d)):
        yield "wagers"


def _over(facts: Facts, scene: Scene) -> Heard:
    """When a card that never came had to have come: at the last card, if the deal broke off there, else at its end."""
    ends = next((h for h in scene.events if _ends(h)), None)
    if facts.last_placed is not None and (facts.voids or ends is None):
        return facts.last_placed
    return ends or scene.last


def _ends(h: Heard) -> bool:
    e = h.event
    return isinstance(e, ev.RoundClosed) or (isinstance(e, ev.WagerSettled) and e.outcome != "returned")


def _order_cause(d: Departure) -> Cause | None:
    """Two placements without draw numbers, from two devices, whose order the clocks leave open."""
    if d.edit in ("swapped", "moved") and d.act and d.other:
        drawn = d.act.draw is not None and d.other.draw is not None
        if not drawn and unsure(d.act.heard, d.other.heard):
            return "order"
    return None


def _seen_later(step: Deal, facts: Facts) -> bool:
    """Whether a later act shows that the card whose placement was not read lay where it should."""
    place = (step.position, step.index)
    if any((t.event.position, t.event.index) == place for t in facts.turns):
        return True
    lie = {p.event.index for p in facts.placements if p.event.position == step.position}
    if step.any_face and step.index not in lie and any(index > step.index for index in lie):
        return True  # the layout reader left its place free
    on = (c for s in facts.settled for c in s.event.on or ())
    return any((c.position, c.index) == place for c in on) or facts.collected.get(step.position, 0) >= step.index


def _positions(d: Departure) -> tuple[Position, ...]:
    steps: list[Position] = [d.step.position] if isinstance(d.step, Deal) else []
    acts = [a.lies for a in (d.act, d.other) if a is not None and a.lies is not None]
    if d.edit in ("extra", "wrong_face", "exchanged"):
        return tuple(sorted(set(acts)))
    if d.edit in ("skipped", "lost"):
        return tuple(steps)
    if d.edit == "variant":
        return (d.position,) if d.position else ()
    if d.edit == "unplaced":
        return ()
    return tuple(sorted({*steps, *acts}))


_PLACE: Final = {"C": "the common cards", "D": "the dealer's hand"}


def _place(position: str | None) -> str:
    return "nowhere seen" if position is None else _PLACE.get(position, position)


def _due(step: Step | None) -> str:
    if isinstance(step, Burn):
        return "A burn was due"
    if not isinstance(step, Deal):
        return "No card was due"
    face = "" if step.any_face else f" face {step.facing}"
    return f"A card{face} was due at {_place(step.position)}"


def _came(act: Act | None) -> str:
    if act is not None and act.position == "burn":
        return "a card was burned"
    if act is not None and act.position == "gate":
        return "the deal went no further"
    return f"a card face {act.facing} went to {_place(act.position)}" if act else "none came before the deal was over"


def _sentence(d: Departure) -> str:
    """What was seen, in one neutral sentence."""
    step, act = d.step, d.act
    match d.edit:
        case "skipped":
            return f"{_due(step)}, and {_came(act)}."
        case "lost":
            return f"{_due(step)}; its placement was not read, and a hole in the readings leaves room for it."
        case "unplaced":
            return f"Draw {act.draw if act else 0} left the source and was not seen to be placed anywhere."
        case "extra":
            return f"{_due(step)}, and {_came(act)}, one more than the deal has there."
        case "wrong_face":
            return f"{_due(step)}, and the card placed there lay face {act.facing if act else ''}."
        case "exchanged":
            return f"The faces of two cards of {_place(act.position if act else None)} were exchanged."
        case "swapped":
            return f"{_due(step)}, and {_came(act)}; the two were served in each other's place."
        case "moved":
            return f"{_due(step)}, and {_came(act)} out of turn."
        case "variant":
            whole = f"The deal as a whole went in another order: {d.name.replace('_', ' ')}."
            return d.name if d.name.endswith(".") else whole
        case _:
            return f"{_came(act)[:1].upper()}{_came(act)[1:]}."
