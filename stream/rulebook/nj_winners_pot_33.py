"""Winner's Pot Poker, NJAC 13:69F-33.12: what counts as an irregularity in the deal, and what is then due.

Only this section is at hand. The order of the deal is the operator's: streets of one card to each hand, betting
rounds and burns, as the table's setting `streets` says; it is never cited.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import RANKS, UNSEEN
from stream.deal.verdicts import Cause, Scope
from stream.deal.words import SEATS, ButtonPlace, Facing, Kind, Position, Seat, Sense, Setting
from stream.rulebook.checks import LAWFUL, Checks, FirstDraw
from stream.rulebook.duties import (
    HAND_ENDS,
    OPEN,
    ROUND_ENDS,
    Duties,
    Duty,
    breached,
    given_back,
    next_draw_of,
    onward,
    over_reaction,
    remedied,
    reshuffle,
    settlements,
    shuffled_again,
    voids,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Advice, Finding, Fulfilment, Reading
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.marks import Up
from stream.rulebook.noting import successor
from stream.rulebook.steps import (
    Announce,
    Bet,
    Burn,
    Close,
    Deal,
    Departure,
    Due,
    Plan,
    Settle,
    Terms,
    Turn,
    Variant,
    hand_of,
)

_AREAS: Final = ("ante", "bet", "bonus")
_HOLE: Final = 2  # the first and the second card of a hand are its hole cards
_NUMBER: Final = {0: "No card was", 1: "One card was", 3: "Three cards were"}
_CLOCKWISE: Final[tuple[ButtonPlace, ...]] = (*SEATS, "D")


# --- the deal


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


def _streets(settings: Mapping[str, Setting]) -> Streets:
    return _parsed(str(settings["streets"]))


def _held_after(settings: Mapping[str, Setting], bets: int) -> int:
    """How many cards a hand has in the betting round that follows so many closed ones."""
    cards = closed = 0
    for sign in _streets(settings).signs:
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
        if hand not in held and len(_hole_ups(f, hand)) == _HOLE and _cards_at(f, hand, None) == _HOLE:
            held[hand] = _HOLE  # both up and no third: dead, called so or not
    return Terms(seats, first, tuple(sorted(held.items())))


def _cards_at(f: Facts, hand: Position, before: Heard | None) -> int:
    """How many cards were dealt to a hand; up to a moment, no more than to any other."""
    counts = _lie_at(f, before)
    mine = counts.get(hand, 0)
    others = [n for p, n in counts.items() if p != hand]
    if before is None:
        return mine
    if not others:
        return min(mine, 1)  # the first street has only begun
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


def _hole_ups(f: Facts, hand: Position) -> set[int]:
    third = next((h for h in f.placements if h.event.position == hand and h.event.index == _HOLE + 1), None)
    ups = (u for u in f.ups if u.position == hand and u.index <= _HOLE and u.by != "player")
    return {u.index for u in ups if third is None or u.heard < third}


def _name(hand: Position | None) -> str:
    return "the dealer's hand" if hand == "D" else str(hand)


def _at(button: ButtonPlace | None) -> str:
    return "the dealer" if button == "D" else str(button)


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
    faces = _streets(settings).faces
    street = bets = 0
    for sign in _streets(settings).signs:
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


def reading(d: Departure, f: Facts) -> Reading | None:
    """How a departure counts: an omission is a misdeal, a surplus voids the hand (I-33-df), a missed burn is (e)."""
    if d.part == "burn":
        if d.edit not in ("skipped", "lost"):
            return None  # a burn too many is judged as a card drawn in error
        step = f.explained.get(d.act.heard[1:4]) if d.act else None
        first = next(iter(_missed_burns(f)), None)
        return Reading() if first is None or step is None or step.street <= first else None
    hand = d.position or (d.act.lies if d.edit == "extra" and d.act else hand_of(d.step))
    if hand is None:
        return Reading() if d.edit in ("unplaced", "lost") else None
    if d.part == "order":
        return None
    if d.edit == "extra":
        return _surplus(hand, d.act.heard if d.act else None, f)
    if hand != "D" and f.setting("I-33-df") == "d" and d.edit in ("skipped", "variant"):
        return Reading(atom="33.12(d)", scope=Scope("hand", position=hand), interpretations=("I-33-df",))
    return Reading(interpretations=("I-33-df",) if d.edit in ("skipped", "variant") and hand != "D" else ())


def _surplus(hand: Position, act: Heard | None, f: Facts) -> Reading | None:
    """One card too many at a hand."""
    called = (h for h in f.voids if h.event.what in HAND_ENDS and h.event.position == hand)
    dead = any(act is None or h < act for h in called)
    in_deal = f.terms is not None and (hand == "D" or hand in f.terms.seats)
    if dead or f.terms is None or not in_deal or (hand in dict(f.terms.held) and len(_hole_ups(f, hand)) == _HOLE):
        return None  # to a hand that is dead: its own paragraph judges that; to no hand at all: no text here
    if hand != "D":
        return Reading(atom="33.12(d)", scope=Scope("hand", position=hand), interpretations=("I-33-df",))
    text: Cause | None = "text" if f.setting("I-33-dealer-extra") == "text" else None
    return Reading(cause=text, interpretations=("I-33-dealer-extra",))


def advice(_f: Facts) -> Iterator[Advice]:
    """Nothing beyond the text."""
    yield from ()


_checks: Final = Checks()
_duties: Final = Duties()
ATOMS: Final = _checks.atoms
CHECKS: Final = _checks.at
DUTIES: Final[Mapping[str, Duty]] = _duties.of_atom
CLOSES: Final[frozenset[type[ev.Event]]] = frozenset({ev.BettingClosed})


# --- (a), (h) cards exposed


def _card_of(f: Facts, position: Position, index: int) -> int:
    """Which card of the hand lies at a place: by the explained deal, else by the place."""
    for h in reversed(f.placements):
        e = h.event
        if isinstance(e, ev.CardPlaced) and (e.position, e.index) == (position, index):
            step = f.explained.get(h[1:4])
            return step.index if step is not None else index
    return index


def _third(f: Facts, hand: Position, before: Heard | None = None) -> Heard[ev.CardPlaced] | None:
    """The placement of a hand's third card (if it came before a moment)."""
    for h in [*f.placements, *f.later(f.placements[-1], ev.CardPlaced)] if f.placements else []:
        e = h.event
        assert isinstance(e, ev.CardPlaced)
        step = f.explained.get(h[1:4])
        index = step.index if step is not None else e.index
        if e.position == hand and index == _HOLE + 1 and (before is None or h < before):
            return h
    return None


