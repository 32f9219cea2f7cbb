"""The deal of Let It Ride and its play. The order of the deal is not in the source: a plan to deal by, no more."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from stream.deal import events as ev
from stream.deal.words import SEATS, Seat, Sense, Setting
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Advice
from stream.rulebook.steps import Announce, Burn, Close, Deal, Decide, Due, Plan, Settle, Terms, Turn, Variant

AREAS: Final = ("1", "2", "$")
HAND: Final = 3
COMMUNITY: Final = 2


def terms(f: Facts) -> Terms:
    """The areas that get cards: those with a wager when the first card is drawn."""
    return f.terms if f.terms is not None else Terms(f.staked(*AREAS))


def had_wager(_seat: Seat, _f: Facts) -> bool:
    """Never by what follows: that a hand without a wager takes part is the very breach of 12.8."""
    return False


def procedure(on: Terms, settings: Mapping[str, Setting]) -> Iterator[Due]:
    """The deal and the play: rules 8.3 and 8.4 are known from rule 12 alone, the order of the deal is ours."""
    yield Announce("no_more_bets")
    rounds = [(s, i) for s in on.seats for i in range(1, HAND + 1)]
    if settings["packets"] is not True:
        rounds = [(s, i) for i in range(1, HAND + 1) for s in on.seats]
    for seat, index in rounds:
        yield _card(seat, index)
    for index in range(1, COMMUNITY + 1):
        yield Deal("C", index, "down", "dealer", street=1, free=True, any_face=True)
    if settings["dealer_dispensed"] == 3:  # the setting's other value
        yield Burn(1)
    yield Close(1, 1)
    for index in range(1, COMMUNITY + 1):
        yield Decide(str(index))
        yield Turn("C", index)
    for seat in on.seats:
        for index in range(1, HAND + 1):
            yield Turn(seat, index)
    yield Settle(AREAS)


def _card(seat: Seat, index: int) -> Deal:
    return Deal(seat, index, "down", "player", street=1, free=True, any_face=True)


def variants(plan: Plan, on: Terms, seats: int) -> Iterator[Variant]:
    """A hand left out, a hand dealt to an area without a wager."""
    for seat in on.seats:
        rest = tuple(s for s in plan if s.position != seat)
        yield Variant(f"without_{seat}", "player", rest, seat, f"No card was dealt to {seat}.")
    hands = {
        seat: tuple(_card(seat, index) for index in range(1, HAND + 1))
        for seat in SEATS[:seats]
        if seat not in on.seats
    }
    for seat, hand in hands.items():
        said = f"A hand was dealt to {seat}, where none was due."
        yield Variant(f"with_{seat}", "player", (*hand, *plan), seat, said)
    for one, two in combinations(hands, 2):
        said = f"Hands were dealt to {one} and {two}, where none was due."
        yield Variant(f"with_{one}_{two}", "player", (*hands[one], *hands[two], *plan), said=said, cost="two_hands")


CLOSES: Final[frozenset[type[ev.Event]]] = frozenset({ev.CardsHandled, ev.PlayerDecided})
DEAL_RESTS_ON: Final[tuple[Sense, ...]] = ()
"""Senses whose lost reports can change who is due a card; beside the wagers, which the engine looks at."""


def advice(_f: Facts) -> Iterator[Advice]:
    """Nothing beyond the text."""
    yield from ()
