"""What the rules ask of the cards of a round: which card of a hand lies where, what showed, what was left out."""

from stream.deal import events as ev
from stream.deal.cards import RANKS, UNSEEN
from stream.deal.words import Position
from stream.rulebook.facts import Facts
from stream.rulebook.heard import Heard
from stream.rulebook.marks import Up
from stream.rulebook.nj_winners_pot_33.deal import HOLE
from stream.rulebook.nj_winners_pot_33.phase import revealed
from stream.rulebook.steps import Burn, Deal


def hand_name(hand: Position | None) -> str:
    """A hand as a sentence names it."""
    return "the dealer's hand" if hand == "D" else str(hand)


def card_of(f: Facts, position: Position, index: int) -> int:
    """Which card of the hand lies at a place: by the explained deal, else by the place."""
    for h in reversed(f.placements):
        e = h.event
        if isinstance(e, ev.CardPlaced) and (e.position, e.index) == (position, index):
            step = f.explained.get(h[1:4])
            return step.index if step is not None else index
    return index


def third_card(f: Facts, hand: Position, before: Heard | None = None) -> Heard[ev.CardPlaced] | None:
    """The placement of a hand's third card (if it came before a moment)."""
    for h in [*f.placements, *f.later(f.placements[-1], ev.CardPlaced)] if f.placements else []:
        e = h.event
        assert isinstance(e, ev.CardPlaced)
        step = f.explained.get(h[1:4])
        index = step.index if step is not None else e.index
        if e.position == hand and index == HOLE + 1 and (before is None or h < before):
            return h
    return None


def exposures(f: Facts, hand: Position) -> list[Up]:
    """The hole cards of a hand that showed, each once, in order."""
    out: dict[int, Up] = {}
    for u in f.ups:
        card = card_of(f, u.position, u.index)
        if u.position == hand and card <= HOLE and not revealed(f, u.heard):
            out.setdefault(card, u)
    return list(out.values())


def bonus_wins(f: Facts, hand: Position | None) -> bool | None:
    """Whether a dead hand's two cards win its bonus (I-33-a3); None where they were not read."""
    cards = [u.heard.event.card for u in exposures(f, hand)] if hand is not None else []
    if len(cards) < HOLE or UNSEEN in cards[:HOLE]:
        return None
    a, b = (c[0] for c in cards[:HOLE])
    return a == b and RANKS.index(a) >= RANKS.index(str(f.setting("bonus_lowest_pair")))


def still_staked(f: Facts, hand: Position) -> bool:
    """Whether a hand still has a wager that a dead hand may not keep."""
    wins = bonus_wins(f, hand) is True
    return any(
        s == hand and w.amount > 0 and not w.settled and not (a == "bonus" and wins) for (s, a), w in f.wagers.items()
    )


def street_of(f: Facts, p: Heard) -> int:
    """The street that a card was dealt in; 0 where it was none."""
    step = f.explained.get(p[1:4])
    return step.street if step is not None else 0


def missed_burns(f: Facts) -> list[int]:
    """The streets that were begun without the burn that was due before them."""
    plan = {s.street for s in f.plan if isinstance(s, Burn)}
    done = {s.street for s in f.steps.values() if isinstance(s, Burn)}
    begun = {s.street for s in f.steps.values() if isinstance(s, Deal)}
    undrawn = {s.street for s in f.explained.values() if isinstance(s, Burn)}
    return sorted((plan - done - undrawn) & begun)
