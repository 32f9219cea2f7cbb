"""What can be due in a deal, what was done, and how the two can differ."""

from typing import Literal

from msgspec import Struct

from stream.deal.words import Call, Facing, Position, Seat
from stream.rulebook.heard import Heard


class Terms(Struct, frozen=True):
    """What a plan depends on beside the table's settings, as far as the round has come.

    `seats` are in play; `first` is the hand that the deal begins with, where the rules have it rotate; `held`
    names hands that get no card beyond so many (folded, dead).
    """

    seats: tuple[Seat, ...]
    first: Position | None = None
    held: tuple[tuple[Position, int], ...] = ()


class Deal(Struct, frozen=True):
    """A card is due at a position, face up or down.

    `part` names the part of the deal it belongs to (`player`, `common`, `dealer`); the rule set's data says
    which atom a departure from that part breaks. `index` is its place within the position; it has to match
    only where `exact` (a cross has a top and a bottom; a row of cards has not). Cards of one `street` may come
    in any order where `free`. Where `any_face`, a check judges the face. `gate` says how many betting rounds
    have to be closed before.
    """

    position: Position
    index: int
    facing: Facing
    part: str
    exact: bool = False
    street: int = 0
    free: bool = False
    any_face: bool = False
    gate: int = 0


class Burn(Struct, frozen=True):
    """The next card goes to the discard rack, face down and unseen."""

    street: int = 0
    gate: int = 0
    position: Literal["burn"] = "burn"
    index: int = 0
    facing: Facing | None = None
    part: str = "burn"
    exact: bool = False
    free: bool = False
    any_face: bool = False


class Close(Struct, frozen=True):
    """Something ends this stretch of the deal: a betting round closes, the first player takes up cards."""

    index: int
    street: int = 0
    position: Literal["gate"] = "gate"
    facing: Facing | None = None
    part: str = "gate"
    exact: bool = False
    free: bool = False
    any_face: bool = False
    gate: int = 0


class Announce(Struct, frozen=True):
    """The dealer calls something."""

    what: Call


class Offer(Struct, frozen=True):
    """Each player in play may place a further wager on an area."""

    area: str


class Bet(Struct, frozen=True):
    """A betting round: the hands still in play check, bet, call or fold."""

    street: int


class Decide(Struct, frozen=True):
    """Each player decides whether the wager on an area stays."""

    area: str


class Turn(Struct, frozen=True):
    """The dealer turns a card up."""

    position: Position
    index: int


class ClearStub(Struct, frozen=True):
    """The dealer takes the stub out of the source and puts it into the discard rack."""


class Settle(Struct, frozen=True):
    """The dealer settles the wagers on these areas, for hands made of own and common cards."""

    areas: tuple[str, ...]


Due = Deal | Burn | Close | Announce | Offer | Bet | Decide | Turn | ClearStub | Settle
"""What a procedure can say is due. Deals, burns and what closes a stretch of them are steps of the plan that acts
are aligned with; the rest is judged by checks, and dealt by the simulator."""

Step = Deal | Burn | Close
Plan = tuple[Step, ...]


class Variant(Struct, frozen=True):
    """A whole deal that is wrong in one recognisable way, so that it is one departure and not six."""

    name: str
    part: str  # the part of the deal whose paragraph it breaks
    plan: Plan
    position: Position | None = None  # the hand it is about
    said: str = ""  # what it looks like, in one sentence
    cost: str = "variant"  # by which of the rule set's costs it is weighed


class Act(Struct, frozen=True):
    """A card taken: where it came to lie, or that it was burned; or that a stretch of the deal was closed.

    No position: a draw that was seen and whose placement was not.
    """

    heard: Heard
    position: Position | Literal["burn", "gate"] | None
    index: int
    facing: Facing | None
    draw: int | None

    @property
    def lies(self) -> Position | None:
        """Where it lies on the layout, if it does."""
        position = self.position
        return None if position == "burn" or position == "gate" else position  # noqa: PLR1714  # narrows the type


Edit = Literal[
    "skipped", "extra", "wrong_face", "exchanged", "swapped", "moved", "variant", "lost", "unplaced",
    "close_unseen", "close_unsure", "close_early",
]  # fmt: skip
"""The last three are of what closes a stretch of the deal, and break nothing by themselves."""


def hand_of(step: "Step | None") -> Position | None:
    """The position that a step deals to, if it deals."""
    return step.position if isinstance(step, Deal) else None


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
    position: Position | None = None  # of a variant: the hand it is about
