"""12.7, 12.8: wrong hands when cards are handled."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import SEATS, Position
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, breached, given_back, over_reaction, remedied, settlements, voids, won_or_lost
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import (
    _verdict_id,
    acknowledged,
    cards_at,
    first_handling,
    next_decision,
    round_over,
)
from stream.rulebook.nsw_let_it_ride.deal import COMMUNITY, HAND
from stream.rulebook.nsw_let_it_ride.registry import checks, duties


def _governed(f: Facts, hnd: Heard) -> tuple[bool, tuple[str, ...]]:
    """Whether 12.1 governs a wrong deal still when cards are first handled; and what follows from it if it failed."""
    begin = f.placements[0] if f.placements else hnd
    known = _realised_later(f, begin)
    if known is None or known > hnd or unsure(known, hnd):
        return False, ()
    void = voids(f, begin)
    on = next_decision(f, hnd)
    voided = next((v for v in f.later(hnd, ev.Announced, ev.CardsCollected)), None)
    failed = on is not None and (void is None or on < void)
    return (not failed and voided is None) or (void is not None and not failed), ("12.1",) if failed else ()


def _realised_later(f: Facts, since: Heard) -> Heard | None:
    """As `_realised`, with sight of what is still to come."""
    name = _verdict_id(f, "12.1", Scope("round"))
    for h in sorted([*f.acks, *f.later(since, ev.AlertAcknowledged)]):
        e = h.event
        if isinstance(e, ev.AlertAcknowledged) and e.verdict == name and e.role in ("dealer", "supervisor"):
            return h
    return next((t for t in f.takes if t > since), None)


@checks.on(ev.CardsHandled, atoms=["12.7", "12.8"])
def hands_when_handled(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.7, 12.8: when cards are first handled each area with a wager has three cards, and no other has any."""
    if len(f.handled) != 1 or first_handling(f) is not h or f.terms is None:
        return LAWFUL
    if f.folding:
        return LAWFUL if f.complete_at is not None else f.wait()
    if f.nothing_placed(h):
        return LAWFUL  # the layout saw nothing of this round: its hands can't be asked about
    if f.complete_at is None and next(f.later(h, ev.CardDrawn), None) is not None and _dealing_on(f, h):
        return LAWFUL  # the deal goes on; each later card is looked at as it comes
    still, follows = _governed(f, h)
    if still:
        return LAWFUL
    found = [_wrong(f, h, s, follows) for s in f.terms.seats if cards_at(f, s) != HAND and s not in f.folded]
    found += [_unbet(f, h, s, follows) for s in SEATS if s not in f.terms.seats and cards_at(f, s) > 0]
    return [x for x in found if x is not None]


def _dealing_on(f: Facts, h: Heard) -> bool:
    """Whether the deal had its lawful next card still before it when cards were handled."""
    return any(p.event.position != "C" or p.event.index <= COMMUNITY for p in f.later(h, ev.CardPlaced))


@checks.on(ev.CardPlaced, ev.PlayerDecided, atoms=["12.7", "12.8"])
def hands_afterwards(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.7, 12.8: a card too many that comes after the first handling, or a hand still short when play begins."""
    if not f.handled or f.terms is None or round_over(f):
        return LAWFUL
    e = h.event
    if isinstance(e, ev.CardPlaced):
        if e.position in ("C", "D") or (e.draw is not None and f.placed.get(e.draw) is h and h not in f.placements):
            return LAWFUL
        seat = e.position
        if seat not in f.terms.seats:
            return f.wait() or [_unbet(f, h, seat, ())]
        return f.wait() or [_wrong(f, h, seat, ())] if cards_at(f, seat) > HAND else LAWFUL
    assert isinstance(e, ev.PlayerDecided)
    if len(f.decisions) != 1 or f.folding:
        return LAWFUL
    first = first_handling(f)
    late = first is not None and any(p > first for p in f.placements)
    return [_wrong(f, h, s, ()) for s in f.terms.seats if late and s not in f.folded and cards_at(f, s) < HAND]


def _wrong(f: Facts, h: Heard, seat: Position, follows: tuple[str, ...]) -> Finding:
    n = cards_at(f, seat)
    unread = n < HAND and _unread(f)
    return Finding(
        atom="12.7", deciding=h, scope=Scope("hand", position=seat), positions=(seat,), follows=follows,
        cause="coverage" if unread else None, interpretations=("I-NSW-17",),
        unless=(Absence("wagers", f.round.when, h.when),) if n == 0 and f.round else (),
        observed=f"The hand at {seat} had {n} cards.",
    )  # fmt: skip


def _unread(f: Facts) -> bool:
    """Whether a card left the source and was seen to lie nowhere."""
    return len(f.placements) + len(f.burned) + len(f.accounted()) < f.last_draw


def _unbet(f: Facts, h: Heard, seat: Position, follows: tuple[str, ...]) -> Finding:
    said = f"Cards lay at {seat}, where there is no wager."
    begin = f.round.when if f.round else h.when
    return Finding(
        atom="12.8", deciding=h, scope=Scope("hand", position=seat), positions=(seat,), follows=follows, observed=said,
        interpretations=("I-NSW-17",), unless=(Absence("wagers", begin, h.when),),
    )  # fmt: skip


@duties.of("12.7")
def hand_void(f: Facts, x: Finding) -> Fulfilment:
    """12.7: that hand is void: its wagers are neither won nor lost."""
    hand = x.scope.position
    if round_over(f) and not _settled_before_void(f, x, hand):
        void = over_reaction(f, x.deciding, None)
        return breached(void, "The whole round was given up for it.") if void is not None else OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    left = f.unsettled(hand)
    return remedied(*back, said="Its wagers were given back.") if back and not left else OPEN


def _settled_before_void(f: Facts, x: Finding, hand: Position | None) -> bool:
    """Whether a void hand had its wagers back before the round was ended for another cause."""
    void = voids(f, x.deciding)
    back = given_back(f, x.deciding, hand)
    return bool(back) and void is not None and max(back) < void


@duties.of("12.8")
def counted_and_racked(f: Facts, x: Finding) -> Fulfilment:
    """12.8: the cards are counted and go to the discard rack."""
    hand = x.scope.position
    taken = next((t for t in f.later(x.deciding, ev.CardsCollected) if t.event.position == hand), None)
    for h in f.later(x.deciding, ev.CardsDiscarded, ev.PlayerDecided, ev.WagerSettled):
        e = h.event
        if isinstance(e, ev.CardsDiscarded):
            if e.position != hand:
                continue
            if taken is None or taken > h:
                return breached(h, "The cards went to the rack uncounted.")
            return remedied(taken, h, said="The cards were counted and racked.")
        if e.seat == hand:
            return breached(h, "The hand took part.")
        settled = isinstance(e, ev.WagerSettled) and e.outcome != "returned"
        known = acknowledged(f, "12.8", x.scope)
        if settled and taken is None and known is not None and known < h:
            return breached(h, "The cards still lay there at settlement.")
    if f.closed is not None:
        return Fulfilment(outcome="moot", reason="Nobody was seen to realise it before the round was over.")
    return OPEN
