"""12.9, 12.10: wagers that do not comply with rule 5.2."""

from collections.abc import Mapping, Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import Position, Seat
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import (
    OPEN,
    breached,
    given_back,
    remedied,
    settlements,
    undone,
    voids,
    went_on,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import next_decision, round_over
from stream.rulebook.nsw_let_it_ride.deal import AREAS
from stream.rulebook.nsw_let_it_ride.registry import checks, duties


def complies(f: Facts, amounts: Mapping[str, int]) -> bool:
    """Rule 5.2: equal wagers on the three areas, within the table's limits."""
    limits = f.opened.limits
    bets = [amounts.get(a, 0) for a in AREAS]
    return len(set(bets)) == 1 and limits.min <= bets[0] <= limits.max


def _retrieves(d: Heard[ev.PlayerDecided], seat: Position | None, area: str) -> bool:
    return (d.event.seat, d.event.act, d.event.area) == (seat, "retrieve", area)


def amounts_of(f: Facts, seat: Seat, until: Heard | None = None) -> dict[str, int]:
    """What a player has staked on each area, in minor units; what was lawfully retrieved counts as it was."""
    out: dict[str, int] = {}
    for h in f.chips:
        e = h.event
        if e.seat != seat or (until is not None and h > until):
            continue
        if isinstance(e, ev.WagerPlaced):
            out[e.area] = out.get(e.area, 0) + e.amount
        elif not any(_retrieves(d, seat, e.area) and d < h for d in f.decisions):
            out[e.area] = out.get(e.area, 0) - e.amount
    return out


@checks.on(ev.WagerRequested, atoms=["12.9", "12.9.1", "12.9.2", "12.10"])
def correction_requested(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.9, 12.10: asked to, the player corrects a wager that does not comply, or (before handling) folds."""
    e = h.event
    assert isinstance(e, ev.WagerRequested)
    amounts = amounts_of(f, e.seat)
    if complies(f, amounts) or round_over(f) or f.requested.get(e.seat) is not h:
        return LAWFUL
    if f.folding:
        return f.wait()
    mine = f.handled.get(e.seat)
    soon = next((x for x in f.later(h, ev.CardsHandled) if x.event.seat == e.seat), None)
    near = next((x for x in (mine, soon) if x is not None and unsure(x, h)), None)
    bets = "/".join(str(amounts.get(a, 0)) for a in AREAS)
    said = f"The wagers of {e.seat} were {bets} on 1, 2 and $ when a correction was asked for."
    begin = f.round.when if f.round else h.when
    if near is not None or mine is None:
        atom, scope = _chosen(f, h, e.seat) if near is None else ("12.9", Scope("player", position=e.seat))
    else:
        atom, scope = "12.10", Scope("player", position=e.seat)
    return [
        Finding(
            atom=atom, deciding=h, scope=scope, positions=(e.seat,), cause="order" if near else None, observed=said,
            supporting=(near,) if near else (), interpretations=("I-NSW-own",),
            unless=(Absence("wagers", begin, h.when), Absence("decisions", begin, h.when)),
        )
    ]  # fmt: skip


def _chosen(f: Facts, h: Heard, seat: Seat) -> tuple[str, Scope]:
    """Which of the two ways the player took before the next decision; neither: 12.9 itself."""
    ends = [x for x in (next_decision(f, h, but=seat), voids(f, h)) if x is not None]
    for x in f.later(h, ev.PlayerDecided, ev.WagerPlaced, ev.WagerRemoved):
        if ends and x >= min(ends):
            break
        e = x.event
        if e.seat != seat:
            continue
        if isinstance(e, ev.PlayerDecided):
            return "12.9.2", Scope("hand", position=seat)
        return "12.9.1", Scope("player", position=seat)
    return "12.9", Scope("player", position=seat)


@duties.of("12.9", "12.9.1", "12.10")
def corrected(f: Facts, x: Finding) -> Fulfilment:
    """12.9, 12.9.1, 12.10: the wagers comply before the next decision."""
    asked = x.deciding.event
    assert isinstance(asked, ev.WagerRequested)
    seat = asked.seat
    if round_over(f):
        return OPEN
    amounts = amounts_of(f, seat, x.deciding)
    end = next_decision(f, x.deciding, but=seat)
    for h in f.later(x.deciding, ev.WagerPlaced, ev.WagerRemoved, ev.PlayerDecided):
        if end is not None and h > end:
            break
        e = h.event
        if e.seat != seat:
            continue
        if isinstance(e, ev.PlayerDecided):
            if e.act == "fold" and x.atom == "12.10":
                return Fulfilment(
                    outcome="breached", by=(h,), severity="minor", interpretations=("I-NSW-10",),
                    said="The player folded instead, which is not open any more.",
                )  # fmt: skip
            continue
        assert isinstance(e, ev.WagerPlaced | ev.WagerRemoved)
        amounts[e.area] = amounts.get(e.area, 0) + (e.amount if isinstance(e, ev.WagerPlaced) else -e.amount)
        if complies(f, amounts):
            return remedied(h, said="The wagers were corrected.")
    if end is not None:
        return went_on(x, end, "Play went on and the wagers did not comply.", "wagers")
    return undone(f, x, "The wagers did not comply.", "wagers")


@duties.of("12.9.2")
def folded(f: Facts, x: Finding) -> Fulfilment:
    """12.9.2: the cards are collected and the wager is returned, before the next decision."""
    seat = x.scope.position
    if round_over(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=seat))
    if lost is not None:
        return breached(lost, "A wager was kept.")
    taken = next((t for t in f.takes if t > x.deciding and t.event.position == seat), None)
    back = given_back(f, x.deciding, seat)
    left = f.unsettled(seat)
    end = next_decision(f, x.deciding, but=seat)
    done = max([*back, taken], default=None) if taken is not None and back and not left else None
    if done is not None and taken is not None and (end is None or done < end):
        return remedied(taken, *back, said="The cards were collected and the wager returned.")
    if end is not None:
        said = "Play went on before the cards were collected and the wager returned."
        return went_on(x, end, said, "placements")
    return undone(f, x, "The cards were not collected, or the wager not returned.", "placements", "settlement")
