"""Double Cross Poker, NJAC 13:69F-25.7: dealing from a manual shoe, and what the count of the stub tells.

Each player and the dealer get two cards in a row, face down; five common cards lie face down in a cross. How hands
are shown and paid stands in sections that are not at hand, and is judged by nothing here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Scope
from stream.deal.words import Position, Seat, Sense, Setting
from stream.rulebook.checks import LAWFUL, Checks, FirstDraw
from stream.rulebook.duties import (
    OPEN,
    Duties,
    Duty,
    breached,
    called_off,
    given_back,
    next_draw_of,
    onward,
    remedied,
    settlements,
    undone,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Advice, Finding, Fulfilment, Reading
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.standing import affected_by
from stream.rulebook.steps import (
    Announce,
    ClearStub,
    Deal,
    Departure,
    Due,
    Offer,
    Plan,
    Settle,
    Terms,
    Turn,
    Variant,
    hand_of,
)

_PAIR: Final = 2
_CROSS: Final = 5
_TOP, _BOTTOM = 4, 5
_ROUNDS: Final = 5  # (e): the stub is counted at least once in so many
_AREAS: Final = ("ante", "bet", "three_card")
_CENTRE: Final = Scope("hand", position="C")


# --- the deal


def terms(f: Facts) -> Terms:
    """The seats that get cards: those with an ante when the first card is drawn."""
    return f.terms if f.terms is not None else Terms(f.staked("ante"))


def had_wager(seat: Seat, f: Facts) -> bool:
    """Whether later acts show that a seat dealt to had an ante whose placing was not read."""
    settled = any(isinstance(h.event, ev.WagerSettled) and h.event.seat == seat for h in f.settled)
    return settled or seat in f.decided or (seat, "ante") in f.wagers


def procedure(on: Terms, _settings: Mapping[str, Setting]) -> Iterator[Due]:
    """13:69F-25.7 from the call to the stub; then the play, which other sections order."""
    yield Announce("no_more_bets")  # (b)
    for seat in on.seats:  # (c)1
        for index in range(1, _PAIR + 1):
            yield Deal(seat, index, "down", "player")
    for index in range(1, _PAIR + 1):  # (c)2
        yield Deal("D", index, "down", "dealer")
    for index in range(1, _CROSS + 1):  # (c)3
        yield Deal("C", index, "down", "cross", exact=True)
    yield ClearStub()  # (d), (e)
    yield Offer("bet")
    for index in (1, 3, _TOP, _BOTTOM, 2):
        yield Turn("C", index)
    hands: tuple[Position, ...] = (*on.seats, "D")
    for hand in hands:
        for index in range(1, _PAIR + 1):
            yield Turn(hand, index)
    yield Settle(_AREAS)


def variants(plan: Plan, on: Terms, _seats: int) -> Iterator[Variant]:
    """Whole deals that are wrong in one way: one each twice around, seats in another order, a hand left out."""
    pairs = [plan[i : i + _PAIR] for i in range(0, _PAIR * len(on.seats), _PAIR)]
    dealer = plan[len(pairs) * _PAIR : len(pairs) * _PAIR + _PAIR]
    cross = plan[len(pairs) * _PAIR + _PAIR :]
    if len(pairs) > 1:
        firsts, seconds = tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        yield Variant("alternating", "player", (*firsts, *seconds, *dealer, *cross))
        yield Variant("alternating_with_dealer", "player", (*firsts, dealer[0], *seconds, dealer[1], *cross))
    for name, order in _orders(len(pairs)):
        yield Variant(name, "order", (*_flat([pairs[i] for i in order]), *dealer, *cross))
    for i, pair in enumerate(pairs):
        seat: Position = on.seats[i]
        yield Variant(f"without_{seat}", "player", (*_flat(pairs[:i] + pairs[i + 1 :]), *dealer, *cross), seat)
        head, tail = _flat(pairs[:i]), _flat(pairs[i:])
        yield Variant(f"dealer_before_{seat}", "dealer", (*head, *dealer, *tail, *cross), "D")
        yield Variant(f"cross_before_{seat}", "cross", (*head, *cross, *tail, *dealer))
        assert pair
    shown = tuple(replace(step, facing="up") for step in cross)
    yield Variant("cross_face_up", "cross", (*_flat(pairs), *dealer, *shown), said="The whole cross was dealt face up.")
    yield Variant("without_dealer", "dealer", (*_flat(pairs), *cross), "D")
    yield Variant("cross_before_dealer", "cross", (*_flat(pairs), *cross, *dealer))


def _flat(pairs: Sequence[Plan]) -> Plan:
    return tuple(step for pair in pairs for step in pair)


def _orders(n: int) -> Iterator[tuple[str, list[int]]]:
    """Other orders of n seats: around the other way, from another seat, two exchanged, one served late."""
    seats = list(range(n))
    if n > 1:
        yield "counter_clockwise", seats[::-1]
    for i in range(1, n):
        yield f"from_the_{i + 1}th", seats[i:] + seats[:i]
    for i in range(n):
        for j in range(i + 1, n):
            swapped = seats.copy()
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield f"{i + 1}_and_{j + 1}_exchanged", swapped
            yield f"{i + 1}_after_{j + 1}", [*seats[:i], *seats[i + 1 : j + 1], i, *seats[j + 1 :]]
            yield f"{j + 1}_before_{i + 1}", [*seats[:i], j, *seats[i:j], *seats[j + 1 :]]


def reading(d: Departure, f: Facts) -> Reading | None:
    """How a departure counts; the paragraph is about a deal from a manual shoe."""
    if f.source not in (None, "manual_shoe"):
        return None
    if d.part == "order":
        return Reading(atom="25.7(c)-o")
    if d.part == "cross":
        step, act = d.step, d.act
        ends = {step.index if step else 0, act.index if act else 0}
        if d.edit in ("swapped", "moved", "exchanged") and ends == {_TOP, _BOTTOM}:
            either = f.setting("I-25-tb") == "either"
            return None if either else Reading(scope=_CENTRE, interpretations=("I-25-tb",), severity="minor")
        due = step.part if step is not None and d.edit == "swapped" else "cross"
        return Reading(scope=_CENTRE) if due == "cross" else _hand(due, hand_of(step))
    if d.edit == "swapped":
        dealer = d.step is not None and d.step.part == "dealer"
        return _hand("dealer", "D") if dealer else Reading(atom="25.7(c)1")
    if d.edit == "variant" and d.position is None:
        return Reading()
    at = d.position
    early = d.edit == "moved" and d.other is None
    if at is None and (d.edit in ("extra", "wrong_face") or early) and d.act is not None:
        at = d.act.lies
    return _hand(d.part, at or hand_of(d.step))


def _hand(part: str, at: Position | None) -> Reading:
    atom = "25.7(c)2" if part == "dealer" else "25.7(c)1"
    return Reading(atom=atom, scope=Scope("hand", position=at) if at else Scope("round"))


_checks: Final = Checks()
_duties: Final = Duties()
ATOMS: Final = _checks.atoms
CHECKS: Final = _checks.at
DUTIES: Final[Mapping[str, Duty]] = _duties.of_atom
CLOSES: Final[frozenset[type[ev.Event]]] = frozenset()
DEAL_RESTS_ON: Final[tuple[Sense, ...]] = ()
"""Senses whose lost reports can change who is due a card; beside the wagers, which the engine looks at."""


# --- (a) the shoe and the deck in it


@_checks.on(FirstDraw, atoms=["25.7(a)-1"])
def approved_shoe(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a): the shoe meets the equipment section, told by the list of approved assets."""
    load, asset = f.load_of("manual_shoe"), f.assets.get("manual_shoe")
    if f.source != "manual_shoe" or asset is None or asset in (f.opened.approved or ()):
        return LAWFUL
    said = f"The first card came from shoe {asset}, which is not on this table's list of approved shoes."
    by = (load.heard,) if load else ()
    return [
        Finding(
            atom="25.7(a)-1", deciding=h, supporting=by, scope=Scope("device", device=asset), observed=said,
            unless=(Absence("decks", load.heard.when, h.when),) if load else (),
        )
    ]  # fmt: skip


