"""Double Down Stud, NJAC 13:69F-17.8: how the cards are dealt, and what is checked beside the deal.

Each player has one card of its own, face up, and shares four common cards: a hole card face down, three face
up. Between the deal and the turn of the hole card a player may double. No paragraph here orders a remedy.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import SEATS, Into, Seat, Sense, Setting
from stream.rulebook.checks import LAWFUL, Checks, FirstDraw
from stream.rulebook.duties import Duty
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Advice, Finding, Reading
from stream.rulebook.heard import MS, Heard, unsure
from stream.rulebook.steps import Announce, Deal, Departure, Due, Offer, Plan, Settle, Terms, Turn, Variant

_COMMON: Final = 4
_ONE_ACT: Final = 2000 * MS  # a touch and a turn this close together are one act of one player
_WAGERS: Final = ("ante", "double")


def terms(f: Facts) -> Terms:
    """The seats that get a card: those with a first wager when it is dealt (I-17-player)."""
    if f.terms is not None:
        return f.terms
    return Terms(SEATS[: f.opened.seats] if f.setting("I-17-player") == "every" else f.staked("ante"))


def had_wager(seat: Seat, f: Facts) -> bool:
    """Whether later acts show that a seat dealt to had a wager whose placing was not read (I-17-player)."""
    return (
        seat in f.decided
        or (seat, "ante") in f.wagers
        or any(isinstance(h.event, ev.WagerSettled) and h.event.seat == seat for h in f.settled)
    )


def procedure(on: Terms, _settings: Mapping[str, Setting]) -> Iterator[Due]:
    """13:69F-17.8 from the first call to settlement, for the seats in play."""
    yield Announce("no_more_bets")  # (a)1, (a)2.iv
    for seat in on.seats:  # (b): to each player, from the dealer's left
        yield Deal(seat, 1, "up", "player")
    yield Deal("C", 1, "down", "common")  # (b): then the hole card, and three up
    for index in range(2, _COMMON + 1):
        yield Deal("C", index, "up", "common")
    yield Offer("double")  # (c)
    yield Announce("no_more_bets")  # (d)
    yield Turn("C", 1)  # (d)
    yield Settle(_WAGERS)


def variants(plan: Plan, _on: Terms, _seats: int) -> Iterator[Variant]:
    """Deals that are wrong in one recognisable way."""
    players = tuple(s for s in plan if s.part == "player")
    common = tuple(s for s in plan if s.part == "common")
    if len(players) > 1:
        yield Variant("counter_clockwise", "player", players[::-1] + common)
    for first in range(1, len(players)):
        name = f"from_{players[first].position}"
        yield Variant(name, "player", players[first:] + players[:first] + common)
    yield Variant("common_first", "common", common + players)


def reading(departure: Departure, f: Facts) -> Reading | None:
    """How a departure counts; None where this table's reading excuses it."""
    if departure.part == "common" and departure.edit == "exchanged":
        return None if f.setting("I-17-b") == "any_order" else Reading(interpretations=("I-17-b",))
    if departure.part == "player" and departure.edit in ("skipped", "extra"):
        return Reading(interpretations=("I-17-player",))
    return Reading()


def advice(_f: Facts) -> Iterator[Advice]:
    """Nothing beyond the text."""
    yield from ()


_checks: Final = Checks()
ATOMS: Final = _checks.atoms
CHECKS: Final = _checks.at
DUTIES: Final[Mapping[str, Duty]] = {}
CLOSES: Final[frozenset[type[ev.Event]]] = frozenset()
DEAL_RESTS_ON: Final[tuple[Sense, ...]] = ()
"""Senses whose lost reports can change who is due a card; beside the wagers, which the engine looks at."""


# --- (a) what the cards come from


