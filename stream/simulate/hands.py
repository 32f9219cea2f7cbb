"""How poker hands compare, well enough to settle simulated wagers plausibly."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from stream.deal.cards import RANKS, Card

Rank = tuple[int, ...]
"""What five cards are worth: the kind of hand, then the ranks that decide between two of a kind."""

(HIGH, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL, QUADS, STRAIGHT_FLUSH) = range(9)
_COUNTS = {(4, 1): QUADS, (3, 2): FULL, (3, 1, 1): TRIPS, (2, 2, 1): TWO_PAIR, (2, 1, 1, 1): PAIR}


def rank(cards: Sequence[Card]) -> Rank:
    """The rank of five cards (or fewer, which make no straight and no flush)."""
    ranks = [RANKS.index(c[0]) for c in cards]
    by_count = sorted(set(ranks), key=lambda x: (ranks.count(x), x), reverse=True)
    counts = tuple(ranks.count(x) for x in by_count)
    flush = len(cards) == 5 and len({c[1] for c in cards}) == 1
    straight = len(by_count) == 5 and (max(ranks) - min(ranks) == 4 or by_count == [12, 3, 2, 1, 0])
    if straight:
        return (STRAIGHT_FLUSH if flush else STRAIGHT, by_count[0] if by_count[1] != 3 else 3)
    if flush:
        return (FLUSH, *by_count)
    kind = _COUNTS.get(counts, {4: QUADS, 3: TRIPS, 2: PAIR}.get(counts[0], HIGH))
    return (kind, *by_count)


def best(cards: Iterable[Card]) -> Rank:
    """The best rank that five of some cards make; no cards are worth nothing."""
    held = list(cards)
    return max((rank(five) for five in combinations(held, min(5, len(held)))), default=(-1,)) if held else (-1,)
