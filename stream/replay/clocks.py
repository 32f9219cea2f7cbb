"""Clocks that err by more than they say: one act seen by two devices in an order that it can't have had."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.rulebook.facts import Facts
from stream.rulebook.heard import MS, Heard

LEAST: Final = 2  # cards of a round that have to show it: a single one may be a draw number misread


class Drift(Struct, frozen=True):
    """Two devices whose clocks are further apart than their bounds allow, and by how much at least (ms)."""

    devices: tuple[str, str]
    apart_ms: int
    shown_by: tuple[Heard, ...]


def too_early(drawn: Heard[ev.CardDrawn], placed: Heard[ev.CardPlaced]) -> int:
    """How far a card was placed before it was drawn (microseconds), beyond what both clocks may err; else nothing."""
    bound = (drawn.event.clock_ms + placed.event.clock_ms) * MS
    return max(0, drawn.at - placed.at - bound)


def drifts(f: Facts) -> Iterator[Drift]:
    """Pairs of devices of which one placed cards before the other drew them."""
    shown: dict[tuple[str, str], list[tuple[int, Heard[ev.CardDrawn], Heard[ev.CardPlaced]]]] = {}
    for placed in f.placements:
        drawn = f.draws.get(placed.event.draw) if placed.event.draw is not None else None
        if drawn is not None and drawn.device != placed.device and (early := too_early(drawn, placed)):
            shown.setdefault((drawn.device, placed.device), []).append((early, drawn, placed))
    for devices, cards in sorted(shown.items()):
        if len(cards) >= LEAST:
            events = tuple(h for _, drawn, placed in cards for h in (drawn, placed))
            yield Drift(devices, max(early for early, _, _ in cards) // MS, events)
