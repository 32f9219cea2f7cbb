"""How far a round has come: whether the showdown has, and whether the round was ended and its deck shuffled."""

from stream.deal import events as ev
from stream.rulebook.duties import (
    ROUND_ENDS,
    breached,
    called_off,
    given_back,
    reshuffle,
    settlements,
    undone,
    went_on,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Finding, Fulfilment
from stream.rulebook.heard import Heard
from stream.rulebook.nj_winners_pot_33.deal import streets_of


def revealed(f: Facts, h: Heard) -> bool:
    """Whether the time has come at which the dealer turns the down cards: after the last betting round."""
    bets = streets_of(f.settings).bets
    closed = f.rounds_bet
    if closed >= bets and f.bets and f.bets[-1] > h:
        closed = max((max(n, b.event.street) for n, b in enumerate(f.bets, 1) if b < h), default=0)
    return closed >= bets or _nobody_left(f)


def is_last_close(f: Facts, b: Heard) -> bool:
    """Whether a betting round is the last one."""
    return f.rounds_bet + 1 == streets_of(f.settings).bets and b not in f.bets


def _nobody_left(f: Facts) -> bool:
    seats = f.terms.seats if f.terms else ()
    return bool(seats) and all(s in f.folded for s in seats)


def only_moved(f: Facts, p: Heard[ev.CardPlaced]) -> bool:
    """Whether a placement only moves a card that lay already."""
    draw = p.event.draw
    return draw is not None and p not in f.placements


def ended_and_reshuffled(f: Facts, x: Finding, *, goes_on: tuple[type[ev.AnyEvent], ...]) -> Fulfilment:
    """The round is ended before anything shows that it goes on, every wager goes back, the deck is shuffled."""
    void = called_off(f, x)
    moved = {h[1:4] for h in f.later(x.deciding, ev.CardPlaced) if only_moved(f, h)}
    on = next((h for h in f.after(x.deciding) if isinstance(h.event, goes_on) and h[1:4] not in moved), None)
    if on is not None and (void is None or on < void):
        return went_on(x, on, "Play went on.", "announcements")
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    if void is None and not (f.closed is not None and given_back(f, x.deciding)):
        return undone(f, x, "The round was closed and no misdeal was declared.", "announcements", "settlement")
    return reshuffle(f, f.deck, x.deciding)


def ended_otherwise(f: Facts) -> bool:
    """Whether the round was ended for a cause of its own: what else was due in it is moot."""
    return f.ending is not None and any(v.event.what in ROUND_ENDS for v in f.voids)
