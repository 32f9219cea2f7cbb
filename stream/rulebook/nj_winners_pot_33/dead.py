"""33.12(a): a hand with both hole cards up is dead, and a winning bonus of it is paid."""

from stream.deal import events as ev
from stream.deal.words import Position
from stream.rulebook.duties import HAND_ENDS, OPEN, breached, given_back, remedied, settlements, undone, voids, went_on
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Finding, Fulfilment
from stream.rulebook.heard import Heard
from stream.rulebook.nj_winners_pot_33.cards import bonus_wins, still_staked, street_of
from stream.rulebook.nj_winners_pot_33.deal import HOLE
from stream.rulebook.nj_winners_pot_33.phase import only_moved
from stream.rulebook.nj_winners_pot_33.registry import duties


@duties.of("33.12(a)-2")
def dead_hand(f: Facts, x: Finding) -> Fulfilment:
    """(a): dead, called so before the next street; its cards to the rack, its wagers void but for a winning bonus."""
    hand = x.scope.position
    assert hand is not None
    called = voids(f, x.deciding, HAND_ENDS, hand)
    more = next(
        (p for p in f.later(x.deciding, ev.CardPlaced) if p.event.position == hand and not only_moved(f, p)),
        None,
    )
    if more is not None:
        return breached(more, "The hand was dealt a further card.")
    street = next(
        (p for p in f.later(x.deciding, ev.CardPlaced) if street_of(f, p) > max(HOLE, street_of(f, x.deciding))), None
    )
    if street is not None and (called is None or called > street):
        said = "The next street was begun and the hand had not been called dead."
        return went_on(x, street, said, "announcements")
    ended = voids(f, x.deciding)
    if called is None and ended is not None:
        return Fulfilment(outcome="moot", by=(ended,), reason="The round was ended.")
    wrong = _dead_wager(f, x, hand)
    if wrong is not None:
        return breached(wrong, "A wager of the dead hand was won or lost.")
    racked = next((r for r in f.later(x.deciding, ev.CardsDiscarded) if r.event.position in (hand, None)), None)
    if called is None or racked is None:
        if not f.sees("discards"):
            return OPEN
        return undone(f, x, "The hand was not called dead and racked.", "discards", "announcements")
    back = () if hand == "D" else given_back(f, x.deciding, hand)
    if hand != "D" and not back and still_staked(f, hand):
        return OPEN
    return remedied(called, racked, *back, said="The hand was called dead and its two cards were racked.")


def _dead_wager(f: Facts, x: Finding, hand: Position) -> Heard | None:
    """A wager of the dead hand that was paid or collected; a bonus that wins, or may, is a matter of its own."""
    if hand == "D":
        return None
    for h in settlements(f, x.deciding, seat=hand):
        e = h.event
        assert isinstance(e, ev.WagerSettled)
        if e.outcome == "returned":
            continue
        wins = bonus_wins(f, hand)
        if e.area == "bonus" and (wins is True or (wins is None and e.outcome == "paid")):
            continue
        return h
    return None


@duties.of("33.12(a)-3")
def bonus_settled(f: Facts, x: Finding) -> Fulfilment:
    """(a): a winning jacks plus bonus of a dead hand is paid all the same."""
    for h in f.later(x.deciding, ev.WagerSettled, ev.WagerRemoved):
        e = h.event
        if (e.seat, e.area) != (x.scope.position, "bonus"):
            continue
        if isinstance(e, ev.WagerSettled) and e.outcome == "paid":
            return remedied(h, said="The bonus was paid.")
        return breached(h, "The bonus was not paid.")
    return undone(f, x, "The bonus was not paid.", "settlement")