def _exposures(f: Facts, hand: Position) -> list[Up]:
    """The hole cards of a hand that showed, each once, in order."""
    out: dict[int, Up] = {}
    for u in f.ups:
        card = _card_of(f, u.position, u.index)
        if u.position == hand and card <= _HOLE and not _revealed(f, u.heard):
            out.setdefault(card, u)
    return list(out.values())


@_checks.on(ev.CardPlaced, ev.CardTurned, atoms=["33.12(a)-1", "33.12(a)-2", "33.12(a)-3", "33.12(h)"])
def exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a), (h): a hole card of a hand shows before its time; by whom decides which paragraph governs (I-33-ah)."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position == "C":
        return LAWFUL
    if _revealed(f, h):
        return LAWFUL
    card = _card_of(f, e.position, e.index)
    faces = _streets(f.settings).faces
    if card > len(faces) or faces[card - 1] == "up":
        return LAWFUL
    if f.folding:
        return f.wait()
    return [replace(x, unless=_close_lost(f, h)) for x in _shown_early(f, h, e, card)]


def _close_lost(f: Facts, h: Heard) -> tuple[Absence, ...]:
    """Once all cards are dealt, the close of the last betting round may be what was not read."""
    if f.complete_at is None:
        return ()
    return (Absence("announcements", f.bets[-1].when if f.bets else f.complete_at.when, h.when),)


def _shown_early(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned, card: int) -> Sequence[Finding]:
    by = e.by if isinstance(e, ev.CardTurned) else "dealer"
    third = _third(f, e.position)
    dealing = card <= _HOLE and (third is None or h < third)
    hand = Scope("hand", position=e.position)
    if by == "player" or (by == "unknown" and not dealing):
        said = f"The player at {e.position} turned up" if by == "player" else "It was not seen who turned up"
        near = next((b for b in f.later(h, ev.BettingClosed) if unsure(b, h) and _is_last(f, b)), None)
        return [
            Finding(
                atom="33.12(h)", deciding=h, scope=hand, supporting=(near,) if near else (),
                cause="actor" if by != "player" else "order" if near else None,
                interpretations=("I-33-ah",), observed=f"{said} card {card} of that hand before the showdown.",
            )
        ]  # fmt: skip
    if card > _HOLE:
        return LAWFUL
    if by == "unknown":
        return [
            Finding(
                atom="33.12(a)-1", deciding=h, scope=hand, cause="actor", interpretations=("I-33-ah",),
                observed=f"Hole card {card} of {e.position} was turned up in the deal; by whom was not seen.",
            )
        ]  # fmt: skip
    ups = [u for u in _exposures(f, e.position) if u.by == "dealer"]
    others = (u for u in ups if _card_of(f, u.position, u.index) != card and _third(f, e.position, u.heard) is None)
    first = next(others, None)
    if any(_card_of(f, u.position, u.index) == card and u.heard < h for u in ups):
        return LAWFUL  # the same card shows once more
    if first is None:
        return _one_up(h, hand, card, third) if dealing else LAWFUL
    return _both_up(f, h, hand, first.heard, dealing=dealing)


def _one_up(h: Heard, hand: Scope, card: int, third: Heard | None) -> list[Finding]:
    said = f"Hole card {card} of {_name(hand.position)} showed its face in the deal."
    near = third is not None and unsure(h, third)
    return [
        Finding(
            atom="33.12(a)-1", deciding=h, scope=hand, cause="order" if near else None, interpretations=("I-33-ah",),
            observed=said,
        )
    ]  # fmt: skip


