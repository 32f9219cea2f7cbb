"""What we publish: a verdict, its parts, and the bytes of its body.

A body is a pure function of the events judged, the rule set and the table's settings. What belongs to the
delivery (revision, time of judging, topic positions) stands in the record's headers and never here.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from stream.deal import words as w
from stream.deal.events import Identity
from stream.deal.wire import canonical

Kind = Literal["irregularity", "breach", "undetermined", "device_fault", "advisory"]
Status = Literal["open", "remedied", "breached", "moot", "final", "withdrawn"]
Cause = Literal["order", "coverage", "identity", "actor", "text"]
Severity = Literal["info", "minor", "major", "critical"]
Basis = Literal["observed", "inferred", "doubtful"]
Level = Literal["card", "hand", "wager", "player", "round", "deck", "device", "table"]
EvidenceRole = Literal["deciding", "supporting", "remedy"]

NOT_SPECIFIED: Final = "not_specified"
GONE: Final = "Later telemetry explains what this verdict rested on."


class Scope(Struct, frozen=True, omit_defaults=True):
    """What a verdict is about: a level, and what names the thing at that level."""

    level: Level
    position: w.Position | None = None
    index: int | None = None
    draw: int | None = None
    area: str | None = None
    deck: str | None = None
    device: str | None = None


class Remedy(Struct, frozen=True, omit_defaults=True):
    """What the text orders, in our own words: where, before what, by whom."""

    code: str
    text: str | None = None
    paragraph: str | None = None
    due: str | None = None
    actor: str | None = None


class Evidence(Struct, frozen=True):
    """One event a verdict rests on, and how."""

    device: str
    boot: int
    seq: int
    role: EvidenceRole


class WagerAt(Struct, frozen=True):
    """A wager at risk; `amount` in minor units."""

    position: w.Position
    area: str
    amount: int


class Affected(Struct, frozen=True, omit_defaults=True):
    """Who and what a verdict touches; of a deck or a device the rounds from first to last and the totals."""

    positions: tuple[w.Position, ...] = ()
    wagers: tuple[WagerAt, ...] = ()
    amount: int | None = None
    first_round: str | None = None
    last_round: str | None = None
    rounds: int | None = None
    hands: int | None = None


class Video(Struct, frozen=True, rename={"begin": "from", "end": "to"}):
    """The window of video to preserve, RFC 3339 in UTC."""

    begin: str
    end: str


class Override(Struct, frozen=True):
    """A paragraph set aside, and why."""

    paragraph: str
    why: str


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One judged fact; the fields are those of the contract."""

    id: str
    atom: str
    code: str
    kind: Kind
    status: Status
    severity: Severity
    rules: str | None = None
    paragraph: str | None = None
    heading: str | None = None
    edition: str | None = None
    root: str | None = None
    cause: Cause | None = None
    table: str
    game: str | None = None
    round: str | None = None
    deck: str | None = None
    scope: Scope
    what: str
    expected: str
    observed: str
    remedy: Remedy
    overrides: tuple[Override, ...] = ()
    interpretations: tuple[str, ...] = ()
    basis: Basis
    evidence: tuple[Evidence, ...]
    deal: str
    affected: Affected
    video: Video
    at: str
    reason: str | None = None
    digest: str


def identify(table: str, rnd: str | Identity, rules: str | None, atom: str, scope: Scope) -> str:
    """The deterministic id of a verdict: 16 hex digits over what it is about.

    `rnd` is the round's id; between rounds the deciding event stands for it.
    """
    where = rnd if isinstance(rnd, str) else [rnd.device, rnd.boot, rnd.seq]
    return sha256(canonical([table, where, rules, atom, to_builtins(scope)])).hexdigest()[:16]


def body(verdict: Verdict) -> bytes:
    """The canonical body: sorted keys, integers and strings only, absent fields left out."""
    return canonical(to_builtins(verdict))


def withdrawn(before: Verdict, reason: str = GONE) -> Verdict:
    """The same verdict taken back, because later telemetry explains it away."""
    return replace(before, status="withdrawn", reason=reason)


def sort_key(verdict: Verdict) -> tuple[str, str]:
    """The order of verdicts in a file: by `at`, then by `id`."""
    return verdict.at, verdict.id


def in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Verdicts by `at`, then `id`."""
    return sorted(verdicts, key=sort_key)
