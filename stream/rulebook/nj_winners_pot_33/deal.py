"""The deal of Winner's Pot Poker as the operator plans it: streets of one card a hand, betting rounds, burns.

Only section 33.12 is at hand, and it orders no deal: the plan is the table's setting `streets`, and is never cited.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from stream.deal import events as ev
from stream.deal.words import SEATS, ButtonPlace, Facing, Position, Seat, Sense, Setting
from stream.rulebook.duties import HAND_ENDS, ROUND_ENDS
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Advice
from stream.rulebook.heard import Heard
from stream.rulebook.noting import successor
from stream.rulebook.steps import Announce, Bet, Burn, Close, Deal, Due, Plan, Settle, Terms, Turn, Variant

_AREAS: Final = ("ante", "bet", "bonus")
HOLE: Final = 2  # the first and the second card of a hand are its hole cards
_CLOCKWISE: Final[tuple[ButtonPlace, ...]] = (*SEATS, "D")


class Streets(NamedTuple):
    """The setting `streets`: sign by sign (`d`, `u` a street, `*` a burn, `b` a betting round), and what follows."""

    signs: str
    faces: tuple[Facing, ...]  # how the card of each street lies
    bets: int


@cache
def _parsed(streets: str) -> Streets:
    signs = streets.replace("bet", "b").replace(" ", "")
    faces: tuple[Facing, ...] = tuple("down" if sign == "d" else "up" for sign in signs if sign in "du")
    return Streets(signs, faces, signs.count("b"))


def streets_of(settings: Mapping[str, Setting]) -> Streets:
    """The streets of a table, as its setting says."""
    return _parsed(str(settings["streets"]))


def _held_after(settings: Mapping[str, Setting], bets: int) -> int:
    """How many cards a hand has in the betting round that follows so many closed ones."""
    cards = closed = 0
    for sign in streets_of(settings).signs:
        if sign in "du":
            cards += 1
        elif sign == "b":
            if closed == bets:
                return cards
            closed += 1
    return cards


def terms(f: Facts) -> Terms:
    """The hands in the deal, where it begins, and which of them get no more cards."""
    seats = f.terms.seats if f.terms else f.staked("ante")
    first: Position | None = None
    if f.setting("deal_start") == "button" and f.turn is not None:
        first = successor(f.turn, seats)
    held: dict[Position, int] = {s: _held_after(f.settings, n) for s, n in f.folded.items()}
    for h in f.voids:
        e = h.event
        if isinstance(e, ev.Announced) and e.what in HAND_ENDS and e.position is not None:
            dead = e.what == "hand_dead"  # called for what shows, not for a wrong number
            held.setdefault(e.position, _lie_at(f, h).get(e.position, 0) if dead else _cards_at(f, e.position, h))
    ended = next((v for v in f.voids if v.event.what in ROUND_ENDS), None)
    for hand, taken in f.taken.items():
        if ended is not None and taken > ended:
            continue
        held.setdefault(hand, _cards_at(f, hand, taken))
    hands: tuple[Position, ...] = (*seats, "D")
    for hand in hands:
        if hand not in held and len(hole_ups(f, hand)) == HOLE and _cards_at(f, hand, None) == HOLE:
            held[hand] = HOLE  # both up and no third: dead, called so or not
    return Terms(seats, first, tuple(sorted(held.items())))


def _cards_at(f: Facts, hand: Position, before: Heard | None) -> int:
    """How many cards were dealt to a hand; up to a moment, no more than to any other that was in play then."""
    counts = _lie_at(f, before)
    mine = counts.get(hand, 0)
    if before is None:
        return mine
    took = before.event
    if isinstance(took, ev.CardsCollected) and took.count > mine:
        return took.count  # the dealer took up more than were seen to be placed there
    out = {*f.folded, *(p for p, taken in f.taken.items() if taken < before)}
    others = [n for p, n in counts.items() if p != hand and p not in out]
    if not others:
        return mine if len(counts) > 1 else min(mine, 1)  # alone at the table, or the first street has only begun
    if len(set(others)) == 1:
        return others[0]  # the street was complete
    return min(mine, max([n for n in others if others.count(n) > 1] or others))


def _lie_at(f: Facts, before: Heard | None) -> dict[Position, int]:
    """How many cards had been dealt to each position before a moment."""
    counts: dict[Position, int] = {}
    for h in f.placements:
        if before is None or h < before:
            counts[h.event.position] = counts.get(h.event.position, 0) + 1
    return counts


def hole_ups(f: Facts, hand: Position) -> set[int]:
    """Which hole cards of a hand showed before its third card, not by the player."""
    third = next((h for h in f.placements if h.event.position == hand and h.event.index == HOLE + 1), None)
    ups = (u for u in f.ups if u.position == hand and u.index <= HOLE and u.by != "player")
    return {u.index for u in ups if third is None or u.heard < third}


def had_wager(seat: Seat, f: Facts) -> bool:
    """Whether later acts show that a seat dealt to had a wager whose placing was not read."""
    return (
        seat in f.decided
        or any(s == seat for s, _ in f.wagers)
        or any(isinstance(h.event, ev.WagerSettled) and h.event.seat == seat for h in f.settled)
    )


def _order(on: Terms) -> list[Position]:
    """The hands clockwise from the first, the dealer's in its place."""
    hands: list[Position] = [*on.seats, "D"]
    start = hands.index(on.first) if on.first in hands else 0
    return hands[start:] + hands[:start]


