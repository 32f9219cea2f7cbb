"""How wagers are settled: plausibly, by a ranking of our own, for the sections on it are not at hand."""

from collections.abc import Callable
from typing import Final

from stream.deal import events as ev
from stream.deal.cards import RANKS, Card
from stream.deal.words import Outcome, Position, Seat
from stream.simulate.hands import FLUSH, FULL, PAIR, QUADS, STRAIGHT, STRAIGHT_FLUSH, TRIPS, TWO_PAIR, best, rank
from stream.simulate.round import Round

Verdict = tuple[Outcome, int]  # and how many times the stake is paid
_PAYS: Final = {PAIR: 1, TWO_PAIR: 2, TRIPS: 3, STRAIGHT: 5, FLUSH: 8, FULL: 11, QUADS: 50, STRAIGHT_FLUSH: 200}
_LOST: Final[Verdict] = ("collected", 1)


def settle(r: Round, areas: tuple[str, ...]) -> None:
    """Settle the wagers that lie on some areas, seat by seat, on own and common cards."""
    judge = _JUDGES.get(r.rules, _stud)
    for seat in r.seats:
        for area in areas:
            stake = r.stakes.get((seat, area))
            if stake is None:
                continue
            outcome, times = judge(r, seat, area)
            r.add(
                "floor", ev.WagerSettled, "settle", r.pause(500, 1000), seat=seat, area=area, outcome=outcome,
                amount=stake * times, on=_on(r, seat),
            )  # fmt: skip


def _on(r: Round, seat: Seat) -> tuple[ev.CardAt, ...]:
    hands: tuple[Position, ...] = (seat, "C")
    return tuple(ev.CardAt(p, i) for p in hands if p not in r.taken for i, _ in r.hands.get(p, []))


def _cards(r: Round, *positions: Position) -> list[Card]:
    return [c.card for p in positions for _, c in r.hands.get(p, [])]


def _stud(r: Round, seat: Seat, _area: str) -> Verdict:
    """Nothing but a pair of sixes or better is kept, jacks or better are paid."""
    kind, high, *_ = best(_cards(r, seat, "C"))
    if kind > PAIR:
        return "paid", 1
    if kind < PAIR or high < RANKS.index("6"):
        return _LOST
    return ("paid" if high >= RANKS.index("J") else "returned"), 1


def _ride(r: Round, seat: Seat, _area: str) -> Verdict:
    """A pair of tens or better is paid."""
    kind, high, *_ = best(_cards(r, seat, "C"))
    return ("paid", _PAYS[kind]) if (kind, high) >= (PAIR, RANKS.index("T")) else _LOST


def _pot(r: Round, seat: Seat, area: str) -> Verdict:
    """The best hand still in play wins from the others; the bonus is paid for jacks or better."""
    mine = best(_cards(r, seat))
    if seat in r.held:
        return _LOST
    if area == "bonus":
        return ("paid", _PAYS[mine[0]]) if mine[:2] >= (PAIR, RANKS.index("J")) else _LOST
    others = [p for p in (*r.playing, "D") if p != seat and p not in r.held]
    return ("paid", len(r.seats)) if all(mine > best(_cards(r, p)) for p in others) else _LOST  # type: ignore[arg-type]  # a seat or the dealer


def _cross(r: Round, seat: Seat, area: str) -> Verdict:
    """The better of a player's two hands against the better of the dealer's; three cards pay a pair or better."""
    if seat in r.held:
        return _LOST
    if area == "three_card":
        kind = rank(_cards(r, seat) + _cards(r, "C")[1:2])[0]
        return ("paid", _PAYS[kind]) if kind >= PAIR else _LOST
    mine, dealers = _two_hands(r, seat), _two_hands(r, "D")
    return ("returned", 1) if mine == dealers else ("paid", 1) if mine > dealers else _LOST


def _two_hands(r: Round, position: Position) -> tuple[int, ...]:
    own, cross = _cards(r, position), dict(r.hands.get("C", []))
    lines = [[cross[i].card for i in line if i in cross] for line in ((1, 2, 3), (4, 2, 5))]
    return max(best([*own, *line]) for line in lines)


_JUDGES: Final[dict[str, Callable[[Round, Seat, str], Verdict]]] = {
    "nj-winners-pot-33": _pot,
    "nj-double-cross-25": _cross,
    "nsw-let-it-ride": _ride,
}
