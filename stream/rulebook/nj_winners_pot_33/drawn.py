"""33.12(c): cards drawn in error."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Scope
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, ROUND_ENDS, breached, over_reaction, remedied, undone, voids, went_on
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nj_winners_pot_33.cards import missed_burns, street_of
from stream.rulebook.nj_winners_pot_33.registry import checks, duties
from stream.rulebook.steps import Burn

_Use = ev.CardPlaced | ev.CardBurned | ev.CardReturned | ev.CardsDiscarded


def used_cards(f: Facts, after: Heard) -> list[Heard[_Use]]:
    """What was done with cards that had left the source, after a moment and in order."""
    return sorted(
        [*f.later(after, ev.CardPlaced, ev.CardBurned), *f.later(after, ev.CardReturned, ev.CardsDiscarded)],
        key=lambda h: h[:4],
    )


@checks.on(ev.CardDrawn, atoms=["33.12(c)"])
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
    if not f.steps or f.nothing_placed(h):
        return LAWFUL  # a deal that could not be followed does not say what is due
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
            unless=(Absence("placements", f.round.when if f.round else since, h.when, dealt=True),),
            observed=f"Draw {e.draw} left the source when no card was due.",
        )
    ]  # fmt: skip


def _used_before_close(f: Facts, h: Heard, draw: int) -> bool:
    """Whether a card went to its place in the deal and no betting round was closed in between."""
    use = next((p for p in f.later(h, ev.CardPlaced, ev.CardBurned) if p.event.draw == draw), None)
    close = next(f.later(h, ev.BettingClosed), None)
    return use is not None and (close is None or use < close)


@checks.on(ev.CardBurned, atoms=["33.12(c)", "33.12(e)"])
def burned_in_error(f: Facts, h: Heard) -> Sequence[Finding]:
    """(c): one burn too many is a card drawn in error (I-33-extraburn)."""
    e = h.event
    assert isinstance(e, ev.CardBurned)
    if f.folding or e.draw is None:
        return LAWFUL  # the engine itself asks whether a burn is due
    step = f.steps.get(e.draw)
    if isinstance(step, Burn):
        first = next((p for p in f.placements if street_of(f, p) == step.street), None)
        if first is None or not unsure(first, h):
            return LAWFUL
        said = "The first card of a street and the burn before it came so close that their order is not known."
        return [Finding(atom="33.12(e)", deciding=first, supporting=(h,), cause="order", observed=said)]
    if missed_burns(f) or not f.steps:
        return LAWFUL
    drawn = f.draws.get(e.draw)
    if drawn is None or drawn in f.boxed or _early(f, drawn):
        return LAWFUL
    begin = f.round.when if f.round else drawn.when
    return [
        Finding(
            atom="33.12(c)", deciding=h, scope=Scope("card", draw=e.draw), interpretations=("I-33-extraburn",),
            unless=(Absence("announcements", begin, h.when), Absence("placements", begin, h.when, dealt=True)),
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


@duties.of("33.12(c)")
def used_as_next(f: Facts, x: Finding) -> Fulfilment:
    """(c): that card is the next one used, for whatever the next card is due."""
    draw = x.scope.draw
    void = voids(f, x.deciding)
    for h in used_cards(f, x.deciding):
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
            return went_on(x, h, "Another card was used before it.", "placements")
    if over_reaction(f, x.deciding, None) is not None and void is not None:
        return breached(void, "The round was given up for it.")
    return undone(f, x, "It was not used.", "placements", "burns") if void is None else OPEN
