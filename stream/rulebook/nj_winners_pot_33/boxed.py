"""33.12(b): boxed cards, which lie the wrong way round in the source."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Cause
from stream.deal.words import Sense
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import (
    OPEN,
    breached,
    given_back,
    kept_going,
    over_reaction,
    remedied,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nj_winners_pot_33.drawn import used_cards
from stream.rulebook.nj_winners_pot_33.phase import ended_and_reshuffled
from stream.rulebook.nj_winners_pot_33.registry import checks, duties


@checks.on(ev.CardDrawn, ev.CardSeen, atoms=["33.12(b)-1", "33.12(b)-2", "33.12(b)-3"])
def boxed(f: Facts, h: Heard) -> Sequence[Finding]:
    """(b): boxed cards: one, more than one, or found after the last card."""
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
    stub = isinstance(h.event, ev.CardSeen) and h.event.place == "stub"
    over = (
        (Absence("placements", f.first_draw.when, h.when, dealt=True),) if stub else ()
    )  # the deal may have been over
    if len(during) == 1:
        return [Finding(atom="33.12(b)-1", deciding=h, observed=said, cause=unknown, unless=over)]
    return [
        Finding(
            atom="33.12(b)-2", deciding=h, supporting=tuple(during[:-1]), cause=unknown, unless=over,
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


@duties.of("33.12(b)-1")
def racked_unused(f: Facts, x: Finding) -> Fulfilment:
    """(b): the card goes to the rack, and the next one takes its place."""
    draw = _draw_of(f, x.deciding)
    second = next((b for b in f.boxed if b > x.deciding and (f.completes is None or b < f.completes)), None)
    for h in used_cards(f, x.deciding):
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


def _absent(sense: Sense, x: Finding, end: Heard) -> Absence:
    return Absence(sense, x.deciding.when, end.when)


@duties.of("33.12(b)-2")
def all_void_and_reshuffled(f: Facts, x: Finding) -> Fulfilment:
    """(b): all hands are void, and the deck is shuffled before it is dealt again."""
    return ended_and_reshuffled(f, x, goes_on=(ev.CardPlaced, ev.PlayerDecided))


@duties.of("33.12(b)-3")
def settled_all_the_same(f: Facts, x: Finding) -> Fulfilment:
    """(b): found after the last card, it changes nothing: the wagers are settled."""
    done = kept_going(f, x)
    if done is not None:
        return done
    if f.closed is not None:
        back = given_back(f, x.deciding)
        if back:
            return breached(back[0], "The wagers were given back.")
        return Fulfilment(outcome="moot", reason="No wager was left to settle.")
    return OPEN