def _both_up(f: Facts, h: Heard, hand: Scope, first: Heard, *, dealing: bool) -> list[Finding]:
    """Both hole cards of a hand show; a bonus wager on it may be saved."""
    late: Cause | None = None if dealing or f.setting("I-33-deadlate") == "dead" else "text"
    reading = () if dealing else ("I-33-deadlate",)
    if hand.position == "D":
        reading = (*reading, "I-33-dealerdead")
    said = f"Both hole cards of {_name(hand.position)} showed their faces"
    said += "." if dealing else ", the second when the third card had been dealt."
    found = [
        Finding(
            atom="33.12(a)-2", deciding=h, supporting=(first,), scope=hand, cause=late, interpretations=reading,
            observed=said,
        )
    ]  # fmt: skip
    if late is None and _bonus(f, hand.position) and _wins(f, hand.position):
        found.append(
            Finding(
                atom="33.12(a)-3", deciding=h, supporting=(first,), follows=("33.12(a)-2",),
                scope=Scope("wager", position=hand.position, area="bonus"), interpretations=("I-33-a3",),
                observed=f"The two exposed cards of {hand.position} win its bonus wager.",
            )
        )  # fmt: skip
    return found


def _bonus(f: Facts, hand: Position | None) -> bool:
    return any(s == hand and a == "bonus" for s, a in f.wagers)


def _wins(f: Facts, hand: Position | None) -> bool | None:
    """Whether a dead hand's two cards win its bonus (I-33-a3); None where they were not read."""
    cards = [u.heard.event.card for u in _exposures(f, hand)] if hand is not None else []
    if len(cards) < _HOLE or UNSEEN in cards[:_HOLE]:
        return None
    a, b = (c[0] for c in cards[:_HOLE])
    return a == b and RANKS.index(a) >= RANKS.index(str(f.setting("bonus_lowest_pair")))


def _revealed(f: Facts, h: Heard) -> bool:
    """Whether the time has come at which the dealer turns the down cards: after the last betting round."""
    bets = _streets(f.settings).bets
    closed = f.rounds_bet
    if closed >= bets and f.bets and f.bets[-1] > h:
        closed = max((max(n, b.event.street) for n, b in enumerate(f.bets, 1) if b < h), default=0)
    return closed >= bets or _nobody_left(f)


def _is_last(f: Facts, b: Heard) -> bool:
    """Whether a betting round is the last one."""
    return f.rounds_bet + 1 == _streets(f.settings).bets and b not in f.bets


def _nobody_left(f: Facts) -> bool:
    seats = f.terms.seats if f.terms else ()
    return bool(seats) and all(s in f.folded for s in seats)


@_duties.of("33.12(a)-1")
def third_card_down(f: Facts, x: Finding) -> Fulfilment:
    """(a): the hand's third card is dealt face down; (a)-2 takes over where both cards show."""
    hand = x.scope.position
    assert hand is not None
    both = [u for u in _exposures(f, hand) if u.by == "dealer" and _third(f, hand, u.heard) is None]
    if len(both) == _HOLE:
        return Fulfilment(outcome="moot", by=(both[1].heard,), reason="Both hole cards showed: the hand is dead.")
    third = _third(f, hand)
    void = over_reaction(f, x.deciding, hand)
    if void is not None and (third is None or void < third):
        return breached(void, "The hand or the round was given up for it.")
    if third is not None:
        up = third.event.facing == "up"
        if up:
            return breached(third, "The third card of that hand was dealt face up.")
        return remedied(third, said="The third card of that hand was dealt face down.")
    if hand in f.folded or f.closed is not None:
        end = f.closed or x.deciding
        gap = None if hand in f.folded else Absence("placements", x.deciding.when, end.when)
        return Fulfilment(outcome="moot", reason="No third card was due to that hand any more.", absence=gap)
    return OPEN


@_duties.of("33.12(a)-2")
def dead_hand(f: Facts, x: Finding) -> Fulfilment:
    """(a): dead, called so before the next street; its cards to the rack, its wagers void but for a winning bonus."""
    hand = x.scope.position
    assert hand is not None
    called = voids(f, x.deciding, HAND_ENDS, hand)
    more = next(
        (p for p in f.later(x.deciding, ev.CardPlaced) if p.event.position == hand and not _moved(f, p)),
        None,
    )
    if more is not None:
        return breached(more, "The hand was dealt a further card.")
    street = next(
        (p for p in f.later(x.deciding, ev.CardPlaced) if _street(f, p) > max(_HOLE, _street(f, x.deciding))), None
    )
    if street is not None and (called is None or called > street):
        return breached(street, "The next street was begun and the hand had not been called dead.")
    ended = voids(f, x.deciding)
    if called is None and ended is not None:
        return Fulfilment(outcome="moot", by=(ended,), reason="The round was ended.")
    wrong = _dead_wager(f, x, hand)
    if wrong is not None:
        return breached(wrong, "A wager of the dead hand was won or lost.")
    racked = next((r for r in f.later(x.deciding, ev.CardsDiscarded) if r.event.position in (hand, None)), None)
    if called is None or racked is None:
        if f.closed is not None and f.sees("discards"):
            return breached(f.closed, "The hand was not called dead and racked.")
        return OPEN
    back = () if hand == "D" else given_back(f, x.deciding, hand)
    if hand != "D" and not back and _staked(f, hand):
        return OPEN
    return remedied(called, racked, *back, said="The hand was called dead and its two cards were racked.")


