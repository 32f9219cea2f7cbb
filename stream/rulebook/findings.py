"""What a check or a departure says, before it becomes a verdict."""

from typing import Literal

from msgspec import Struct

from stream.deal.verdicts import Affected, Cause, Scope, Severity
from stream.deal.words import Position, Sense
from stream.rulebook.heard import Heard

ROUND = Scope("round")


class Absence(Struct, frozen=True):
    """Something was not seen: by which sense it would have been, and between which moments (microseconds).

    `dealt`: it would have been the dealing of a card, which the number of a later draw, or a draw that came to lie
    nowhere, also shows; a device that sees only where cards are taken to has no part in it.
    """

    sense: Sense
    begin: int
    end: int
    dealt: bool = False


class Finding(Struct, frozen=True, kw_only=True):
    """One departure from one atom.

    `deciding` is the event that decides it. `cause` makes it undetermined. `absence` asks the engine whether
    the sense was alive in the window: if not, the finding is undetermined for want of coverage; so it is where a
    reading that would explain it may have been lost (`unless`: only a known interruption counts). `awaits` changes
    nothing of the verdict: a report that would explain it may still be on its way, so it is told once the sense has
    been heard from since. `follows` names atoms of the same round of which this is a consequence.
    """

    atom: str
    deciding: Heard
    observed: str
    scope: Scope = ROUND
    supporting: tuple[Heard, ...] = ()
    cause: Cause | None = None
    absence: Absence | None = None
    unless: tuple[Absence, ...] = ()
    awaits: tuple[Absence, ...] = ()
    severity: Severity | None = None
    interpretations: tuple[str, ...] = ()
    positions: tuple[Position, ...] = ()
    inferred: bool = False
    follows: tuple[str, ...] = ()
    deck: str | None = None
    affected: Affected | None = None  # of a deck: the rounds and totals since it was last known to be good


class Reading(Struct, frozen=True, kw_only=True):
    """How a table's reading of the text counts a departure: whose it is, if not its part's; at which scope."""

    atom: str | None = None
    scope: Scope = ROUND
    cause: Cause | None = None
    interpretations: tuple[str, ...] = ()
    severity: Severity | None = None


class Advice(Struct, frozen=True, kw_only=True):
    """What a rule set says although no text of it orders anything; nothing if its `absence` can't be vouched for."""

    code: str
    scope: Scope
    deciding: Heard
    severity: Severity
    what: str
    expected: str
    observed: str
    supporting: tuple[Heard, ...] = ()
    affected: Affected | None = None
    absence: Absence | None = None


Outcome = Literal["open", "remedied", "breached", "moot"]


class Fulfilment(Struct, frozen=True, kw_only=True):
    """How a duty stands: what was ordered was done, or was not, or is still due; and which events show it.

    `said` is one sentence on what followed.
    """

    outcome: Outcome
    by: tuple[Heard, ...] = ()
    said: str = ""
    reason: str | None = None  # of a moot one
    severity: Severity | None = None
    absence: Absence | None = None  # a remedy not seen: the sense that would have seen it, and when
    unless: tuple[Absence, ...] = ()  # other senses that might have, where they are known to have been interrupted
    interpretations: tuple[str, ...] = ()
    cause: Cause | None = None
