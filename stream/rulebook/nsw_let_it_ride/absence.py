"""12.12, 12.13: players who are not there to decide."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import Position, Seat
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, breached, given_back, remedied, settlements, won_or_lost
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import decides_on, round_over, still_in_play
from stream.rulebook.nsw_let_it_ride.deal import AREAS, COMMUNITY
from stream.rulebook.nsw_let_it_ride.registry import checks, duties
from stream.rulebook.nsw_let_it_ride.wagers import amounts_of, complies


@checks.on(
    ev.PlayerDecided, ev.CardTurned, ev.CardsCollected, ev.WagerSettled, ev.WagerRemoved, ev.Announced,
    atoms=["12.12", "12.13"],
)  # fmt: skip
def absent_at_decision(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.12, 12.13: a player away when the decision is due: unseen cards are void, seen ones ride."""
    if not f.absent or round_over(f) or f.terms is None:
        return LAWFUL
    if f.folding:
        return f.wait()
    e = h.event
    if isinstance(e, ev.PlayerDecided):
        passed = [s for s in f.absent if s < e.seat]
        area = e.area or "1"
    elif isinstance(e, ev.CardTurned):
        if e.position != "C" or e.facing != "up" or e.index > COMMUNITY:
            return LAWFUL
        passed, area = list(f.absent), str(e.index)
    else:
        assert isinstance(e, ev.CardsCollected | ev.WagerSettled | ev.WagerRemoved | ev.Announced)
        acted_on = e.seat if isinstance(e, ev.WagerSettled | ev.WagerRemoved) else e.position
        passed = [s for s in f.absent if s == acted_on]
        area = "1" if not any(decides_on(d, 1) for d in f.decisions) else "2"
    return [_away(f, h, s, area) for s in sorted(passed) if _missed(f, h, s, area)]


def _missed(f: Facts, h: Heard, seat: Seat, area: str) -> bool:
    """Whether an absent player has a hand in play and a decision on this area outstanding."""
    if area not in AREAS[:2] or seat not in still_in_play(f) or f.complete_at is None:
        return False
    if not f.unsettled(seat) and not isinstance(h.event, ev.WagerSettled | ev.WagerRemoved):
        return False
    decided = any(d.event.seat == seat and decides_on(d, int(area)) for d in f.decisions)
    return not decided and f.absent[seat] < h and complies(f, amounts_of(f, seat))


def _away(f: Facts, h: Heard, seat: Seat, area: str) -> Finding:
    seen: Heard | None = f.viewed.get(seat)
    if seen is None and f.setting("I-NSW-view") == "handled":
        seen = f.handled.get(seat)
    back = next((x for x in f.later(h, ev.PlayerReturned) if x.event.seat == seat), None)
    near = unsure(f.absent[seat], h) or (back is not None and unsure(back, h))
    begin = f.first_draw.when if f.first_draw else h.when
    dealt = f.complete_at.when if f.complete_at else begin  # nobody decides before
    said = f"The player at {seat} was away when the decision on area {area} was due"
    return Finding(
        atom="12.13" if seen is not None else "12.12", deciding=h,
        supporting=(f.absent[seat], *((seen,) if seen else ())),
        scope=Scope("hand", position=seat), positions=(seat,), interpretations=("I-NSW-view",),
        cause="order" if near else None, absence=None if seen is not None else Absence("viewing", begin, h.when),
        unless=(Absence("decisions", dealt, h.when), Absence("presence", f.absent[seat].when, h.when)),
        observed=f"{said}, and {'had' if seen is not None else 'had not'} looked at the cards.",
    )  # fmt: skip


@duties.of("12.12")
def void_and_returned(f: Facts, x: Finding) -> Fulfilment:
    """12.12: the hand is void and the wager is returned."""
    hand = x.scope.position
    if round_over(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    left = f.unsettled(hand)
    return remedied(*back, said="Its wagers were returned.") if back and not left else OPEN


@duties.of("12.13")
def rides(f: Facts, x: Finding) -> Fulfilment:
    """12.13: the wagers that remain ride, with whatever results."""
    hand = x.scope.position
    if round_over(f):
        return OPEN
    for h in (x.deciding, *f.later(x.deciding, ev.WagerRemoved, ev.WagerSettled)):
        e = h.event
        if not isinstance(e, ev.WagerRemoved | ev.WagerSettled) or e.seat != hand:
            continue
        lawful = any(_takes_back(f, d, hand, e.area) for d in f.decisions if d < h)
        returned = isinstance(e, ev.WagerRemoved) or (isinstance(e, ev.WagerSettled) and e.outcome == "returned")
        if returned and not lawful:
            return breached(h, "A wager that was to ride was given back.")
    won = won_or_lost(settlements(f, x.deciding, seat=hand))
    left = f.unsettled(hand)
    return remedied(won, said="The wagers rode and were settled.") if won is not None and not left else OPEN


def _takes_back(f: Facts, d: Heard, hand: Position | None, area: str) -> bool:
    """Whether a decision is that of a player who is there, to take back the wager on an area."""
    e = d.event
    if not isinstance(e, ev.PlayerDecided) or e.seat != hand or e.act != "retrieve" or e.area != area:
        return False
    all_moves: list[Heard[ev.PlayerLeft | ev.PlayerReturned]] = [*f.left, *f.back]
    moves = [m for m in all_moves if m < d and m.event.seat == hand]
    return not moves or isinstance(max(moves).event, ev.PlayerReturned)