def procedure(on: Terms, settings: Mapping[str, Setting]) -> Iterator[Due]:
    """The operator's plan from the first call to settlement; 33.12 alone is law here."""
    yield Announce("no_more_bets")
    held = dict(on.held)
    faces = streets_of(settings).faces
    street = bets = 0
    for sign in streets_of(settings).signs:
        most = max((held.get(s, len(faces)) for s in on.seats), default=0)
        if most < street + (sign != "b"):
            break  # nobody is left to deal to, or to bet
        if sign == "b":
            bets += 1
            yield Bet(bets)
            yield Close(bets, street)
        elif sign == "*":
            yield Burn(street + 1, bets)
        else:
            street += 1
            for hand in _order(on):
                if held.get(hand, len(faces)) >= street:
                    yield Deal(hand, street, faces[street - 1], "hand", street=street, any_face=True, gate=bets)
    for hand in (*reversed(_CLOCKWISE),):
        for index, face in enumerate(faces, 1):
            if face == "down" and hand in ("D", *on.seats) and held.get(hand, len(faces)) == len(faces):
                yield Turn(hand, index)
    yield Settle(_AREAS)


def variants(plan: Plan, on: Terms, _seats: int) -> Iterator[Variant]:
    """A deal that began at another hand and was carried round; a hand left out of it all."""
    hands = _order(on)
    streets = [s for s in plan if isinstance(s, Deal)]
    for first in range(1, len(hands)):
        order = hands[first:] + hands[:first]
        yield Variant(f"from_{order[0]}", "order", _resorted(plan, order), cost="rotated")
    for hand in hands:
        if sum(s.position == hand for s in streets) > 1:
            rest = tuple(s for s in plan if s.position != hand)
            yield Variant(f"without_{hand}", "hand", rest, hand, f"No card was dealt to {hand}.")


def _resorted(plan: Plan, order: list[Position]) -> Plan:
    """The same steps, each street from another hand on."""
    place = {hand: i for i, hand in enumerate(order)}
    return tuple(sorted(plan, key=lambda s: (_rank(plan, s), place.get(s.position, 0) if isinstance(s, Deal) else 0)))


def _rank(plan: Plan, step: object) -> int:
    """Where a step's street, or the step itself, begins in the plan."""
    for i, s in enumerate(plan):
        if s is step or (isinstance(s, Deal) and isinstance(step, Deal) and s.street == step.street):
            return i
    return len(plan)


def advice(_f: Facts) -> Iterator[Advice]:
    """Nothing beyond the text."""
    yield from ()


CLOSES: Final[frozenset[type[ev.Event]]] = frozenset({ev.BettingClosed})
DEAL_RESTS_ON: Final[tuple[Sense, ...]] = ("decisions", "announcements")
"""Senses whose lost reports can change who is due a card; beside the wagers, which the engine looks at."""
