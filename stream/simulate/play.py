"""What players do: wager, bet, decide, look at their cards, leave and come back."""

from typing import Final

from stream.deal import events as ev
from stream.deal.words import Decision, Seat
from stream.simulate.dealer import out, take
from stream.simulate.round import Round

STAKES: Final = (10, 20, 50, 100)
_OPENING: Final = {"nsw-let-it-ride": ("1", "2", "$")}
_SIDE: Final = {"nj-winners-pot-33": "bonus", "nj-double-cross-25": "three_card"}


def wager(r: Round, seat: Seat, area: str, amount: int) -> None:
    """Place a wager."""
    r.add("floor", ev.WagerPlaced, area, r.pause(300, 900), seat=seat, area=area, amount=amount)
    r.stakes[seat, area] = r.stakes.get((seat, area), 0) + amount


def wagers(r: Round) -> None:
    """Everybody in play places what the deal begins with, and some a side bet."""
    side = _SIDE.get(r.rules)
    for seat in r.seats:
        stake = r.random.choice(STAKES)
        for area in _OPENING.get(r.rules, ("ante",)):
            wager(r, seat, area, stake)
        if side and r.random.random() < 0.3:
            wager(r, seat, side, 5)


def decided(r: Round, seat: Seat, act: Decision, area: str | None = None) -> None:
    """A player says what to do."""
    on = {"area": area} if area else {}
    r.add("floor", ev.PlayerDecided, "decide", r.pause(700, 1500), seat=seat, act=act, **on)


def fold(r: Round, seat: Seat) -> None:
    """A player gives up the hand; it is taken up and racked."""
    decided(r, seat, "fold")
    out(r, seat)
    take(r, seat)


def bet(r: Round) -> None:
    """A betting round: check or raise; then call or fold."""
    r.bets += 1
    if r.bets == 1:
        glance(r)
    order = [s for s in _clockwise(r) if s in r.playing]
    raised = 0
    while order:
        seat, *order = order
        dice = r.random.random()
        if dice < 0.15 and seat not in r.loyal:
            fold(r, seat)
        elif raised:
            decided(r, seat, "call")
            wager(r, seat, "bet", raised)
        elif dice < 0.4:
            raised = 2 * r.stakes.get((seat, "ante"), STAKES[0])
            decided(r, seat, "raise")
            wager(r, seat, "bet", raised)
            around = [s for s in _clockwise(r) if s in r.playing]
            at = around.index(seat)
            order = around[at + 1 :] + around[:at]
        else:
            decided(r, seat, "check")


def _clockwise(r: Round) -> list[Seat]:
    """The seats from the one that the deal begins with."""
    first = r.terms.first
    at = next((i for i, s in enumerate(r.seats) if s == first), 0)
    return [*r.seats[at:], *r.seats[:at]]


def offer(r: Round, area: str) -> None:
    """A further wager: whoever likes doubles; or whoever does not call folds."""
    glance(r)
    for seat in r.seats:
        if area == "double":
            if r.random.random() < 0.3:
                wager(r, seat, area, r.stakes[seat, "ante"])
        elif seat in r.loyal or r.random.random() < 0.7:
            decided(r, seat, "call")
            wager(r, seat, area, r.stakes[seat, "ante"])
        else:
            fold(r, seat)


def glance(r: Round) -> None:
    """Some look at their cards before they decide."""
    for seat in r.playing if r.felt.house.lively else ():
        if r.random.random() < 0.3:
            look(r, seat)


def handle(r: Round) -> None:
    """Those who are there take up their cards and look at them; who is to play first decides before the others do."""
    if r.ahead is not None:
        look(r, r.ahead)
        _decide(r, r.ahead, "1")
    for seat in r.playing:
        if seat not in r.away and seat != r.ahead:
            look(r, seat)


def look(r: Round, seat: Seat) -> None:
    """A player takes up the cards and looks at them."""
    r.add("floor", ev.CardsHandled, "handle", r.pause(500, 900), seat=seat)
    r.add("floor", ev.CardsViewed, "view", r.pause(200, 500), seat=seat)


def decide(r: Round, area: str) -> None:
    """Each player there lets the wager on an area ride, or takes it back; some go out for a moment in between."""
    for seat in r.playing:
        if seat in r.away or (seat, area) in r.decided:
            continue
        if r.random.random() < 0.03:
            leave(r, seat)
            come_back(r, seat)
        _decide(r, seat, area)
    gone = [s for s in r.playing if s not in r.away and r.random.random() < 0.03]
    for seat in gone:  # after a decision, and before the next is due
        leave(r, seat)
        if area == "1":
            come_back(r, seat)
        else:
            r.felt.away.add(seat)


def _decide(r: Round, seat: Seat, area: str) -> None:
    """One player's decision on an area."""
    r.decided.add((seat, area))
    act: Decision = "ride" if r.random.random() < 0.5 else "retrieve"
    decided(r, seat, act, area)
    if act == "retrieve":
        stake = r.stakes.pop((seat, area))
        r.add("floor", ev.WagerRemoved, "retrieve", r.pause(300, 700), seat=seat, area=area, amount=stake)


def leave(r: Round, seat: Seat) -> None:
    """A player leaves the table."""
    r.add("floor", ev.PlayerLeft, "left", r.pause(500, 900), seat=seat)


def come_back(r: Round, seat: Seat) -> None:
    """A player comes back."""
    r.add("floor", ev.PlayerReturned, "back", r.pause(800, 4000), seat=seat)
