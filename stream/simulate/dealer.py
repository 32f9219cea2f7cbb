"""What a dealer's hands do, one act a function."""

from typing import Final

from stream.deal import events as ev
from stream.deal.cards import UNSEEN
from stream.deal.words import By, Call, Facing, Hand, Position, Seat
from stream.simulate.round import Drawn, Round

_STRAIGHTENED: Final = 0.01  # of the cards that are put down are put straight


def draw(r: Round, card: str | None = None, *, face_up: bool = False) -> Drawn:
    """Take the next card (of a rank, where one is wanted) from the source."""
    at = next((i for i, c in enumerate(r.cards) if c[0] == card), 0) if card else 0
    drawn = Drawn(r.cards.pop(at))
    again(r, drawn, face_up=face_up)
    return drawn


def again(r: Round, drawn: Drawn, *, face_up: bool = False) -> None:
    """Take this card from the source."""
    hand: dict[str, Hand] = {"hand": "right" if r.by_hand else r.felt.house.side}
    if r.source == "auto_shoe":
        hand = {}
    up = {"face_up": True} if face_up else {}
    h = r.add("shoe", ev.CardDrawn, "draw", r.pause(500, 800), card=drawn.card, source=r.source, **hand, **up)
    h.card = drawn


def place(r: Round, drawn: Drawn, position: Position, index: int, facing: Facing) -> None:
    """Put a drawn card down."""
    left = not r.by_hand and r.felt.house.side == "right"
    h = r.add(
        "layout", ev.CardPlaced, "place", r.pause(250, 400), position=position, index=index, facing=facing,
        card=drawn.card if facing == "up" else UNSEEN, hand="left" if left else "right",
    )  # fmt: skip
    h.card = drawn
    r.hands.setdefault(position, []).append((index, drawn))
    r.faces[position, index] = facing


def deal(r: Round, position: Position, facing: Facing, index: int | None = None) -> Drawn:
    """Draw a card and put it down as the next of a position."""
    index = index or len(r.hands.get(position, ())) + 1
    drawn = draw(r, r.wanted.get((position, index)))
    place(r, drawn, position, index, facing)
    if r.felt.house.lively and r.random.random() < _STRAIGHTENED:
        h = r.happenings[-1]
        r.add("layout", ev.CardPlaced, "straighten", r.pause(400, 700), **h.fields).card = drawn
    return drawn


def burn(r: Round, drawn: Drawn | None = None) -> None:
    """Burn the next card, or one that is drawn already."""
    drawn = drawn or draw(r)
    r.add("rack", ev.CardBurned, "burn", r.pause(250, 400)).card = drawn


def discard(r: Round, drawn: Drawn) -> None:
    """Put one drawn card into the rack."""
    r.add("rack", ev.CardsDiscarded, "discard", r.pause(500, 900), count=1).card = drawn


def turn(r: Round, position: Position, index: int, facing: Facing = "up", by: By = "dealer") -> None:
    """Turn a card that lies there, unless it lies so already."""
    card = next((c.card for i, c in r.hands.get(position, ()) if i == index), None)
    if card is None or position in r.taken or r.faces[position, index] == facing:
        return
    r.faces[position, index] = facing
    r.add(
        "layout", ev.CardTurned, "turn", r.pause(900, 1500), position=position, index=index, facing=facing, by=by,
        card=card if facing == "up" else UNSEEN,
    )  # fmt: skip


def take(r: Round, position: Position, *, rack: bool = True) -> None:
    """Take up a hand, and put it into the rack."""
    count = len(r.hands.get(position, ()))
    if position in r.taken or not count:
        return
    r.taken.add(position)
    r.add("rack", ev.CardsCollected, "take", r.pause(500, 900), position=position, count=count)
    if rack:
        r.add("rack", ev.CardsDiscarded, "rack", r.pause(300, 700), position=position, count=count)


def say(r: Round, what: Call, position: Position | None = None) -> None:
    """Announce something."""
    at = {"position": position} if position else {}
    r.add("floor", ev.Announced, "call", r.pause(900, 1600), what=what, **at)


def pay(r: Round, seat: Seat, area: str, outcome: str, amount: int = 0) -> None:
    """Settle one wager."""
    stake = r.stakes.pop((seat, area))
    r.add(
        "floor", ev.WagerSettled, "settle", r.pause(500, 1000), seat=seat, area=area, outcome=outcome,
        amount=amount or stake,
    )  # fmt: skip


def give_back(r: Round, seat: Seat | None = None) -> None:
    """Give back the wagers of a seat, or of all."""
    for at, area in list(r.stakes):
        if seat in (None, at):
            pay(r, at, area, "returned")


def end_hand(r: Round, hand: Position, what: Call, *, cards: int | None = None, outcome: str = "returned") -> None:
    """Call a hand dead or void (with so many cards as it should have), rack it, and settle its wagers."""
    r.held[hand] = len(r.hands.get(hand, ())) if cards is None else cards
    say(r, what, hand)
    take(r, hand)
    for seat, area in list(r.stakes):
        if seat == hand:
            pay(r, seat, area, outcome)


def end_round(r: Round, what: Call = "misdeal", *, lost: Seat | None = None) -> None:
    """Declare the round over and give all wagers back, but for those of a seat that are collected all the same."""
    say(r, what)
    for seat, area in list(r.stakes):
        pay(r, seat, area, "collected" if seat == lost else "returned")
    r.over = True


def out(r: Round, hand: Position) -> None:
    """A hand gets no more cards."""
    r.held.setdefault(hand, len(r.hands.get(hand, ())))