def _staked(f: Facts, hand: Position) -> bool:
    """Whether a hand still has a wager that a dead hand may not keep."""
    wins = _wins(f, hand) is True
    return any(
        s == hand and w.amount > 0 and not w.settled and not (a == "bonus" and wins) for (s, a), w in f.wagers.items()
    )


def _dead_wager(f: Facts, x: Finding, hand: Position) -> Heard | None:
    """A wager of the dead hand that was paid or collected; a bonus that wins, or may, is a matter of its own."""
    if hand == "D":
        return None
    for h in settlements(f, x.deciding, seat=hand):
        e = h.event
        assert isinstance(e, ev.WagerSettled)
        if e.outcome == "returned":
            continue
        wins = _wins(f, hand)
        if e.area == "bonus" and (wins is True or (wins is None and e.outcome == "paid")):
            continue
        return h
    return None


def _moved(f: Facts, p: Heard[ev.CardPlaced]) -> bool:
    """Whether a placement only moves a card that lay already."""
    draw = p.event.draw
    return draw is not None and p not in f.placements


def _street(f: Facts, p: Heard) -> int:
    step = f.explained.get(p[1:4])
    return step.street if step is not None else 0


@_duties.of("33.12(a)-3")
def bonus_settled(f: Facts, x: Finding) -> Fulfilment:
    """(a): a winning jacks plus bonus of a dead hand is paid all the same."""
    for h in f.later(x.deciding, ev.WagerSettled, ev.WagerRemoved):
        e = h.event
        if (e.seat, e.area) != (x.scope.position, "bonus"):
            continue
        if isinstance(e, ev.WagerSettled) and e.outcome == "paid":
            return remedied(h, said="The bonus was paid.")
        return breached(h, "The bonus was not paid.")
    return breached(f.closed, "The bonus was not paid.") if f.closed is not None else OPEN


@_duties.of("33.12(h)")
def stays_active(f: Facts, x: Finding) -> Fulfilment:
    """(h): the hand stays active and the round goes on."""
    hand = x.scope.position
    assert hand is not None
    void = over_reaction(f, x.deciding, hand)
    if void is not None:
        return breached(void, "The hand or the round was ended for it.")
    fold = next((d for d in f.decisions if d.event.seat == hand and d.event.act == "fold"), None)
    for h in f.later(x.deciding, ev.CardsCollected):
        taken = h.event.position == hand and (fold is None or fold > h)
        if taken and not _revealed(f, h) and f.ending is None:
            return breached(h, "The dealer took up the hand before the showdown.")
    if f.closed is not None and not _ended_otherwise(f):
        return remedied(f.closed, said="The hand stayed in play.")
    return OPEN


# --- (b) cards face up in the source


@_checks.on(ev.CardDrawn, ev.CardSeen, atoms=["33.12(b)-1", "33.12(b)-2", "33.12(b)-3"])
def boxed(f: Facts, h: Heard) -> Sequence[Finding]:
    """(b): a card face up in the shoe or the deck: one, more than one, or found after the last card."""
    if not f.boxed or f.boxed[-1] is not h or f.first_draw is None:
        return LAWFUL
    if f.folding:
        return f.wait()
    said = "A card was found face up in the source."
    last = f.completes
    if last is not None and h > last and f.complete_at is not None:
        if any(_deciding_b3(f, b) for b in f.boxed[:-1]):
            return LAWFUL
        return [
            Finding(
                atom="33.12(b)-3", deciding=h, supporting=(last,), observed=said[:-1] + " after all cards were dealt."
            )
        ]
    during = [b for b in f.boxed if last is None or b < last or f.complete_at is None]
    unknown: Cause | None = "order" if last is not None and unsure(last, h) else None
    if len(during) == 1:
        return [Finding(atom="33.12(b)-1", deciding=h, observed=said, cause=unknown)]
    return [
        Finding(
            atom="33.12(b)-2", deciding=h, supporting=tuple(during[:-1]), cause=unknown,
            observed=f"{len(during)} cards of the round were found face up in the source.",
        )
    ]  # fmt: skip


def _deciding_b3(f: Facts, b: Heard) -> bool:
    return f.completes is not None and b > f.completes


def _draw_of(f: Facts, h: Heard) -> int | None:
    """Which draw a card found face up is, where that is known."""
    e = h.event
    assert isinstance(e, ev.CardDrawn | ev.CardSeen)
    if e.draw is not None:
        return e.draw
    drawn = next((d for d in f.later(h, ev.CardDrawn) if d.event.face_up), None)
    return drawn.event.draw if drawn is not None else None


