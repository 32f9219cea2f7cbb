"""12.3, 12.5: players' cards exposed in the deal."""

from collections.abc import Sequence

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Scope
from stream.deal.words import Position
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, breached, over_reaction, remedied
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.marks import Up
from stream.rulebook.nsw_let_it_ride.asked import first_handling
from stream.rulebook.nsw_let_it_ride.registry import checks, duties


def _exposed(f: Facts, before: Heard) -> list[Up]:
    """The players' cards that the dealer (or nobody knows who) exposed before a moment, each once."""
    out: dict[tuple[Position, int], Up] = {}
    for u in f.ups:
        if u.position not in ("C", "D") and u.by != "player" and u.heard < before:
            out.setdefault((u.position, u.index), u)
    return list(out.values())


@checks.on(ev.CardPlaced, ev.CardTurned, atoms=["12.3", "12.5"])
def exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.3, 12.5: one player card exposed in the deal is turned over; two are a misdeal (I-NSW-3v5, I-NSW-exp)."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position in ("C", "D") or (isinstance(e, ev.CardTurned) and e.by == "player"):
        return LAWFUL
    hnd = first_handling(f)
    if f.decisions or (hnd is not None and isinstance(e, ev.CardTurned)):
        return LAWFUL  # the deal is over; the hands are shown in their time
    if f.folding:
        return f.wait()
    since = f.complete_at
    unless = (
        () if since is None else (Absence("handling", since.when, h.when), Absence("decisions", since.when, h.when))
    )
    return [replace(x, unless=unless) for x in _shown_in_deal(f, h, e)]


def _shown_in_deal(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned) -> Sequence[Finding]:
    before = _exposed(f, h)
    if (e.position, e.index) in {(u.position, u.index) for u in before}:
        return LAWFUL
    if f.setting("I-NSW-3v5") == "at_once":
        before = [u for u in before if f.faces.get((u.position, u.index)) == "up"]
    unknown = isinstance(e, ev.CardTurned) and e.by == "unknown"
    certain = [u for u in before if u.by == "dealer"]
    cause: Cause | None = "actor" if unknown or (before and not certain) else None
    near = (
        next((x for x in f.later(h, ev.CardsHandled) if unsure(x, h)), None) if isinstance(e, ev.CardTurned) else None
    )
    if before:
        return [
            Finding(
                atom="12.3", deciding=h, supporting=tuple(u.heard for u in before), cause=cause,
                interpretations=("I-NSW-3v5", "I-NSW-exp"),
                positions=tuple(sorted({u.position for u in before} | {e.position})),
                observed=f"{len(before) + 1} cards of players were exposed in the deal.",
            )
        ]  # fmt: skip
    return [
        Finding(
            atom="12.5", deciding=h, scope=Scope("card", position=e.position, index=e.index),
            cause=cause or ("order" if near else None), interpretations=("I-NSW-exp",), positions=(e.position,),
            observed=f"Card {e.index} of {e.position} showed its face in the deal.",
        )
    ]  # fmt: skip


@duties.of("12.5")
def turned_over(f: Facts, x: Finding) -> Fulfilment:
    """12.5: the card is turned over and the deal goes on; it is no misdeal."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "A misdeal was declared for it.")
    hnd = first_handling(f)
    second = f.endings.get("12.3")
    for t in f.later(x.deciding, ev.CardTurned, ev.CardPlaced):
        if second is not None and t > second:
            return OPEN
        e = t.event
        same = (e.position, e.index) == (x.scope.position, x.scope.index)
        if same and e.facing == "down":
            if hnd is not None and hnd < t:
                if unsure(hnd, t):
                    return Fulfilment(outcome="open", by=(t, hnd), cause="order")
                break
            return remedied(t, said="It was turned over.")
    if hnd is not None and hnd > x.deciding:
        return breached(
            hnd, "It still lay face up when cards were handled.", absence=Absence("turns", x.deciding.when, hnd.when)
        )
    return OPEN
