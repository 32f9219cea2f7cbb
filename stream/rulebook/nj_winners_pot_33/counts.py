"""33.12(d), (e), (f): a card too many, a burn left out, a hand left out."""

from typing import Final

from stream.deal import events as ev
from stream.rulebook.duties import OPEN, breached, given_back, over_reaction, remedied, settlements, won_or_lost
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.nj_winners_pot_33.cards import still_staked, street_of
from stream.rulebook.nj_winners_pot_33.phase import ended_and_reshuffled, ended_otherwise
from stream.rulebook.nj_winners_pot_33.registry import duties

_NUMBER: Final = {0: "No card was", 1: "One card was", 3: "Three cards were"}


@duties.of("33.12(f)")
def misdeal_and_reshuffled(f: Facts, x: Finding) -> Fulfilment:
    """(f): a misdeal: every wager is void, the cards are collected for a reshuffle."""
    return ended_and_reshuffled(f, x, goes_on=(ev.PlayerDecided,))


@duties.of("33.12(d)")
def hand_void(f: Facts, x: Finding) -> Fulfilment:
    """(d): that hand is void: its wagers are neither won nor lost."""
    hand = x.scope.position
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The whole round was given up for it.")
    if ended_otherwise(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    if back and not (hand and still_staked(f, hand)):
        return remedied(*back, said="Its wagers were given back.")
    return OPEN


@duties.of("33.12(e)")
def two_burns_next(f: Facts, x: Finding) -> Fulfilment:
    """(e): the street is dealt all the same, and two cards are burned before the next one."""
    street = street_of(f, x.deciding)
    following = next((p for p in f.later(x.deciding, ev.CardPlaced) if street_of(f, p) > street > 0), None)
    void = over_reaction(f, x.deciding, None)
    if void is not None and (following is None or void < following):
        return breached(void, "The round was stopped for it.")
    burns = [b for b in f.later(x.deciding, ev.CardBurned) if following is None or b < following]
    if following is None:
        if f.closed is not None or street >= max((s.street for s in f.plan), default=0):
            return Fulfilment(outcome="moot", reason="No street was left before which to burn.") if f.closed else OPEN
        return OPEN
    if len(burns) == 2:  # the number that (e) names
        return remedied(*burns, said="Two cards were burned before the next street.")
    said = f"{_NUMBER.get(len(burns), 'More than three cards were')} burned before the next street."
    return Fulfilment(
        outcome="breached", by=(following, *burns), said=said, absence=Absence("burns", x.deciding.when, following.when)
    )
