"""What several of the rules ask: who has handled, decided, folded; what lies where; what a misdeal needs."""

from stream.deal import events as ev
from stream.deal.verdicts import Scope, identify
from stream.deal.words import Position, Seat
from stream.rulebook.duties import (
    ROUND_ENDS,
    breached,
    called_off,
    given_back,
    remedied,
    settlements,
    undone,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Finding, Fulfilment
from stream.rulebook.heard import Heard
from stream.rulebook.nsw_let_it_ride.deal import AREAS


def first_handling(f: Facts) -> Heard | None:
    """When a player first took up cards in this round."""
    return min(f.handled.values(), default=None)


def _verdict_id(f: Facts, atom: str, scope: Scope) -> str:
    """The id of a verdict of this round, by which people acknowledge it."""
    opened = f.round.event if f.round else None
    name = opened.round if isinstance(opened, ev.RoundOpened) else ""
    return identify(f.opened.table, name, f.opened.rules, atom, scope)


def acknowledged(f: Facts, atom: str, scope: Scope) -> Heard | None:
    """When the dealer or a supervisor acknowledged a verdict of this round (I-NSW-real)."""
    name = _verdict_id(f, atom, scope)
    for h in f.acks:
        e = h.event
        if isinstance(e, ev.AlertAcknowledged) and e.verdict == name and e.role in ("dealer", "supervisor"):
            return h
    return None


def round_over(f: Facts) -> bool:
    """Whether the round has been declared over."""
    return any(v.event.what in ROUND_ENDS for v in f.voids)


def next_decision(f: Facts, after: Heard, *, but: Position | None = None) -> Heard | None:
    """The first decision after a moment, or the first wager won or lost; a fold of one player aside."""
    for h in f.later(after, ev.PlayerDecided, ev.WagerSettled):
        e = h.event
        if isinstance(e, ev.WagerSettled):
            if e.outcome != "returned" and e.seat != but:
                return h
        elif isinstance(e, ev.PlayerDecided) and not (e.seat == but and e.act == "fold"):
            return h
    return None


def still_in_play(f: Facts) -> tuple[Seat, ...]:
    """The seats with a wager that have not folded."""
    seats = f.terms.seats if f.terms else f.staked(*AREAS)
    return tuple(s for s in seats if s not in f.folded)


def cards_at(f: Facts, position: Position) -> int:
    """How many cards lie at a position now: placed there, less those taken up again."""
    return f.counted(position) - sum(t.event.count for t in f.takes if t.event.position == position)


def misdeal_declared(f: Facts, x: Finding) -> Fulfilment:
    """A misdeal: declared, every wager given back, and nothing won or lost (12.4)."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    void = called_off(f, x)
    back = given_back(f, x.deciding)
    if void is None:
        return undone(f, x, "The round was closed and no misdeal was declared.", "announcements", "settlement")
    on = next(f.later(void, ev.PlayerDecided, ev.CardDrawn), None)
    if on is not None:
        return breached(on, "The round went on after the misdeal was declared.")
    if not f.unsettled() and back:
        return remedied(void, *back, said="A misdeal was declared and the wagers were given back.")
    return undone(f, x, "The round was closed and not every wager had been given back.", "settlement")


def decides_on(d: Heard, area: int) -> bool:
    """Whether a decision is one on an area: to let its wager ride, or to take it back."""
    e = d.event
    return isinstance(e, ev.PlayerDecided) and e.area in (None, str(area)) and e.act in ("ride", "retrieve")