@_checks.on(FirstDraw, atoms=["25.7(a)-2"])
def stacked_deck(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a): the deck goes into the shoe when its shuffle is complete, by the dealer or the shuffler."""
    load = f.load_of("manual_shoe")
    if f.source != "manual_shoe" or load is None:
        return LAWFUL
    loaded = load.heard.event
    assert isinstance(loaded, ev.DeckLoaded)
    deck = f.decks.get(load.deck)
    scope = Scope("deck", deck=load.deck)
    found = []
    if load.shuffle != "completed" and f.sees("shuffler"):
        ended = deck.ended if deck else None
        near = ended is not None and ended > load.heard and unsure(ended, load.heard)
        found.append(
            Finding(
                atom="25.7(a)-2", deciding=h, scope=scope, deck=load.deck, cause="order" if near else None,
                supporting=(load.heard, *((ended,) if ended else ())),
                observed=f"Deck {load.deck} was dealt; no complete shuffle of it was seen before it was loaded.",
                absence=f.shuffle_of(load),
                unless=(Absence("decks", load.heard.when, h.when),),  # it may have been loaded again
            )
        )  # fmt: skip
    if loaded.by not in ("dealer", "shuffler"):
        who = "a player" if loaded.by == "player" else "somebody who was not seen"
        found.append(
            Finding(
                atom="25.7(a)-2", deciding=h, supporting=(load.heard,), scope=scope, deck=load.deck,
                cause="actor" if loaded.by == "unknown" else None,
                observed=f"Deck {load.deck} was put in the shoe by {who}.",
            )
        )  # fmt: skip
    return found


# --- (b) antes, call, first card


@_checks.on(FirstDraw, atoms=["25.7(b)"])
def called_before_cards(f: Facts, h: Heard) -> Sequence[Finding]:
    """(b): "No more bets" comes before the first card."""
    if f.source != "manual_shoe" or f.calls:
        return LAWFUL
    maybe = f.maybe_call(h)
    return [
        Finding(
            atom="25.7(b)", deciding=h, supporting=(maybe,) if maybe else (), cause="order" if maybe else None,
            absence=Absence("announcements", f.round.when if f.round else 0, h.when),
            observed='The first card was drawn and no "No more bets" had been heard in the round.',
        )
    ]  # fmt: skip


@_checks.on(ev.WagerPlaced, atoms=["25.7(b)"])
def antes_before_call(f: Facts, h: Heard) -> Sequence[Finding]:
    """(b): all antes are placed before the call; a call that follows them makes good one that came too soon."""
    placed = h.event
    assert isinstance(placed, ev.WagerPlaced)
    if placed.area != "ante" or not f.calls or f.source not in (None, "manual_shoe"):
        return LAWFUL
    if f.folding:
        return f.wait()
    drawn = f.first_draw or next(f.later(h, ev.CardDrawn), None)
    again = next((c for c in f.later(h, ev.Announced) if c.event.what == "no_more_bets"), None)
    if drawn is None or (again is not None and again < drawn):
        return LAWFUL
    call = f.calls[-1]
    return [
        Finding(
            atom="25.7(b)", deciding=h, supporting=(call,), positions=(placed.seat,),
            cause="order" if unsure(call, h) else None,
            observed=f'An ante was placed at {placed.seat} after "No more bets".',
        )
    ]  # fmt: skip


# --- (c) the dealer's hands


@_checks.on(ev.CardDrawn, ev.CardPlaced, atoms=["25.7(c)-h"])
def hands(f: Facts, h: Heard) -> Sequence[Finding]:
    """(c): the hand next to the shoe removes a card, the other places it."""
    act = h.event
    assert isinstance(act, ev.CardDrawn | ev.CardPlaced)
    near = f.side or f.opened.shoe_side
    far = "right" if near == "left" else "left"
    due = near if isinstance(act, ev.CardDrawn) else far
    if act.hand is None or act.hand == due or f.source != "manual_shoe":
        return LAWFUL
    what = f"Draw {act.draw} was removed" if isinstance(act, ev.CardDrawn) else f"A card was placed at {act.position}"
    said = f"{what} with the {act.hand} hand; the shoe stands on the {near}."
    return [Finding(atom="25.7(c)-h", deciding=h, observed=said, unless=(Absence("installations", 0, h.when),))]


# --- (d), (e)1 the stub


def _deck_scope(f: Facts) -> Scope:
    return Scope("deck", deck=f.deck)


def _stub(f: Facts, h: Heard, atom: str, said: str) -> Finding:
    return Finding(atom=atom, deciding=h, scope=_deck_scope(f), deck=f.deck, observed=said)


@_checks.on(ev.StubRemoved, ev.StubDiscarded, atoms=["25.7(d)"])
def after_the_deal(f: Facts, h: Heard) -> Sequence[Finding]:
    """(d): the stub leaves the shoe when all cards are dealt."""
    if f.source != "manual_shoe" or len(f.stubs) > 1 or f.voids or f.first_draw is None:
        return LAWFUL
    if f.folding:
        return LAWFUL if f.complete_at is not None else f.wait()
    more = next((p for p in f.later(h, ev.CardPlaced) if p in _first_placements(f, p)), None)
    if more is None:
        return LAWFUL
    cause: Cause | None = "order" if unsure(h, more) else None
    found = _stub(f, h, "25.7(d)", "The stub left the shoe while cards were still to be dealt.")
    return [replace(found, cause=cause, supporting=(more,))]


def _first_placements(f: Facts, p: Heard[ev.CardPlaced]) -> tuple[Heard, ...]:
    """The placement itself, unless it only moves a card that lies already."""
    draw = p.event.draw
    return () if draw is not None and draw in f.placed else (p,)


@_checks.on(ev.StubDiscarded, ev.CardSeen, atoms=["25.7(d)", "25.7(e)1"])
def unexposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """(d), (e)1: no card of the stub is shown, whether it was counted or not."""
    e = h.event
    if f.source != "manual_shoe":
        return LAWFUL
    if isinstance(e, ev.CardSeen):
        shown = e.place in ("stub", "rack") and bool(f.stubs)
        said = "A card of the stub was shown."
    else:
        assert isinstance(e, ev.StubDiscarded)
        shown, said = e.facing == "up", "The stub went to the rack face up."
    if not shown:
        return LAWFUL
    if f.folding:
        return f.wait()
    counted = bool(f.counts) or next(f.later(h, ev.StubCounted), None) is not None
    return [_stub(f, h, "25.7(e)1" if counted else "25.7(d)", said)]


@_checks.on(ev.CardTurned, ev.WagerSettled, atoms=["25.7(d)"])
def out_in_time(f: Facts, h: Heard) -> Sequence[Finding]:
    """(d): the stub is out of the shoe before the first common card is turned (I-25-d)."""
    e = h.event
    if f.source != "manual_shoe" or f.stubs or f.voids or f.complete_at is None:
        return LAWFUL
    if isinstance(e, ev.CardTurned):
        first: Heard | None = next((t for t in f.turns if t.event.position == "C" and t.event.facing == "up"), None)
        due = f.setting("I-25-d") == "turn" and first is h
    else:
        first = next((t for t in f.settled if t.event.outcome != "returned"), None)
        due = f.setting("I-25-d") == "settlement" and first is h
    if not due:
        return LAWFUL
    near = next((x for x in f.later(h, ev.StubRemoved, ev.StubDiscarded) if unsure(x, h)), None)
    return [
        replace(
            _stub(f, h, "25.7(d)", "Play went on and the stub had not been taken out of the shoe."),
            cause="order" if near else None,
            supporting=(near,) if near else (),
            interpretations=("I-25-d",),
            absence=Absence("stub", f.complete_at.when, h.when),
        )
    ]


@_checks.on(FirstDraw, atoms=["25.7(e)1"])
def racked_after_count(f: Facts, h: Heard) -> Sequence[Finding]:
    """(e)1: a counted stub is in the rack before the next round is dealt."""
    if f.stub_left is None:
        return LAWFUL
    counted, deck = f.stub_left
    said = "The next round was dealt and the counted stub had not been put in the discard rack."
    return [
        Finding(
            atom="25.7(e)1", deciding=h, supporting=(counted,), scope=Scope("deck", deck=deck), deck=deck,
            observed=said,
            absence=Absence("stub", counted.when, h.when),
        )
    ]  # fmt: skip


# --- (e) the count of the stub


@_checks.on(ev.StubDiscarded, atoms=["25.7(e)-freq", "25.7(f)-ex"])
def counted_in_time(f: Facts, h: Heard) -> Sequence[Finding]:
    """(e), (f): the stub is counted at least once in five rounds, unless the shuffler has counted the deck."""
    by_deck = f.setting("I-25-5r") == "deck"
    facts = f.decks.get(f.deck) if f.deck else None
    stubs = facts.stubs if by_deck and facts else f.uncounted
    able = f.setting("I-25-f") == "able"
    row = stubs.known if able else stubs.row
    if f.source != "manual_shoe" or row != _ROUNDS:
        return f.wait() if facts is not None and facts.stubs.row == _ROUNDS else LAWFUL
    said = f"The stub of {_ROUNDS} rounds in a row went to the rack uncounted."
    if stubs.unheard and not able:
        said += " A counting shuffler had done the deck of some of them, and no count was received."
        return [
            Finding(
                atom="25.7(f)-ex", deciding=h, scope=_deck_scope(f), deck=f.deck, cause="coverage",
                interpretations=("I-25-f", "I-25-5r"),
                observed=said,
            )
        ]  # fmt: skip
    return [
        Finding(
            atom="25.7(e)-freq", deciding=h, scope=Scope("table"), interpretations=("I-25-5r",), observed=said,
            cause="coverage" if stubs.holed else None,
            absence=Absence("stub", stubs.since, h.when),
            unless=(Absence("shuffler_count", stubs.since, h.when), Absence("decks", stubs.since, h.when)),
        )
    ]  # fmt: skip


@_checks.on(ev.StubCounted, atoms=["25.7(e)-freq"])
def counted_face_down(f: Facts, h: Heard) -> Sequence[Finding]:
    """(e): the stub is counted face down; face up is a count all the same."""
    counted = h.event
    assert isinstance(counted, ev.StubCounted)
    if counted.facing == "down" or f.source != "manual_shoe":
        return LAWFUL
    said = "The stub was counted with its faces up."
    return [Finding(atom="25.7(e)-freq", deciding=h, scope=Scope("table"), observed=said)]


@_checks.on(ev.StubCounted, atoms=["25.7(e)2-m", "25.7(e)2-d"])
def count_is_right(f: Facts, h: Heard) -> Sequence[Finding]:
    """(e)2: a wrong count is a misdeal, or else the deck is not whole (I-25-recount, I-25-both)."""
    counted = h.event
    assert isinstance(counted, ev.StubCounted)
    if f.source != "manual_shoe" or f.first_draw is None or "miscounted" in f.deck_doubts:
        return LAWFUL
    if f.folding:
        whole = f.deck is not None and counted.count + f.last_draw == f.size_of(f.deck)
        return LAWFUL if whole and f.complete_at is not None and not f.returned else f.wait()
    again = next(f.later(h, ev.StubCounted), None)
    reading = () if again is None and len(f.counts) == 1 else ("I-25-recount",)
    racked = next(f.later(h, ev.StubDiscarded), None)
    last = again is None or (racked is not None and racked < again)
    if not (len(f.counts) == 1 if f.setting("I-25-recount") == "first" else last):
        return LAWFUL
    size = f.size_of(f.deck) if f.deck else 52
    out = f.last_draw - len(f.returned)
    seats = f.terms.seats if f.terms else f.staked("ante")
    areas: dict[Position, int] = {**dict.fromkeys(seats, _PAIR), "D": _PAIR, "C": _CROSS}
    lies: dict[Position, int] = {p: f.counted(p) for p in {*areas, *(x.event.position for x in f.placements)}}
    wrong = sorted(p for p, n in lies.items() if n != areas.get(p, 0))
    whole = counted.count + out == size
    if counted.count == size - sum(areas.values()) or (whole and not wrong):
        return LAWFUL
    said = f"The stub was counted as {counted.count}; with {out} cards dealt that makes {counted.count + out}."
    if _unread(f):
        said += " Where some of the dealt cards lie was not read."
        return [replace(_count(f, h, "25.7(e)2-m", said, reading), cause="coverage")]
    if not wrong:
        return [replace(_count(f, h, "25.7(e)2-d", said, reading), affected=affected_by(f.tally))]
    said += f" The number of cards is not right at {', '.join(wrong)}."
    both = () if whole else ("I-25-both",)
    found = _count(f, h, "25.7(e)2-m", said, (*reading, *both))
    stakes = (Absence("wagers", f.round.when if f.round else 0, f.first_draw.when),)  # who was to have cards
    return [
        replace(
            found, positions=tuple(wrong), follows=("25.7(c)1", "25.7(c)2", "25.7(c)3"), unless=(*found.unless, *stakes)
        )
    ]  # fmt: skip


def _unread(f: Facts) -> bool:
    """Whether some of the cards dealt were seen to lie nowhere."""
    away = len(f.burned) + len(f.discarded) + len(f.returned)
    return len(f.placements) + away < f.last_draw


def _count(f: Facts, h: Heard, atom: str, said: str, readings: tuple[str, ...]) -> Finding:
    racked = next(f.later(h, ev.StubDiscarded), None)  # until then it may have been counted again, unread
    again = (
        (Absence("stub", h.when, racked.when),) if racked is not None and f.setting("I-25-recount") == "last" else ()
    )
    return Finding(atom=atom, deciding=h, observed=said, interpretations=readings, deck=f.deck, unless=again)


@_duties.of("25.7(e)2-m")
def hands_void(f: Facts, x: Finding) -> Fulfilment:
    """(e)2: all hands are void."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    void = called_off(f, x)
    back = given_back(f, x.deciding)
    left = f.unsettled()
    if (void is not None or back) and not left:
        return remedied(*([void] if void else []), *back, said="All hands were void.")
    if void is not None:
        return OPEN
    return undone(f, x, "The round was closed and the hands were not void.", "announcements", "settlement")


