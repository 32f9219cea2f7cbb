"""What can be due in a deal, what was done, and how the two can differ."""

from typing import Literal

from msgspec import Struct

from stream.deal.words import Call, Facing, Position
from stream.rulebook.heard import Heard


class Deal(Struct, frozen=True):
    """A card is due at a position, face up or down.

    `part` names the part of the deal it belongs to (`player`, `common`, `dealer`); the rule set's data says
    which atom a departure from that part breaks. `index` is its place within the position; it has to match
    only where `exact` (a cross has a top and a bottom; a row of cards has not).
    """

    position: Position
    index: int
    facing: Facing
    part: str
    exact: bool = False


class Announce(Struct, frozen=True):
    """The dealer calls something."""

    what: Call


class Offer(Struct, frozen=True):
    """Each player in play may place a further wager on an area."""

    area: str


class Turn(Struct, frozen=True):
    """The dealer turns a card up."""

    position: Position
    index: int


class Settle(Struct, frozen=True):
    """The dealer settles the wagers on these areas, for hands made of own and common cards."""

    areas: tuple[str, ...]


Due = Deal | Announce | Offer | Turn | Settle
"""What a procedure can say is due. Only deals are steps of the plan that acts are aligned with; the rest is judged by
checks, and dealt by the simulator."""

Step = Deal
Plan = tuple[Step, ...]


class Variant(Struct, frozen=True):
    """A whole deal that is wrong in one recognisable way, so that it is one departure and not six."""

    name: str
    part: str  # the part of the deal whose paragraph it breaks
    plan: Plan


class Act(Struct, frozen=True):
    """A card taken: where it came to lie, or that it was burned.

    No position: a draw that was seen and whose placement was not.
    """

    heard: Heard
    position: Position | Literal["burn"] | None
    index: int
    facing: Facing | None
    draw: int | None


Edit = Literal["skipped", "extra", "wrong_face", "exchanged", "swapped", "moved", "variant", "lost", "unplaced"]


class Departure(Struct, frozen=True):
    """One way in which the acts differ from the plan.

    `step` was due when `act` came; `other` is the second act of an exchange or the late act of a move.
    `lost` and `unplaced` are not anybody's acts: a reading is missing, and something shows that it is.
    """

    edit: Edit
    part: str
    step: Step | None
    act: Act | None
    other: Act | None = None
    name: str = ""