@_duties.of("33.12(b)-1")
def racked_unused(f: Facts, x: Finding) -> Fulfilment:
    """(b): the card goes to the rack, and the next one takes its place."""
    draw = _draw_of(f, x.deciding)
    second = next((b for b in f.boxed if b > x.deciding and (f.completes is None or b < f.completes)), None)
    for h in _used(f, x.deciding):
        e = h.event
        mine = e.draw == draw if draw is not None else isinstance(e, ev.CardsDiscarded) and e.draw is not None
        if not mine:
            continue
        if second is not None and h > second:
            break
        if isinstance(e, ev.CardsDiscarded):
            void = over_reaction(f, x.deciding, None) if len(f.boxed) == 1 else None
            if void is not None:
                return breached(void, "The round was voided for a single card.")
            return remedied(h, said="It went to the discard rack.")
        return breached(h, "It was used, or put back.")
    void = over_reaction(f, x.deciding, None) if len(f.boxed) == 1 else None
    if void is not None:
        return breached(void, "The round was voided for a single card.")
    if second is not None:
        return Fulfilment(outcome="moot", by=(second,), reason="A second card was found face up.")
    if f.closed is not None:
        return breached(
            f.closed, "It was not seen to go to the discard rack.", absence=_absent("discards", x, f.closed)
        )
    return OPEN


_Use = ev.CardPlaced | ev.CardBurned | ev.CardReturned | ev.CardsDiscarded


def _used(f: Facts, after: Heard) -> list[Heard[_Use]]:
    """What was done with cards that had left the source, after a moment and in order."""
    return sorted(
        [*f.later(after, ev.CardPlaced, ev.CardBurned), *f.later(after, ev.CardReturned, ev.CardsDiscarded)],
        key=lambda h: h[:4],
    )


def _absent(sense: Sense, x: Finding, end: Heard) -> Absence:
    return Absence(sense, x.deciding.when, end.when)


@_duties.of("33.12(b)-2")
def all_void_and_reshuffled(f: Facts, x: Finding) -> Fulfilment:
    """(b): all hands are void, and the deck is shuffled before it is dealt again."""
    return _ended_and_reshuffled(f, x, goes_on=(ev.CardPlaced, ev.PlayerDecided))


@_duties.of("33.12(f)")
def misdeal_and_reshuffled(f: Facts, x: Finding) -> Fulfilment:
    """(f): a misdeal: every wager is void, the cards are collected for a reshuffle."""
    return _ended_and_reshuffled(f, x, goes_on=(ev.PlayerDecided,))


def _ended_and_reshuffled(f: Facts, x: Finding, *, goes_on: tuple[type[ev.AnyEvent], ...]) -> Fulfilment:
    """The round is ended before anything shows that it goes on, every wager goes back, the deck is shuffled."""
    void = voids(f, x.deciding) or next((v for v in f.voids if v.event.what in ROUND_ENDS), None)
    moved = {h[1:4] for h in f.later(x.deciding, ev.CardPlaced) if _moved(f, h)}
    on = next((h for h in f.after(x.deciding) if isinstance(h.event, goes_on) and h[1:4] not in moved), None)
    if on is not None and (void is None or on < void):
        return breached(on, "Play went on.")
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    if void is None and not (f.closed is not None and given_back(f, x.deciding)):
        return breached(f.closed, "The round was closed and no misdeal was declared.") if f.closed is not None else OPEN
    return reshuffle(f, f.deck, x.deciding)


