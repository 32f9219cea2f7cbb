"""One round as it is dealt: what happens when, seen by which device, before anything is numbered or sent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from stream.deal import events as ev
from stream.deal.cards import DECK_52, RANKS, UNSEEN, Card
from stream.deal.words import Position, Seat, Setting
from stream.rulebook.paragraphs import Law
from stream.rulebook.steps import Announce, Deal, Offer, Settle, Turn

SHOE: Final = "SH1"
STAKES: Final = (10, 20, 50, 100)


@dataclass
class Happening:
    """One event to be: when (ms from the round's begin), who sees it, its type and fields, and what it is of."""

    ms: int
    device: str
    kind: type[ev.Event]
    fields: dict[str, Any]
    tag: str
    card: "Drawn | None" = None


@dataclass
class Drawn:
    """A card on its way; its draw number is given when the round is done, in the order of removal."""

    card: Card
    draw: int = 0


@dataclass
class Round:
    """A round being dealt: its happenings in order, and what the dealer needs to know."""

    random: Random
    seats: tuple[Seat, ...]
    by_hand: bool
    deck: str
    happenings: list[Happening] = field(default_factory=list)
    ms: int = 0
    hands: dict[Position, list[tuple[int, Drawn]]] = field(default_factory=dict)
    stakes: dict[tuple[Seat, str], int] = field(default_factory=dict)
    label: str = ""
    positions: tuple[str, ...] = ()

    def add(self, device: str, kind: type[ev.Event], tag: str, wait: int = 0, **fields: Any) -> Happening:
        """Let something happen, some milliseconds after the last."""
        self.ms += wait
        happening = Happening(self.ms, device, kind, fields, tag)
        self.happenings.append(happening)
        return happening

    def of(self, tag: str) -> list[Happening]:
        """What happened of a kind, in order."""
        return [h for h in self.happenings if h.tag == tag]

    def pause(self, low: int, high: int) -> int:
        """A human pause in milliseconds."""
        return self.random.randint(low, high)


def deal(law: Law, settings: dict[str, Setting], rnd: Round, name: str) -> Round:
    """Deal a whole lawful round by the rule set's procedure: shuffle, load, wagers, deal, play, settlement."""
    r = rnd
    _prepare(r)
    r.add("floor", ev.RoundOpened, "open", r.pause(1500, 3000), round=name)
    for seat in r.seats:
        _wager(r, seat, "ante", r.random.choice(STAKES))
    if r.by_hand:
        r.add("shoe", ev.DeckHeld, "hold", r.pause(600, 900), hand="left", zone="container")
    deck = iter(r.random.sample(DECK_52, len(DECK_52)))
    for due in law.module.procedure(r.seats, settings):
        _do(r, due, deck)
    for position in r.hands:
        count = len(r.hands[position])
        r.add("rack", ev.CardsDiscarded, "rack", r.pause(300, 700), position=position, count=count)
    if not r.by_hand:
        r.add("rack", ev.StubRemoved, "stub", r.pause(500, 900))
    r.add("rack", ev.StubDiscarded, "stub", r.pause(300, 600), facing="down")
    r.add("floor", ev.RoundClosed, "close", r.pause(800, 1500))
    return r


def _prepare(r: Round) -> None:
    r.add("shuffler", ev.ShuffleStarted, "shuffle", 500, deck=r.deck, mode="shuffle", method="device")
    r.add("shuffler", ev.ShuffleCompleted, "shuffled", r.pause(20_000, 30_000), deck=r.deck, count=52)
    into = "hand" if r.by_hand else "manual_shoe"
    asset = {} if r.by_hand else {"asset": SHOE}
    r.add("shoe", ev.DeckLoaded, "load", r.pause(1500, 3000), deck=r.deck, into=into, by="dealer", **asset)


def _wager(r: Round, seat: Seat, area: str, amount: int) -> None:
    r.add("floor", ev.WagerPlaced, area, r.pause(300, 900), seat=seat, area=area, amount=amount)
    r.stakes[seat, area] = amount


def _do(r: Round, due: object, deck: Iterator[Card]) -> None:
    """One thing that is due."""
    match due:
        case Announce(what):
            r.add("floor", ev.Announced, "call", r.pause(900, 1600), what=what)
        case Deal(position, index, facing):
            drawn = Drawn(next(deck))
            draw_hand, place_hand = ("right", "right") if r.by_hand else ("left", "right")
            source = "hand" if r.by_hand else "manual_shoe"
            h = r.add(
                "shoe",
                ev.CardDrawn,
                "draw",
                r.pause(500, 800),
                card=drawn.card,
                source=source,
                hand=draw_hand,
            )
            h.card = drawn
            face = drawn.card if facing == "up" else UNSEEN
            h = r.add(
                "layout", ev.CardPlaced, "place", r.pause(250, 400), position=position, index=index, facing=facing,
                card=face, hand=place_hand,
            )  # fmt: skip
            h.card = drawn
            r.hands.setdefault(position, []).append((index, drawn))
        case Offer(area):
            for seat in r.seats:
                if r.random.random() < 0.3:
                    _wager(r, seat, area, r.stakes[seat, "ante"])
        case Turn(position, index):
            card = next(c.card for i, c in r.hands[position] if i == index)
            r.add(
                "layout", ev.CardTurned, "turn", r.pause(900, 1500), position=position, index=index, facing="up",
                by="dealer", card=card,
            )  # fmt: skip
        case Settle(areas):
            for seat in r.seats:
                _settle(r, seat, areas)


def _settle(r: Round, seat: Seat, areas: tuple[str, ...]) -> None:
    cards: list[tuple[Position, int, Card]] = [
        *((seat, i, c.card) for i, c in r.hands[seat]),
        *(("C", i, c.card) for i, c in r.hands.get("C", [])),
    ]
    outcome = worth([card for _, _, card in cards])
    on = tuple(ev.CardAt(p, i) for p, i, _ in cards)
    for area in areas:
        stake = r.stakes.get((seat, area))
        if stake is not None:
            r.add(
                "floor", ev.WagerSettled, "settle", r.pause(500, 1000), seat=seat, area=area, outcome=outcome,
                amount=stake, on=on,
            )  # fmt: skip


def worth(cards: list[Card]) -> str:
    """How a five-card stud hand fares: nothing is collected, sixes to tens are returned, more is paid."""
    ranks = [RANKS.index(c[0]) for c in cards]
    counts = sorted((ranks.count(x) for x in set(ranks)), reverse=True)
    if len({c[1] for c in cards}) == 1 or counts[0] >= 3 or counts[:2] == [2, 2]:
        return "paid"
    if counts[0] == 1:
        ordered = sorted(ranks)
        return "paid" if ordered[-1] - ordered[0] == 4 or ordered == [0, 1, 2, 3, 12] else "collected"
    pair = next(x for x in ranks if ranks.count(x) == 2)
    return "paid" if pair >= RANKS.index("J") else "returned" if pair >= RANKS.index("6") else "collected"


Mutation = Callable[[Round], None]
