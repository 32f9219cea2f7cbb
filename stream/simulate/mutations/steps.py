"""What changes of the dealing have in common: which step this is, and whom it is about."""

from collections.abc import Callable, Iterator
from itertools import chain

from stream.deal.words import Position, Seat
from stream.rulebook.steps import Deal
from stream.simulate.round import Round, Step


def is_deal(step: Step, position: Position, *index: int) -> bool:
    """Whether a step deals a position a card (of these places)."""
    return isinstance(step, Deal) and step.position == position and (not index or step.index in index)


def someone(r: Round, *others: Position) -> Position:
    """A player (or one of some other hands) whom something is done to, and who does not fold."""
    hand = r.random.choice((*r.seats, *others))
    r.loyal |= {s for s in r.seats if s == hand}
    return hand


def a_seat(r: Round) -> Seat:
    """A player whom something is done to, and who does not fold."""
    seat = r.random.choice(r.seats)
    r.loyal.add(seat)
    return seat


def planned(r: Round) -> list[Step]:
    """The whole procedure, if nobody leaves the play."""
    return list(r.felt.law.module.procedure(r.terms, r.settings))


def rearranged(steps: Iterator[Step], change: Callable[[list[Deal]], list[Step]]) -> Iterator[Step]:
    """The same, with all deals up to the next other step in another order or number."""
    deals: list[Deal] = []
    for step in steps:
        if isinstance(step, Deal):
            deals.append(step)
            continue
        yield from chain(change(deals) if deals else (), (step,))
        deals = []


def nth(steps: Iterator[Step], n: int, kinds: tuple[type, ...], do: Callable[[Step], Iterator[Step]]) -> Iterator[Step]:
    """The same, with something else at the n-th step (from 1) of some kinds."""
    for step in steps:
        if isinstance(step, kinds):
            n -= 1
            if n == 0:
                yield from do(step)
                continue
        yield step
