"""What becomes due after an irregularity: one function an atom, which reads what follows and says how it stands.

A duty is judged with the whole round in view, and with what later rounds show of decks, machines and the button
(`facts.beyond`), so that it needs no state of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from stream.deal import events as ev
from stream.deal.words import Position, Sense, Source
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard

if TYPE_CHECKING:
    from stream.rulebook.facts import Facts

A = TypeVar("A", bound=ev.AnyEvent)
B = TypeVar("B", bound=ev.AnyEvent)
Duty = Callable[["Facts", Finding], Fulfilment]

ROUND_ENDS: Final = frozenset({"misdeal", "all_void", "round_void"})
HAND_ENDS: Final = frozenset({"hand_dead", "hand_void"})


class Duties:
    """The duties of one rule set, by atom."""

    def __init__(self) -> None:
        self.of_atom: dict[str, Duty] = {}

    def of(self, *atoms: str) -> Callable[[Duty], Duty]:
        """Bind a duty to the atoms that order it."""

        def bind(duty: Duty) -> Duty:
            self.of_atom.update(dict.fromkeys(atoms, duty))
            return duty

        return bind


# --- what followed


def voids(
    f: "Facts", after: Heard, kinds: frozenset[str] = ROUND_ENDS, at: Position | None = None
) -> Heard[ev.Announced] | None:
    """The first announcement after a moment that ends the round (or, by `kinds`, a hand)."""
    for h in f.later(after, ev.Announced):
        e = h.event
        if isinstance(e, ev.Announced) and e.what in kinds and (at is None or e.position == at):
            return h
    return None


def called_off(f: "Facts", x: Finding) -> Heard[ev.Announced] | None:
    """The call that ended the round: the first after a finding, else the first before it."""
    return voids(f, x.deciding) or next((v for v in f.voids if v.event.what in ROUND_ENDS), None)


def over_reaction(f: "Facts", after: Heard, hand: Position | None) -> Heard | None:
    """The call by which a round (or this hand) was given up, where nothing that ends a round had come before."""
    for h in f.later(after, ev.Announced):
        e = h.event
        assert isinstance(e, ev.Announced)
        if e.what in ROUND_ENDS and (f.ending is None or f.ending > h):
            return h
        if e.what in HAND_ENDS and hand is not None and e.position == hand:
            return h
    return None


def settlements(
    f: "Facts", after: Heard, *, seat: Position | None = None, areas: Iterable[str] = ()
) -> Iterator[Heard[ev.WagerSettled]]:
    """Wagers settled after a moment: all, or those of a seat, or those on some areas."""
    wanted = tuple(areas)
    for h in f.later(after, ev.WagerSettled):
        e = h.event
        assert isinstance(e, ev.WagerSettled)
        if (seat is None or e.seat == seat) and (not wanted or e.area in wanted):
            yield h


def won_or_lost(settled: Iterable[Heard[ev.WagerSettled]]) -> Heard[ev.WagerSettled] | None:
    """The first of these settlements that paid or collected a wager."""
    return next((h for h in settled if h.event.outcome != "returned"), None)


def given_back(f: "Facts", after: Heard, seat: Position | None = None) -> tuple[Heard, ...]:
    """The wagers returned after a moment: settled so, or taken back."""
    out = []
    for h in f.later(after, ev.WagerSettled, ev.WagerRemoved):
        e = h.event
        back = isinstance(e, ev.WagerRemoved) or (isinstance(e, ev.WagerSettled) and e.outcome == "returned")
        if back and (seat is None or e.seat == seat):
            out.append(h)
    return tuple(out)


OPEN: Final = Fulfilment(outcome="open")
"""Nothing decides it yet, in this round or (of a lasting one) in the next."""


# --- decks


def next_draw_of(f: "Facts", deck: str | None, after: Heard, *, next_round: bool = False) -> Heard | None:
    """The first card drawn from a deck after a moment (`next_round`: in a later round); of an unknown deck, any."""
    if not next_round:
        for h, d in f.sources:
            if h > after and deck in (None, d):
                return h
    loads = {into: load.deck for into, load in f.loads.items()}
    for h in f.beyond:
        e = h.event
        if isinstance(e, ev.DeckLoaded):
            loads = {w: d for w, d in loads.items() if d != e.deck}
            loads[e.into] = e.deck
        elif isinstance(e, ev.DeckUnloaded):
            loads.pop(e.source, None)
        elif isinstance(e, ev.DeckRemoved):
            loads = {w: d for w, d in loads.items() if d != e.deck}
        elif isinstance(e, ev.CardDrawn):
            source: Source = e.source
            if deck is None or loads.get(source, deck) == deck:
                return h
    return None


@overload
def onward(f: "Facts", after: Heard, kind: type[A], /) -> Iterator[Heard[A]]: ...
@overload
def onward(f: "Facts", after: Heard, kind: type[A], other: type[B], /) -> Iterator[Heard[A | B]]: ...
def onward(f: "Facts", after: Heard, *kinds: type[Any]) -> Iterator[Heard[Any]]:
    """Events of some types after a moment, in this round and in those that follow."""
    yield from f.later(after, *kinds)
    yield from (h for h in f.beyond if isinstance(h.event, kinds))


def shuffled_again(f: "Facts", deck: str | None, after: Heard, before: Heard | None) -> Heard | None:
    """A shuffle of a deck that began after one moment and was complete before another."""
    begun = False
    for h in onward(f, after, ev.ShuffleStarted, ev.ShuffleCompleted):
        if before is not None and h > before:
            return None
        e = h.event
        if deck is not None and e.deck != deck:
            continue
        if isinstance(e, ev.ShuffleStarted):
            begun = e.mode == "shuffle"
        elif begun:
            return h
    return None


def reshuffle(f: "Facts", deck: str | None, after: Heard) -> Fulfilment:
    """The deck is shuffled again before it is dealt in another round."""
    draw = next_draw_of(f, deck, after, next_round=True)
    shuffled = shuffled_again(f, deck, after, draw)
    if shuffled is not None:
        return Fulfilment(outcome="remedied", by=(shuffled,), said="The cards were reshuffled.")
    if draw is None:
        return OPEN
    gap = Absence("shuffler", after.when, draw.when)
    return Fulfilment(
        outcome="breached", by=(draw,), said="The next round was dealt and no reshuffle was seen.", absence=gap
    )


# --- putting duties together


def breached(by: Heard, said: str, *, absence: Absence | None = None) -> Fulfilment:
    """What was ordered was not done, or the opposite was."""
    return Fulfilment(outcome="breached", by=(by,), said=said, absence=absence)


def undone(f: "Facts", x: Finding, said: str, *senses: Sense) -> Fulfilment:
    """Still due while the round is open; not done when it has closed, if one of these senses would have seen it."""
    if f.closed is None:
        return OPEN
    gaps = [Absence(sense, x.deciding.when, f.closed.when) for sense in senses]
    return Fulfilment(outcome="breached", by=(f.closed,), said=said, absence=gaps[0], unless=tuple(gaps[1:]))


def went_on(x: Finding, by: Heard, said: str, sense: Sense) -> Fulfilment:
    """Something happened before which the remedy was due, and this sense would have seen the remedy."""
    return Fulfilment(outcome="breached", by=(by,), said=said, absence=Absence(sense, x.deciding.when, by.when))


def remedied(*by: Heard, said: str) -> Fulfilment:
    """What was ordered was done."""
    return Fulfilment(outcome="remedied", by=by, said=said)


def kept_going(f: "Facts", x: Finding) -> Fulfilment | None:
    """Nothing may stop the round: it is voided, or its wagers are won or lost; None while neither was seen."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The round was voided.")
    settled = won_or_lost(settlements(f, x.deciding))
    return remedied(settled, said="The wagers were settled.") if settled is not None else None
