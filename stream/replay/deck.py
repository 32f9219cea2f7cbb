"""Accounting of cards and decks: whether the deck dealt is known to be whole and shuffled, and which cards it held."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.cards import JOKER, UNSEEN, Card
from stream.rulebook.facts import Facts
from stream.rulebook.heard import Heard
from stream.rulebook.standing import DeckDoubt

SAID: Final[dict[DeckDoubt, str]] = {
    "sorted": "its last cycle sorted it",
    "incomplete": "its last shuffle cycle was not complete",
    "unshuffled": "no shuffle of it was seen since it was last dealt",
    "miscounted": "its last count was wrong",
}


def doubts(f: Facts) -> tuple[DeckDoubt, ...]:
    """What is wrong with the deck that the round's first card came from, as its shuffler told it."""
    load = f.dealt_from
    if load is None or f.closed is not None:
        return ()
    deck = f.decks.get(load.deck)
    out: list[DeckDoubt] = []
    if load.sorted:
        out.append("sorted")
    if load.shuffle in ("started", "failed") and f.sees("shuffler", "decks"):
        out.append("incomplete")
    elif load.shuffle == "none" and f.sees("shuffler", "decks"):
        out.append("unshuffled")
    if deck is not None and deck.count is not None and deck.count != f.size_of(load.deck):
        out.append("miscounted")
    return tuple(out)


def bypassed(f: Facts) -> Heard[ev.DeviceInstalled] | None:
    """A machine on the table that the round's first card, or the shuffle of its deck, went past."""
    if f.source != "auto_shoe" and "auto_shoe" in f.installed and "auto_shoe" not in f.doubted:
        return f.installed["auto_shoe"]
    deck = f.decks.get(f.deck) if f.deck else None
    if deck is not None and deck.method == "hand" and "shuffler" not in f.doubted:
        return f.installed.get("shuffler")
    return None


class Same(Struct, frozen=True):
    """Two draws of one deck that are one card by the reads of two events each, or a card that the deck has not."""

    deciding: Heard
    supporting: tuple[Heard, ...]
    foreign: bool


def impossible(f: Facts) -> Iterator[Same]:
    """Cards that can't be in one deck: twice the same, or a joker where there is none.

    No single read makes one: each of the two draws must have been read alike by two events.
    """
    known: dict[Card, tuple[Heard, ...]] = {}
    for _, reads in sorted(_reads(f).items()):
        card = _corroborated(reads)
        if card is None:
            continue
        if card == JOKER and f.deck is not None and f.size_of(f.deck) == 52:
            yield Same(reads[-1][0], tuple(h for h, _ in reads[:-1]), foreign=True)
        elif card in known:
            yield Same(reads[-1][0], (*known[card], *(h for h, _ in reads[:-1])), foreign=False)
        known.setdefault(card, tuple(h for h, _ in reads))


def _reads(f: Facts) -> dict[int, list[tuple[Heard, Card]]]:
    """What was read of each draw, by event."""
    out: dict[int, list[tuple[Heard, Card]]] = {}
    at: dict[tuple[str, int], int] = {}
    again = [h for h in f.placed.values() if h not in f.placements]
    reads: list[Heard[ev.CardDrawn | ev.CardPlaced | ev.CardTurned]] = [
        *f.draws.values(), *f.placements, *again, *f.turns,
    ]  # fmt: skip
    for h in reads:
        e = h.event
        if isinstance(e, ev.CardTurned):
            draw = at.get((e.position, e.index))
        else:
            draw = e.draw
            if isinstance(e, ev.CardPlaced) and e.draw is not None:
                at[e.position, e.index] = e.draw
        if draw is not None and e.card != UNSEEN:
            out.setdefault(draw, []).append((h, e.card))
    return out


def _corroborated(reads: list[tuple[Heard, Card]]) -> Card | None:
    """The card that two or more events read, and none read otherwise."""
    cards = {c for _, c in reads}
    return reads[0][1] if len(reads) > 1 and len(cards) == 1 else None