@_checks.on(ev.CardDrawn, atoms=["17.8(a)"])
def source(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a): every card comes from a manual shoe or the dealer's hand, unless another section admits a machine."""
    drawn = h.event
    assert isinstance(drawn, ev.CardDrawn)
    if drawn.source != "auto_shoe" or f.setting("auto_shoe") is True:
        return LAWFUL
    return [Finding(atom="17.8(a)", deciding=h, observed=f"Draw {drawn.draw} came from an automated dealing shoe.")]


@_checks.on(FirstDraw, atoms=["17.8(a)1-shoe"])
def approved_shoe(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)1: the manual shoe is one that meets the equipment section, told by the list of approved assets."""
    load = f.load_of("manual_shoe")
    asset = f.assets.get("manual_shoe")
    if f.source != "manual_shoe" or asset is None or asset in (f.opened.approved or ()):
        return LAWFUL
    return [
        Finding(
            atom="17.8(a)1-shoe",
            deciding=h,
            supporting=(load.heard,) if load else (),
            scope=Scope("device", device=asset),
            unless=(Absence("decks", load.heard.when, h.when),) if load else (),
            observed=f"The first card came from shoe {asset}, which is not on this table's list of approved shoes.",
        )
    ]


@_checks.on(FirstDraw, atoms=["17.8(a)1-order"])
def order(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)1: shuffled, then put in the shoe, then "No more bets", then the first card."""
    if f.source != "manual_shoe":
        return LAWFUL
    atom = "17.8(a)1-order"
    load = f.load_of("manual_shoe")
    found = list(_unshuffled(f, h, atom, "manual_shoe"))
    call = f.call_after(None)
    if call is None:
        found.append(_no_call(f, h, atom))
    elif load is not None and f.setting("I-17-a1") == "follow" and f.call_after(load.heard) is None:
        found.append(
            Finding(
                atom=atom,
                deciding=h,
                supporting=(call, load.heard),
                interpretations=("I-17-a1",),
                cause="order" if f.maybe_after(load.heard) else None,
                observed='"No more bets" was called before the deck was put in the shoe, and not again after it.',
            )
        )
    return found


