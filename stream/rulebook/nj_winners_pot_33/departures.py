"""Whose a departure from the deal is: an omission is a misdeal, a surplus voids the hand, a missed burn is (e)."""

from stream.deal.verdicts import Cause, Scope
from stream.deal.words import Position
from stream.rulebook.duties import HAND_ENDS
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Reading
from stream.rulebook.heard import Heard
from stream.rulebook.nj_winners_pot_33.cards import missed_burns
from stream.rulebook.nj_winners_pot_33.deal import HOLE, hole_ups
from stream.rulebook.steps import Departure, hand_of


def reading(d: Departure, f: Facts) -> Reading | None:
    """How a departure counts: an omission is a misdeal, a surplus voids the hand (I-33-df), a missed burn is (e)."""
    if d.part == "burn":
        if d.edit not in ("skipped", "lost"):
            return None  # a burn too many is judged as a card drawn in error
        step = f.explained.get(d.act.heard[1:4]) if d.act else None
        first = next(iter(missed_burns(f)), None)
        return Reading() if first is None or step is None or step.street <= first else None
    hand = d.position or (d.act.lies if d.edit == "extra" and d.act else hand_of(d.step))
    if hand is None:
        return Reading() if d.edit in ("unplaced", "lost") else None
    if d.part == "order":
        return None
    if d.edit == "extra":
        return _surplus(hand, d.act.heard if d.act else None, f)
    if hand != "D" and f.setting("I-33-df") == "d" and d.edit in ("skipped", "variant"):
        return Reading(atom="33.12(d)", scope=Scope("hand", position=hand), interpretations=("I-33-df",))
    return Reading(interpretations=("I-33-df",) if d.edit in ("skipped", "variant") and hand != "D" else ())


def _surplus(hand: Position, act: Heard | None, f: Facts) -> Reading | None:
    """One card too many at a hand."""
    called = (h for h in f.voids if h.event.what in HAND_ENDS and h.event.position == hand)
    dead = any(act is None or h < act for h in called)
    in_deal = f.terms is not None and (hand == "D" or hand in f.terms.seats)
    if dead or f.terms is None or not in_deal or (hand in dict(f.terms.held) and len(hole_ups(f, hand)) == HOLE):
        return None  # to a hand that is dead: its own paragraph judges that; to no hand at all: no text here
    if hand != "D":
        return Reading(atom="33.12(d)", scope=Scope("hand", position=hand), interpretations=("I-33-df",))
    text: Cause | None = "text" if f.setting("I-33-dealer-extra") == "text" else None
    return Reading(cause=text, interpretations=("I-33-dealer-extra",))
