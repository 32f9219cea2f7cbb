"""33.12(g): the button."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.words import ButtonPlace, Seat
from stream.rulebook.checks import LAWFUL, FirstDraw
from stream.rulebook.duties import OPEN, breached, over_reaction, remedied
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nj_winners_pot_33.phase import ended_otherwise
from stream.rulebook.nj_winners_pot_33.registry import checks, duties
from stream.rulebook.noting import successor


def _button_name(button: ButtonPlace | None) -> str:
    return "the dealer" if button == "D" else str(button)


@checks.on(FirstDraw, atoms=["33.12(g)"])
def button_moved(f: Facts, h: Heard) -> Sequence[Finding]:
    """(g): the button stands with the next player when the round is dealt."""
    if f.astray is None:
        return LAWFUL
    moves = (m for m in f.later(h, ev.ButtonMoved) if unsure(m, h))
    near = next((m for m in moves if m.event.to == f.astray), None)
    said = f"The round was dealt with the button at {_button_name(f.button)}; it was due at {_button_name(f.astray)}."
    return [
        Finding(
            atom="33.12(g)", deciding=h, interpretations=("I-33-g",), cause="order" if near else None,
            supporting=(near,) if near else (),
            observed=said,
            absence=Absence("button", f.turn_before, h.when),
            unless=(Absence("wagers", f.turn_before, h.when),),
        )
    ]  # fmt: skip


@duties.of("33.12(g)")
def moved_next_time(f: Facts, x: Finding) -> Fulfilment:
    """(g): the round goes on as if the button had been moved; in the next it is moved on from there."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The round was stopped for it.")
    if ended_otherwise(f):
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
    return OPEN


def _rotated(
    f: Facts,
    h: Heard,
    button: ButtonPlace | None,
    fiction: ButtonPlace | None,
    real: ButtonPlace | None,
    seats: tuple[Seat, ...],
) -> Fulfilment:
    if fiction is not None and button == successor(fiction, seats):
        return remedied(h, said=f"In the next round it stood at {_button_name(button)}, as if it had been moved.")
    if real is not None and button == successor(real, seats) and f.setting("I-33-g") == "accept_real":
        return Fulfilment(
            outcome="remedied",
            by=(h,),
            severity="minor",
            said=f"In the next round it was moved on, to {_button_name(button)}.",
        )
    return breached(h, f"In the next round it stood at {_button_name(button)}.")