@_checks.on(FirstDraw, atoms=["17.8(a)2.i"])
def shuffled_by_device(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.i: a deal from the hand needs a deck shuffled by a device."""
    load = f.load_of("hand")
    deck = f.decks.get(load.deck) if load else None
    if f.source != "hand" or deck is None or deck.method != "hand":
        return LAWFUL
    return [
        Finding(
            atom="17.8(a)2.i",
            deciding=h,
            supporting=tuple(x for x in (deck.begun, deck.ended) if x),
            observed="The cards were dealt from the hand after the deck had last been shuffled by hand.",
        )
    ]


@_checks.on(FirstDraw, atoms=["17.8(a)2.ii"])
def in_hand_after_shuffle(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.ii: the deck is taken in hand once its shuffle is complete."""
    if f.source != "hand":
        return LAWFUL
    return list(_unshuffled(f, h, "17.8(a)2.ii", "hand"))


def _unshuffled(f: Facts, h: Heard, atom: str, into: Into) -> Iterator[Finding]:
    """The deck was put where it is dealt from before its shuffle was complete."""
    load = f.load_of(into)
    if load is None or load.shuffle == "completed" or not f.sees("shuffler", "decks"):
        return
    ended = f.decks[load.deck].ended if load.deck in f.decks else None
    unknown = ended is not None and ended > load.heard and unsure(ended, load.heard)
    yield Finding(
        atom=atom,
        deciding=h,
        supporting=(load.heard, *((ended,) if ended else ())),
        observed=f"Deck {load.deck} was dealt; no shuffle of it was seen complete before it was put there.",
        cause="order" if unknown else None,
        absence=f.shuffle_of(load),
        unless=(Absence("decks", load.heard.when, h.when),),  # it may have been put there again
    )


@_checks.on(FirstDraw, atoms=["17.8(a)2.iv-NMB"])
def called_before_hand_deal(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.iv: "No more bets" comes before a deal from the hand."""
    if f.source != "hand" or f.call_after(None) is not None:
        return LAWFUL
    return [_no_call(f, h, "17.8(a)2.iv-NMB")]


def _no_call(f: Facts, h: Heard, atom: str) -> Finding:
    maybe = f.maybe_call(h)
    begin = f.round.when if f.round else 0
    return Finding(
        atom=atom,
        deciding=h,
        supporting=(maybe,) if maybe else (),
        observed='The first card was drawn and no "No more bets" had been heard in the round.',
        cause="order" if maybe else None,
        absence=Absence("announcements", begin, h.when),
    )


# --- (a) the dealer's hands


@_checks.on(ev.CardDrawn, ev.CardPlaced, atoms=["17.8(a)1-hands"])
def shoe_hands(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)1: from a shoe the left hand draws and the right hand places."""
    act = h.event
    assert isinstance(act, ev.CardDrawn | ev.CardPlaced)
    due = "left" if isinstance(act, ev.CardDrawn) else "right"
    if act.hand is None or act.hand == due or f.source != "manual_shoe":
        return LAWFUL
    what = f"Draw {act.draw} was drawn" if isinstance(act, ev.CardDrawn) else f"A card was placed at {act.position}"
    return [Finding(atom="17.8(a)1-hands", deciding=h, observed=f"{what} with the {act.hand} hand.")]


@_checks.on(ev.DeckHeld, atoms=["17.8(a)2.ii"])
def one_holding_hand(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.ii: the hand chosen to hold the deck is used throughout the round."""
    held = h.event
    assert isinstance(held, ev.DeckHeld)
    if f.chosen is None or held.hand == f.chosen or not _hand_deal(f):
        return LAWFUL
    return [
        Finding(
            atom="17.8(a)2.ii",
            deciding=h,
            unless=(Absence("deck_zone", f.round.when, h.when),) if f.round else (),
            observed=f"The deck went to the {held.hand} hand; the {f.chosen} hand had been chosen for this round.",
        )
    ]


@_checks.on(ev.DeckHeld, atoms=["17.8(a)2.iii"])
def over_the_container(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.iii: the deck stays over the container; how long away is noise, I-17-zone says."""
    held = h.event
    assert isinstance(held, ev.DeckHeld)
    tolerance = f.setting("I-17-zone")
    if held.zone != "away" or not _hand_deal(f) or not isinstance(tolerance, int):
        return f.wait() if held.zone == "away" else LAWFUL
    if f.folding:
        return f.wait()
    for x in f.after(h):
        if isinstance(x.event, ev.RoundClosed):
            break
        if x.when - h.at > tolerance * MS:
            return [
                Finding(
                    atom="17.8(a)2.iii",
                    deciding=x,
                    supporting=(h,),
                    interpretations=("I-17-zone",),
                    unless=(Absence("deck_zone", h.when, x.when),),
                    observed=f"The deck was away from the table inventory container for more than {tolerance} ms.",
                )
            ]
        if x.device == h.device and isinstance(x.event, ev.DeckHeld) and x.event.zone == "container":
            break
    return LAWFUL


def _hand_deal(f: Facts) -> bool:
    """Whether this round is dealt from the hand, as far as it has been seen."""
    return f.round is not None and f.closed is None and (f.source == "hand" or (f.source is None and "hand" in f.loads))


@_checks.on(ev.CardDrawn, ev.CardPlaced, atoms=["17.8(a)2.iv-hands"])
def hand_deal_hands(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a)2.iv: one hand holds the deck, the other takes the top card and places it."""
    if f.source != "hand":
        return LAWFUL
    act = h.event
    assert isinstance(act, ev.CardDrawn | ev.CardPlaced)
    found: list[Finding] = []
    held = f.holding.event if f.holding else None
    if isinstance(held, ev.DeckHeld) and act.hand == held.hand:
        what = "removed" if isinstance(act, ev.CardDrawn) else "placed"
        found.append(
            Finding(
                atom="17.8(a)2.iv-hands",
                deciding=h,
                supporting=(f.holding,) if f.holding else (),
                unless=(Absence("deck_zone", f.holding.when, h.when),) if f.holding else (),
                observed=f"A card was {what} with the {act.hand} hand, which was holding the deck.",
            )
        )
    if isinstance(act, ev.CardDrawn) and not act.top:
        found.append(
            Finding(
                atom="17.8(a)2.iv-hands",
                deciding=h,
                scope=Scope("card", draw=act.draw),
                severity="critical",
                observed=f"Draw {act.draw} was not the top card of the deck.",
            )
        )
    return found


# --- (b) what forms a hand


@_checks.on(ev.WagerSettled, atoms=["17.8(b)-3"])
def settled_on_own_hand(f: Facts, h: Heard) -> Sequence[Finding]:
    """(b): a hand is the player's own card and the common cards; a card dealt too many is the deal's fault."""
    settled = h.event
    assert isinstance(settled, ev.WagerSettled)
    if settled.on is None or settled.area not in _WAGERS or settled.outcome == "returned":
        return LAWFUL
    used = {(c.position, c.index) for c in settled.on}
    due = {
        (p.event.position, p.event.index)
        for p in f.placements
        if isinstance(p.event, ev.CardPlaced)
        and p.event.position in (settled.seat, "C")
        and (p.device, p.boot, p.seq) in f.explained
    }
    foreign = sorted(f"{p}.{i}" for p, i in used if p not in (settled.seat, "C"))
    unused = sorted(f"{p}.{i}" for p, i in due - used)
    if not foreign and not unused:
        return LAWFUL
    said = [f"on {', '.join(foreign)}"] if foreign else []
    said += [f"without {', '.join(unused)}"] if unused else []
    return [
        Finding(
            atom="17.8(b)-3",
            deciding=h,
            positions=(settled.seat,),
            observed=f"The {settled.area} wager of {settled.seat} was settled {' and '.join(said)}.",
        )
    ]


# --- (c), (d) double down wagers, second call, hole card


@_checks.on(ev.WagerPlaced, atoms=["17.8(c)", "17.8(d)"])
def double_window(f: Facts, h: Heard) -> Sequence[Finding]:
    """(c): a double is placed after the whole deal and before the turn; after the second call it breaks (d)."""
    placed = h.event
    assert isinstance(placed, ev.WagerPlaced)
    if placed.area != "double" or f.voids or f.round is None:
        return LAWFUL
    done = f.complete_at
    if f.reveal is not None:
        return [_late_double(h, placed.seat, f.reveal, "after the hole card was turned")]
    if done is None:
        ends = f.completes
        unknown = ends is not None and unsure(ends, h)
        return [
            Finding(
                atom="17.8(c)",
                deciding=h,
                supporting=(ends,) if ends else (),
                positions=(placed.seat,),
                cause="order" if unknown else None,
                absence=Absence("placements", f.round.when, h.when, dealt=True),
                unless=(Absence("draws", f.round.when, h.when, dealt=True),),
                observed=f"A double down wager was placed at {placed.seat} before all cards were dealt.",
            )
        ]
    call = f.call_after(done)
    if call is None:
        return LAWFUL
    turn = next((t for t in f.later(h, ev.CardTurned) if t.event.position == "C" and unsure(t, h)), None)
    return [
        Finding(
            atom="17.8(c)" if f.setting("I-17-cd") == "c" else "17.8(d)",
            deciding=h,
            supporting=(call,) if turn is None else (call, turn),
            positions=(placed.seat,),
            interpretations=("I-17-cd",),
            cause="order" if unsure(call, h) or turn is not None else None,  # after the turn it would be of (c)
            observed=f'A double down wager was placed at {placed.seat} after the second "No more bets".',
        )
    ]


def _late_double(h: Heard, seat: Seat, turn: Heard, when: str) -> Finding:
    return Finding(
        atom="17.8(c)",
        deciding=h,
        supporting=(turn,),
        positions=(seat,),
        cause="order" if unsure(turn, h) else None,
        observed=f"A double down wager was placed at {seat} {when}.",
    )


@_checks.on(ev.CardTurned, atoms=["17.8(d)"])
def called_before_turn(f: Facts, h: Heard) -> Sequence[Finding]:
    """(d): "No more bets" is called a second time before the hole card is turned, doubles or not (I-17-d)."""
    turned = h.event
    assert isinstance(turned, ev.CardTurned)
    done = f.complete_at or f.last_placed
    if f.reveal is not h or f.voids or done is None:
        return LAWFUL
    if f.setting("I-17-d") == "not_required" and not f.staked("double"):
        return LAWFUL
    if f.call_after(done) is not None:
        return LAWFUL
    maybe = f.maybe_after(done) or f.maybe_call(h)
    return [
        Finding(
            atom="17.8(d)",
            deciding=h,
            supporting=(maybe,) if maybe else (),
            interpretations=() if f.staked("double") else ("I-17-d",),
            cause="order" if maybe else "actor" if turned.by != "dealer" else None,
            absence=Absence("announcements", done.when, h.when),
            observed='The hole card was turned and no second "No more bets" had been heard since the deal.',
        )
    ]


@_checks.on(ev.WagerSettled, atoms=["17.8(d)"])
def turned_before_settlement(f: Facts, h: Heard) -> Sequence[Finding]:
    """(d): the hole card is turned before wagers are settled on it."""
    settled = h.event
    assert isinstance(settled, ev.WagerSettled)
    if settled.outcome == "returned" or settled.area not in _WAGERS or f.voids or f.complete_at is None:
        return LAWFUL
    first = next(s for s in f.settled if s.event.outcome != "returned")
    if first is not h or not any(p == "C" and f.faces.get((p, i)) == "down" for p, i in f.hidden):
        return LAWFUL
    turn = next((t for t in f.later(h, ev.CardTurned) if unsure(t, h)), None)
    return [
        Finding(
            atom="17.8(d)",
            deciding=h,
            supporting=(turn,) if turn else (),
            cause="order" if turn else None,
            absence=Absence("turns", f.complete_at.when, h.when),
            observed="Wagers were settled while the hole card lay face down.",
        )
    ]


# --- (e) players and cards


@_checks.on(ev.CardsTouched, ev.CardsHandled, ev.CardTurned, atoms=["17.8(e)"])
def untouched(f: Facts, h: Heard) -> Sequence[Finding]:
    """(e): no player touches a card from the first card drawn until the last wager is settled."""
    if f.first_draw is None or f.closed is not None or f.all_settled():
        return LAWFUL
    act = h.event
    if isinstance(act, ev.CardTurned):
        if act.by != "player":
            return LAWFUL
        seat = None if act.position in ("C", "D") else act.position
        if seat is None and _touch_beside(f, h):
            return LAWFUL  # the touch itself was seen, and names the player
        said = f"A player turned card {act.position}.{act.index}."
    else:
        assert isinstance(act, ev.CardsTouched | ev.CardsHandled)
        seat = act.seat
        said = f"The player at {seat} {'touched' if isinstance(act, ev.CardsTouched) else 'took up'} cards."
    last = next(reversed(list(f.later(h, ev.WagerSettled))), None)
    settled = last is not None and unsure(last, h)
    return [
        Finding(
            atom="17.8(e)",
            deciding=h,
            scope=Scope("player", position=seat),
            positions=(seat,) if seat else (),
            cause="order" if unsure(f.first_draw, h) or settled else None,
            unless=(Absence("settlement", f.first_draw.when, h.when),) if f.settled else (),
            observed=said,
        )
    ]


def _touch_beside(f: Facts, h: Heard) -> bool:
    """Whether a touch was seen together with a card that a player turned."""
    touches = [*f.touches, *f.later(h, ev.CardsTouched), *f.later(h, ev.CardsHandled)]
    return any(abs(t.at - h.at) <= _ONE_ACT for t in touches)