@_duties.of("33.12(b)-3")
def settled_all_the_same(f: Facts, x: Finding) -> Fulfilment:
    """(b): found after the last card, it changes nothing: the wagers are settled."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The round was voided.")
    settled = won_or_lost(settlements(f, x.deciding))
    if settled is not None:
        return remedied(settled, said="The wagers were settled.")
    if f.closed is not None:
        back = given_back(f, x.deciding)
        if back:
            return breached(back[0], "The wagers were given back.")
        return Fulfilment(outcome="moot", reason="No wager was left to settle.")
    return OPEN


# --- (c) cards drawn in error


@_checks.on(ev.CardDrawn, atoms=["33.12(c)"])
def drawn_in_error(f: Facts, h: Heard) -> Sequence[Finding]:
    """(c): a card leaves the source when none is due: a betting round is open, or the deal is over."""
    e = h.event
    assert isinstance(e, ev.CardDrawn)
    if e.face_up or not f.sees("placements"):
        return LAWFUL
    step = f.step_of(e.draw)
    if step is not None and step.gate <= f.rounds_bet and step.position != "gate":
        return LAWFUL
    if f.folding:
        return f.wait()
    if e.draw not in f.steps and any(p.event.draw == e.draw for p in f.later(h, ev.CardPlaced, ev.CardBurned)):
        return LAWFUL  # a card too many at a hand, or in the rack, is judged there
    due = step or next((f.steps[d] for d in sorted(f.steps) if d > e.draw), None)
    if any(v.event.what in ROUND_ENDS for v in f.voids):
        return LAWFUL
    if due is not None and due.gate <= f.rounds_bet:
        return LAWFUL
    if step is not None and _used_before_close(f, h, e.draw):
        return (
            LAWFUL  # the next street is dealt: the close of the betting was not read, or is no matter of this section
        )
    early = f.later(h, ev.BettingClosed)
    near = next((b for b in early if unsure(b, h)), None)
    seen = any(s.event.draw == e.draw and s.event.place == "drawn" for s in f.later(h, ev.CardSeen))
    text: Cause | None = (
        "text" if (due is None and f.complete_at is not None) or (seen and f.setting("I-33-cexp") == "text") else None
    )
    readings = ("I-33-cexp",) if seen else ("I-33-cnext",)
    since = f.bets[-1].when if f.bets else f.first_draw.when if f.first_draw else h.when
    return [
        Finding(
            atom="33.12(c)", deciding=h, scope=Scope("card", draw=e.draw), interpretations=readings,
            cause="order" if near and text is None else text, supporting=(near,) if near else (),
            absence=Absence("announcements", since, h.when),
            observed=f"Draw {e.draw} left the source when no card was due.",
        )
    ]  # fmt: skip


def _used_before_close(f: Facts, h: Heard, draw: int) -> bool:
    """Whether a card went to its place in the deal and no betting round was closed in between."""
    use = next((p for p in f.later(h, ev.CardPlaced, ev.CardBurned) if p.event.draw == draw), None)
    close = next(f.later(h, ev.BettingClosed), None)
    return use is not None and (close is None or use < close)


@_checks.on(ev.CardBurned, atoms=["33.12(c)", "33.12(e)"])
def burned_in_error(f: Facts, h: Heard) -> Sequence[Finding]:
    """(c): one burn too many is a card drawn in error (I-33-extraburn)."""
    e = h.event
    assert isinstance(e, ev.CardBurned)
    if f.folding or e.draw is None:
        return LAWFUL  # the engine itself asks whether a burn is due
    step = f.steps.get(e.draw)
    if isinstance(step, Burn):
        first = next((p for p in f.placements if _street(f, p) == step.street), None)
        if first is None or not unsure(first, h):
            return LAWFUL
        said = "The first card of a street and the burn before it came so close that their order is not known."
        return [Finding(atom="33.12(e)", deciding=first, supporting=(h,), cause="order", observed=said)]
    if _missed_burns(f):
        return LAWFUL
    drawn = f.draws.get(e.draw)
    if drawn is None or drawn in f.boxed or _early(f, drawn):
        return LAWFUL
    return [
        Finding(
            atom="33.12(c)", deciding=h, scope=Scope("card", draw=e.draw), interpretations=("I-33-extraburn",),
            observed=f"Draw {e.draw} was burned, and no burn was due.",
        )
    ]  # fmt: skip


def _early(f: Facts, drawn: Heard) -> bool:
    """Whether a draw was found in error already."""
    if not f.placements:
        return False
    return len([b for b in f.bets if b < drawn]) < len([b for b in f.bets if b < f.placements[-1]]) and any(
        b > drawn and b < f.placements[-1] for b in f.bets
    )


@_duties.of("33.12(c)")
def used_as_next(f: Facts, x: Finding) -> Fulfilment:
    """(c): that card is the next one used, for whatever the next card is due."""
    draw = x.scope.draw
    void = voids(f, x.deciding)
    for h in _used(f, x.deciding):
        if void is not None and void < h:
            break
        e = h.event
        number = e.draw
        if isinstance(e, ev.CardsDiscarded | ev.CardReturned):
            if number == draw:
                return breached(h, "It was not used.")
        elif number == draw:
            return remedied(h, said="It was used as the next card.")
        else:
            return breached(h, "Another card was used before it.")
    if over_reaction(f, x.deciding, None) is not None and void is not None:
        return breached(void, "The round was given up for it.")
    if f.closed is not None and void is None:
        return breached(f.closed, "It was not used.")
    return OPEN


# --- (d) a surplus, (e) a missed burn


@_duties.of("33.12(d)")
def hand_void(f: Facts, x: Finding) -> Fulfilment:
    """(d): that hand is void: its wagers are neither won nor lost."""
    hand = x.scope.position
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The whole round was given up for it.")
    if _ended_otherwise(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    if back and not (hand and _staked(f, hand)):
        return remedied(*back, said="Its wagers were given back.")
    return OPEN


def _ended_otherwise(f: Facts) -> bool:
    """Whether the round was ended for a cause of its own: what else was due in it is moot."""
    return f.ending is not None and any(v.event.what in ROUND_ENDS for v in f.voids)


def _missed_burns(f: Facts) -> list[int]:
    """The streets that were begun without the burn that was due before them."""
    plan = {s.street for s in f.plan if isinstance(s, Burn)}
    done = {s.street for s in f.steps.values() if isinstance(s, Burn)}
    begun = {s.street for s in f.steps.values() if isinstance(s, Deal)}
    undrawn = {s.street for s in f.explained.values() if isinstance(s, Burn)}
    return sorted((plan - done - undrawn) & begun)


@_duties.of("33.12(e)")
def two_burns_next(f: Facts, x: Finding) -> Fulfilment:
    """(e): the street is dealt all the same, and two cards are burned before the next one."""
    street = _street(f, x.deciding)
    following = next((p for p in f.later(x.deciding, ev.CardPlaced) if _street(f, p) > street > 0), None)
    void = over_reaction(f, x.deciding, None)
    if void is not None and (following is None or void < following):
        return breached(void, "The round was stopped for it.")
    burns = [b for b in f.later(x.deciding, ev.CardBurned) if following is None or b < following]
    if following is None:
        if f.closed is not None or street >= max((s.street for s in f.plan), default=0):
            return Fulfilment(outcome="moot", reason="No street was left before which to burn.") if f.closed else OPEN
        return OPEN
    if len(burns) == 2:  # the number that (e) names
        return remedied(*burns, said="Two cards were burned before the next street.")
    said = f"{_NUMBER.get(len(burns), 'More than three cards were')} burned before the next street."
    return Fulfilment(
        outcome="breached", by=(following, *burns), said=said, absence=Absence("burns", x.deciding.when, following.when)
    )


# --- (g) the button


@_checks.on(FirstDraw, atoms=["33.12(g)"])
def button_moved(f: Facts, h: Heard) -> Sequence[Finding]:
    """(g): the button stands with the next player when the round is dealt."""
    if f.astray is None:
        return LAWFUL
    moves = (m for m in f.later(h, ev.ButtonMoved) if unsure(m, h))
    near = next((m for m in moves if m.event.to == f.astray), None)
    return [
        Finding(
            atom="33.12(g)", deciding=h, interpretations=("I-33-g",), cause="order" if near else None,
            supporting=(near,) if near else (),
            observed=f"The round was dealt with the button at {_at(f.button)}; it was due at {_at(f.astray)}.",
            absence=Absence("button", 0, h.when),
            unless=(Absence("wagers", 0, h.when),),
        )
    ]  # fmt: skip


@_duties.of("33.12(g)")
def moved_next_time(f: Facts, x: Finding) -> Fulfilment:
    """(g): the round goes on as if the button had been moved; in the next it is moved on from there."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The round was stopped for it.")
    if _ended_otherwise(f):
        return OPEN
    button, fiction, real = f.button, f.astray, f.button_then
    seats: set[Seat] = set()
    for h in f.beyond:
        e = h.event
        if isinstance(e, ev.ButtonMoved):
            button = e.to
        elif isinstance(e, ev.RoundOpened):
            seats = set()
        elif isinstance(e, ev.WagerPlaced) and e.area == "ante":
            seats.add(e.seat)
        elif isinstance(e, ev.CardDrawn):
            return _rotated(f, h, button, fiction, real, tuple(sorted(seats)))
    return Fulfilment(outcome="open", pending=True)


