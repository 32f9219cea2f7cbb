"""What a check or a departure says, before it becomes a verdict."""

from msgspec import Struct

from stream.deal.verdicts import Cause, Scope, Severity
from stream.deal.words import Position, Sense
from stream.rulebook.heard import Heard

ROUND = Scope("round")


class Absence(Struct, frozen=True):
    """Something was not seen: by which sense it would have been, and between which moments (microseconds)."""

    sense: Sense
    begin: int
    end: int


class Finding(Struct, frozen=True, kw_only=True):
    """One departure from one atom.

    `deciding` is the event that decides it. `cause` makes it undetermined. `absence` asks the engine whether
    the sense was alive in the window: if not, the finding is undetermined for want of coverage.
    """

    atom: str
    deciding: Heard
    observed: str
    scope: Scope = ROUND
    supporting: tuple[Heard, ...] = ()
    cause: Cause | None = None
    absence: Absence | None = None
    severity: Severity | None = None
    interpretations: tuple[str, ...] = ()
    positions: tuple[Position, ...] = ()
    inferred: bool = False
