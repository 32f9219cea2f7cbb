"""12.11: what a supervisor directs."""

from collections.abc import Iterator, Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import Seat
from stream.rulebook.checks import LAWFUL
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nsw_let_it_ride.asked import still_in_play
from stream.rulebook.nsw_let_it_ride.deal import AREAS
from stream.rulebook.nsw_let_it_ride.registry import checks


@checks.on(ev.SupervisorDirected, atoms=["12.11"])
def directed_by_supervisor(_f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11: only a casino supervisor may direct."""
    e = h.event
    assert isinstance(e, ev.SupervisorDirected)
    if e.role == "supervisor" or e.order == "lifted":
        return LAWFUL
    scope = Scope("player", position=e.seats[0]) if e.seats else Scope("table")
    said = f"A direction ({e.order.replace('_', ' ')}) was given by {'the dealer' if e.role == 'dealer' else e.role}."
    return [Finding(atom="12.11", deciding=h, scope=scope, positions=e.seats, observed=said)]


def _orders(f: Facts, order: str) -> Iterator[tuple[Heard, ev.SupervisorDirected]]:
    """A supervisor's directions of one kind in force."""
    for h in f.orders:
        e = h.event
        if isinstance(e, ev.SupervisorDirected) and e.order == order and e.role == "supervisor":
            yield h, e


@checks.on(ev.CardsHandled, ev.CardTurned, atoms=["12.11.1"])
def plays_first(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.1: the directed player decides before others handle their cards and before the first community card."""
    e = h.event
    for order, directed in _orders(f, "play_first"):
        waiting = [s for s in directed.seats if s in still_in_play(f) and not _has_decided(f, s)]
        if not waiting or h < order:
            continue
        if isinstance(e, ev.CardsHandled):
            broken = e.seat not in directed.seats and f.handled.get(e.seat) is h
            said = f"{e.seat} handled cards before {waiting[0]}, who was directed to play first, had decided."
        else:
            assert isinstance(e, ev.CardTurned)
            broken = (
                e.position == "C"
                and e.facing == "up"
                and not any(s not in directed.seats and x > order for s, x in f.handled.items())
            )
            said = f"A community card was shown before {waiting[0]}, who was directed to play first, had decided."
        if not broken:
            continue
        if f.folding:
            return f.wait()
        soon = next((d for d in f.later(h, ev.PlayerDecided) if d.event.seat == waiting[0] and unsure(d, h)), None)
        near = soon or (order if unsure(order, h) else None)
        return [
            Finding(
                atom="12.11.1", deciding=h, supporting=(order,), cause="order" if near else None, observed=said,
                absence=Absence("decisions", order.when, h.when),
            )
        ]  # fmt: skip
    return LAWFUL


def _has_decided(f: Facts, seat: Seat) -> bool:
    return any(d.event.seat == seat for d in f.decisions)


@checks.on(ev.WagerPlaced, atoms=["12.11.2", "12.11.4"])
def restricted(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.2, 12.11.4: who may not play together does not, and who is precluded does not play."""
    e = h.event
    assert isinstance(e, ev.WagerPlaced)
    found = []
    for order, directed in _orders(f, "preclude"):
        if _is_meant(f, directed, e.seat):
            found.append(
                Finding(
                    atom="12.11.4", deciding=h, supporting=(order,), scope=Scope("player", position=e.seat),
                    positions=(e.seat,), cause="order" if unsure(order, h) else None, unless=_since(order, h),
                    observed=f"A wager was placed at {e.seat}, whose player was precluded.",
                )
            )  # fmt: skip
    for order, directed in _orders(f, "separate"):
        others = [s for s in f.staked(*AREAS) if s != e.seat and _is_meant(f, directed, s)]
        if others and _is_meant(f, directed, e.seat):
            found.append(
                Finding(
                    atom="12.11.2", deciding=h, supporting=(order,), scope=Scope("table"),
                    positions=(*others, e.seat), cause="order" if unsure(order, h) else None, unless=_since(order, h),
                    observed=f"Players at {', '.join((*others, e.seat))}, who were directed apart, played together.",
                )
            )  # fmt: skip
    return found


def _since(order: Heard, h: Heard) -> tuple[Absence, ...]:
    """A direction may have been lifted, or a seat taken by another, and that not been read."""
    return Absence("supervisor", order.when, h.when), Absence("seating", order.when, h.when)


def _is_meant(f: Facts, directed: ev.SupervisorDirected, seat: Seat) -> bool:
    """Whether a direction is about who sits at a seat: the person where persons were named, else the seat."""
    if directed.players:
        return f.seated.get(seat) in directed.players
    return seat in directed.seats


@checks.on(ev.SupervisorNoted, atoms=["12.11.3"])
def english_only(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.3: told by a supervisor, who alone can hear it."""
    e = h.event
    assert isinstance(e, ev.SupervisorNoted)
    order = next((o for o, _ in _orders(f, "english_only") if o < h), None)
    if e.what != "not_english" or order is None:
        return LAWFUL
    said = "A language other than English was noted after the direction to speak English."
    near = unsure(order, h)
    return [
        Finding(
            atom="12.11.3", deciding=h, supporting=(order,), scope=Scope("table"), positions=e.seats,
            cause="order" if near else None, observed=said, unless=_since(order, h),
        )
    ]  # fmt: skip