def _rotated(
    f: Facts,
    h: Heard,
    button: ButtonPlace | None,
    fiction: ButtonPlace | None,
    real: ButtonPlace | None,
    seats: tuple[Seat, ...],
) -> Fulfilment:
    if fiction is not None and button == successor(fiction, seats):
        return remedied(h, said=f"In the next round it stood at {_at(button)}, as if it had been moved.")
    if real is not None and button == successor(real, seats) and f.setting("I-33-g") == "accept_real":
        return Fulfilment(
            outcome="remedied", by=(h,), severity="minor", said=f"In the next round it was moved on, to {_at(button)}."
        )
    return breached(h, f"In the next round it stood at {_at(button)}.")


# --- (i), (j), (k) machines


@_checks.on(ev.ShuffleJammed, ev.ShuffleStopped, ev.ShuffleAborted, atoms=["33.12(i)"])
def shuffler_stopped(f: Facts, h: Heard) -> Sequence[Finding]:
    """(i): the shuffler jams, stops, or does not end its cycle."""
    e = h.event
    assert isinstance(e, ev.ShuffleJammed | ev.ShuffleStopped | ev.ShuffleAborted)
    facts = f.decks.get(e.deck)
    if facts is not None and facts.method == "hand":
        return LAWFUL
    if f.folding:
        return f.wait()
    if facts is not None and facts.troubled is not h:
        return LAWFUL  # it had failed before, and that is not yet made good
    said = f"The shuffle of deck {e.deck} was not completed."
    return [_reshuffle_due(e.deck, h, said)]


@_checks.on(ev.DeckLoaded, atoms=["33.12(i)"])
def loaded_unshuffled(f: Facts, h: Heard) -> Sequence[Finding]:
    """(i): a deck is loaded to be dealt whose cycle never began, is not complete, or only sorted it."""
    e = h.event
    assert isinstance(e, ev.DeckLoaded)
    load = f.loads.get(e.into)
    facts = f.decks.get(e.deck)
    if e.into == "shuffler" or load is None or (load.shuffle == "completed" and not load.sorted):
        return LAWFUL
    if (facts is not None and facts.troubled is not None) or (
        facts is not None and facts.method == "hand" and not load.sorted
    ):
        return LAWFUL  # told when it failed; or shuffled by hand
    if f.folding:
        return f.wait()
    if _in_reshuffle(f, e.deck):
        return LAWFUL
    said = f"Deck {e.deck} was loaded " + (
        "after a sort cycle." if load.sorted else "and its shuffle cycle was not complete."
    )
    return [_reshuffle_due(e.deck, h, said, absence=Absence("shuffler", 0, h.when))]


def _in_reshuffle(f: Facts, deck: str) -> bool:
    """Whether a reshuffle of this deck is due already, since a round of it was ended; or the round goes on."""
    facts = f.decks.get(deck)
    return (facts is not None and facts.voided) or (f.deck == deck and f.closed is None)


