"""What the facts keep of chips and of faces."""

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.words import By, Position
from stream.rulebook.heard import Heard


class Wager:
    """Chips on one area, in minor units."""

    __slots__ = ("amount", "placed", "settled", "touched")

    def __init__(self, placed: Heard) -> None:
        self.amount = 0
        self.placed = placed
        self.touched = placed  # the last event that changed it
        self.settled = False


class Up(Struct, frozen=True):
    """A card showed its face: placed face up, or turned up by somebody."""

    position: Position
    index: int
    heard: Heard[ev.CardPlaced | ev.CardTurned]
    by: By
    turned: bool
