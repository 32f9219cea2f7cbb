"""12.1, 12.2, 12.4: wrong deals and misdeals."""

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.rulebook.duties import (
    OPEN,
    ROUND_ENDS,
    breached,
    called_off,
    given_back,
    remedied,
    settlements,
    undone,
    went_on,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import (
    acknowledged,
    first_handling,
    misdeal_declared,
    next_decision,
)
from stream.rulebook.nsw_let_it_ride.registry import duties


def _realised(f: Facts, since: Heard) -> Heard | None:
    """When the dealer knew that the deal was wrong: by acknowledgement, or shown by an act (I-NSW-real)."""
    known = [h for h in (acknowledged(f, "12.1", Scope("round")),) if h is not None]
    known += [t for t in f.takes if t > since]
    known += [v for v in f.voids if v > since and v.event.what in ROUND_ENDS]
    return min(known, default=None)


@duties.of("12.1")
def declared(f: Facts, x: Finding) -> Fulfilment:
    """12.1: realised before anybody handles cards, a misdeal is declared before the first decision or settlement."""
    hnd = first_handling(f)
    dealt = next(iter(f.placements), x.deciding)  # where the layout was deaf, none may have been seen
    known = _realised(f, x.deciding if hnd is None or x.deciding < hnd else dealt)
    if known is None or (hnd is not None and hnd < known):
        late = known is not None and hnd is not None and unsure(known, hnd)
        if late:
            return Fulfilment(outcome="open", by=(known,) if known else (), cause="order")
        if hnd is not None or f.closed is not None:
            why = "It was not realised before a player handled cards; the rules on single hands apply."
            return Fulfilment(outcome="moot", by=(hnd,) if hnd else (), reason=why)
        return OPEN
    if hnd is not None and unsure(known, hnd):
        return Fulfilment(outcome="open", by=(known, hnd), cause="order")
    void = called_off(f, x)
    on = next_decision(f, known)
    if on is not None and (void is None or on < void):
        return went_on(x, on, "The dealer knew it and play went on without a misdeal.", "announcements")
    if void is None:
        return undone(f, x, "No misdeal was declared.", "announcements")
    if any(a in f.endings for a in ("12.2", "12.3", "12.6-a")):
        return OPEN  # the misdeal is one by that rule
    return misdeal_declared(f, x)


@duties.of("12.2", "12.3", "12.6-a")
def misdeal(f: Facts, x: Finding) -> Fulfilment:
    """12.2, 12.3, 12.6: it is a misdeal, with what 12.4 says of one."""
    return misdeal_declared(f, x)


@duties.of("12.4")
def wagers_void(f: Facts, x: Finding) -> Fulfilment:
    """12.4: in a misdeal all wagers are void."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    on = next(f.later(x.deciding, ev.PlayerDecided, ev.CardDrawn), None)
    if on is not None:
        return breached(on, "The round went on.")
    back = given_back(f, x.deciding)
    if not f.unsettled():
        return remedied(*back, said="The wagers were given back.")
    return undone(f, x, "Not every wager was given back.", "settlement")
