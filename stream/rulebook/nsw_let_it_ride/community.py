"""12.6: community cards exposed before their time."""

from collections.abc import Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Cause
from stream.deal.words import Seat
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import (
    OPEN,
    breached,
    given_back,
    kept_going,
    remedied,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import cards_at, decides_on, round_over, still_in_play
from stream.rulebook.nsw_let_it_ride.deal import COMMUNITY
from stream.rulebook.nsw_let_it_ride.registry import checks, duties


@checks.on(ev.CardPlaced, ev.CardTurned, atoms=["12.6-a", "12.6-b"])
def community_exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.6: a community card shows before its time: a misdeal, or play goes on once the players handled their cards."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position != "C" or e.index > COMMUNITY or round_over(f):
        return LAWFUL
    by = e.by if isinstance(e, ev.CardTurned) else "dealer"
    undecided = _undecided(f, e.index)
    if (not undecided and isinstance(e, ev.CardTurned)) or by == "player":
        return LAWFUL
    if f.folding:
        return f.wait()
    return [_early(f, h, e, undecided, by)]


def _early(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned, undecided: list[Seat], by: str) -> Finding:
    hands = [s for s in still_in_play(f) if cards_at(f, s) > 0]
    handled = [s for s in hands if s in f.handled]
    soon = {x.event.seat for x in f.later(h, ev.CardsHandled) if unsure(x, h)}
    late = {s for s, x in f.handled.items() if unsure(x, h)}
    which, cause, reading = _governs(f, hands, set(handled))
    either = {_governs(f, hands, set(handled) | soon)[:2], _governs(f, hands, set(handled) - late)[:2], (which, cause)}
    decided = [d for d in f.later(h, ev.PlayerDecided) if unsure(d, h) and decides_on(d, e.index)]
    if len(either) > 1 or ({d.event.seat for d in decided} >= set(undecided) and undecided):
        cause = "order"
    begin = f.round.when if f.round else h.when
    since = min((x.when for seat, x in f.handled.items() if seat in undecided), default=begin)
    said = f"Community card {e.index} showed its face before "
    said += "the deal was over and cards were handled." if not handled else "every player had decided."
    return Finding(
        atom=which, deciding=h, observed=said, cause="actor" if by == "unknown" else cause, interpretations=reading,
        absence=Absence("decisions", since, h.when) if which == "12.6-b" else None,
        unless=_play_unseen(f, h) if which == "12.6-a" else (),
    )  # fmt: skip


def _play_unseen(f: Facts, h: Heard) -> tuple[Absence, ...]:
    """Once all cards are dealt, the players' whole play may be what was not read."""
    if f.complete_at is None:
        return ()
    since = f.round.when if f.round else h.when
    return (Absence("handling", since, h.when), Absence("decisions", since, h.when))


def _governs(f: Facts, hands: list[Seat], handled: set[Seat]) -> tuple[str, Cause | None, tuple[str, ...]]:
    """Which half of 12.6 governs when these have handled their cards (I-NSW-any, I-NSW-6gap)."""
    mine = [s for s in hands if s in handled]
    if not mine:
        if f.complete_at is None:
            return "12.6-a", None, ()
        return "12.6-a", "text" if f.setting("I-NSW-6gap") == "text" else None, ("I-NSW-6gap",)
    if len(mine) == len(hands):
        return "12.6-b", None, ()
    setting = f.setting("I-NSW-any")
    if setting == "text":
        return "12.6-a", "text", ("I-NSW-any",)
    return ("12.6-b" if setting == "any" else "12.6-a"), None, ("I-NSW-any",)


def _undecided(f: Facts, area: int) -> list[Seat]:
    """The present players with a hand who have not decided on an area."""
    done = {d.event.seat for d in f.decisions if decides_on(d, area)}
    void = {v.event.position for v in f.voids}
    return [
        s for s in still_in_play(f)
        if s not in done and s not in void and s not in f.absent and cards_at(f, s) > 0 and f.unsettled(s)
    ]  # fmt: skip


@duties.of("12.6-b")
def play_continues(f: Facts, x: Finding) -> Fulfilment:
    """12.6: once the players have handled their cards an exposed community card stops nothing."""
    done = kept_going(f, x)
    if done is not None:
        return done
    if f.closed is not None and f.ending is None:
        back = given_back(f, x.deciding)
        return breached(back[0], "The wagers were given back.") if back else remedied(f.closed, said="Play went on.")
    return OPEN