def _reshuffle_due(deck: str, h: Heard, said: str, absence: Absence | None = None) -> Finding:
    scope = Scope("deck", deck=deck)
    return Finding(
        atom="33.12(i)", deciding=h, scope=scope, deck=deck, observed=said, absence=absence, interpretations=("I-33-i",)
    )


@_duties.of("33.12(i)")
def shuffled_anew(f: Facts, x: Finding) -> Fulfilment:
    """(i): a new cycle is completed before a card of that deck is dealt (I-33-i)."""
    deck = x.scope.deck
    draw = next_draw_of(f, deck, x.deciding)
    ends = [c for c in onward(f, x.deciding, ev.ShuffleCompleted) if c.event.deck == deck]
    near = next((c for c in ends if draw is not None and c > draw and unsure(c, draw)), None)
    if near is not None and draw is not None:
        return Fulfilment(outcome="breached", by=(draw, near), cause="order", said="It was dealt as the shuffle ended.")
    anew = shuffled_again(f, deck, x.deciding, draw)
    if anew is None and f.setting("I-33-i") == "any_cycle":
        anew = next((h for h in ends if draw is None or h < draw), None)
    if anew is not None:
        return remedied(anew, said="It was shuffled anew.")
    if draw is not None:
        return breached(
            draw,
            "It was dealt and had not been shuffled anew.",
            absence=Absence("shuffler", x.deciding.when, draw.when),
        )
    return Fulfilment(outcome="open", pending=True)


@_checks.on(ev.ShoeJammed, ev.ShoeStopped, atoms=["33.12(j)"])
def auto_shoe_stopped(f: Facts, h: Heard) -> Sequence[Finding]:
    """(j): an automated dealing shoe jams or stops during a round (I-33-round, I-33-j)."""
    e = h.event
    assert isinstance(e, ev.ShoeJammed | ev.ShoeStopped)
    if e.source != "auto_shoe" or f.round is None or f.closed is not None:
        return LAWFUL
    if f.first_draw is None and f.setting("I-33-round") == "first_card":
        return LAWFUL
    if f.folding:
        return f.wait()
    done = f.complete_at is not None
    if done and f.setting("I-33-j") == "settle":
        return LAWFUL
    readings = ("I-33-j", "I-33-round") if done else ("I-33-round",)
    near = f.first_draw is not None and unsure(f.first_draw, h)
    return [
        Finding(
            atom="33.12(j)", deciding=h, interpretations=readings, cause="order" if near else None,
            observed="The automated shoe " + ("jammed." if isinstance(e, ev.ShoeJammed) else "stopped dealing."),
        )
    ]  # fmt: skip


@_duties.of("33.12(j)")
def round_void(f: Facts, x: Finding) -> Fulfilment:
    """(j): the round is void; the cards come out of the device and are shuffled with those dealt."""
    return _ended_and_reshuffled(f, x, goes_on=(ev.CardPlaced, ev.PlayerDecided, ev.CardDrawn))


@_checks.on(ev.CardDrawn, atoms=["33.12(k)"])
def other_dealing(f: Facts, h: Heard) -> Sequence[Finding]:
    """(k): no other method of dealing while an automated dealing shoe is on the table."""
    e = h.event
    assert isinstance(e, ev.CardDrawn)
    kinds: tuple[Kind, ...] = ("auto_shoe", "shuffler") if f.setting("I-33-k") == "any" else ("auto_shoe",)
    machines = [f.installed[k] for k in kinds if k in f.installed]
    if e.source == "auto_shoe" or not machines:
        return LAWFUL
    if any(d is not h and d.event.source == e.source for d in f.draws.values()):
        return LAWFUL  # told at the first card from there
    return [_still_there(f, h, m, f"dealt from {_SOURCE[e.source]}") for m in machines]


_SOURCE: Final = {"manual_shoe": "a manual shoe", "hand": "the hand", "auto_shoe": "an automated shoe"}


@_checks.on(ev.ShuffleStarted, atoms=["33.12(k)"])
def other_shuffling(f: Facts, h: Heard) -> Sequence[Finding]:
    """(k): no other method of shuffling while an automated shuffler is on the table."""
    e = h.event
    assert isinstance(e, ev.ShuffleStarted)
    machines = [f.installed.get("shuffler")]
    if f.setting("I-33-k") == "any":
        machines.append(f.installed.get("auto_shoe"))
    if e.method != "hand":
        return LAWFUL
    return [_still_there(f, h, m, "shuffled by hand") for m in machines if m is not None]


def _still_there(f: Facts, h: Heard, machine: Heard, how: str) -> Finding:
    e = machine.event
    assert isinstance(e, ev.DeviceInstalled)
    name = e.asset or e.kind
    gone = (r for r in f.later(h, ev.DeviceRemoved) if r.event.kind == e.kind)
    near = next((r for r in gone if unsure(r, h)), None)
    return Finding(
        atom="33.12(k)", deciding=h, cause="order" if near else None,
        absence=Absence("installations", machine.when, h.when),
        supporting=(machine,) if near is None else (machine, near), scope=Scope("device", device=name),
        interpretations=("I-33-k",),
        observed=f"Cards were {how} while {name} was still on the table.",
    )  # fmt: skip