@_duties.of("25.7(e)2-d")
def void_and_off_the_table(f: Facts, x: Finding) -> Fulfilment:
    """(e)2: all hands are void, and the deck leaves the table before it is loaded again."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    for h in onward(f, x.deciding, ev.DeckRemoved, ev.DeckLoaded):
        if h.event.deck != f.deck:
            continue
        if isinstance(h.event, ev.DeckLoaded):
            return breached(h, "The deck was loaded again.")
        return OPEN if f.unsettled() else remedied(h, said="All hands were void and the deck left the table.")
    return OPEN


# --- (f) a deck that the shuffler counted wrong


@_checks.on(ev.ShuffleCompleted, atoms=["25.7(f)-bad"])
def shuffler_count(f: Facts, h: Heard) -> Sequence[Finding]:
    """(f): the shuffler reveals that the number of cards is not right."""
    done = h.event
    assert isinstance(done, ev.ShuffleCompleted)
    size = f.size_of(done.deck)
    if done.count is None or done.count == size:
        return LAWFUL
    if f.folding:
        return f.wait()
    deck = f.decks.get(done.deck)
    return [
        Finding(
            atom="25.7(f)-bad", deciding=h, scope=Scope("deck", deck=done.deck), deck=done.deck,
            affected=affected_by(deck.tally if deck else None),
            observed=f"The shuffler counted {done.count} cards in deck {done.deck}, which has {size}.",
        )
    ]  # fmt: skip


@_duties.of("25.7(f)-bad")
def deck_removed(f: Facts, x: Finding) -> Fulfilment:
    """(f): that deck leaves the table before a card is dealt from it."""
    deck = x.scope.deck
    draw = next_draw_of(f, deck, x.deciding)
    off = next((h for h in onward(f, x.deciding, ev.DeckRemoved) if h.event.deck == deck), None)
    if off is not None and (draw is None or off < draw):
        return remedied(off, said="The deck left the table.")
    if draw is not None:
        return breached(draw, "A card was dealt from it.", absence=Absence("decks", x.deciding.when, draw.when))
    return OPEN


# --- beyond the text


def advice(f: Facts) -> Iterator[Advice]:
    """Beyond the text: one of two decks is never counted; a misdeal whose deck is not whole either."""
    deck = f.decks.get(f.deck) if f.deck else None
    racked = next((s for s in f.stubs if isinstance(s.event, ev.StubDiscarded)), None)
    by_table = f.setting("I-25-5r") == "table" and f.source == "manual_shoe"
    overdue = deck is not None and not deck.stubs.holed and deck.stubs.row == _ROUNDS > f.uncounted.row
    if deck is not None and racked is not None and by_table and overdue:
        yield Advice(
            code="stub_count_overdue", scope=_deck_scope(f), deciding=racked, severity="minor",
            what="The stub of one deck was not counted in five of its rounds in a row.",
            expected="Each deck's stub is counted now and then; the text counts the rounds of the table.",
            observed=f"Five stubs of deck {f.deck} in a row went to the rack uncounted; the other's were counted.",
            absence=Absence("stub", deck.stubs.since, racked.when),
        )  # fmt: skip
    judged = f.source == "manual_shoe" and "miscounted" not in f.deck_doubts and not _unread(f)
    if f.counts and f.deck and f.terms is not None and judged:
        last = f.counts[-1]
        assert isinstance(last.event, ev.StubCounted)
        total = last.event.count + f.last_draw - len(f.returned)
        areas: dict[Position, int] = {**dict.fromkeys(f.terms.seats, _PAIR), "D": _PAIR, "C": _CROSS}
        misdealt = any(f.counted(p) != n for p, n in areas.items())
        if total != f.size_of(f.deck) and misdealt:
            yield Advice(
                code="deck_integrity", scope=_deck_scope(f), deciding=last, severity="critical",
                what="A misdealt round was counted, and its deck is not whole either.",
                expected="A deck is whole; the text orders its removal only where nothing was misdealt.",
                observed=f"Stub and cards dealt make {total}.", affected=affected_by(f.tally),
            )  # fmt: skip
