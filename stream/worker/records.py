"""What the records on the alerts topic carry beside the body: revision, identity, time of judging, evidence."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Final, NamedTuple

from stream.deal.verdicts import Verdict
from stream.deal.wire import canonical

Headers = Sequence[tuple[str, bytes]]

EPOCH_TYPE: Final = b"misdeal.epoch.v1"
VERDICT_TYPE: Final = b"misdeal.verdict.v1"
EVIDENCE_TYPE: Final = b"misdeal.evidence.v1"
VERSION: Final = version("misdeal").encode()


class Revision(NamedTuple):
    """Epoch of the owner who wrote it, and the number of changes of the verdict."""

    epoch: int
    number: int


def fingerprint(body: bytes) -> str:
    """The first 8 hex digits of a body's SHA-256."""
    return sha256(body).hexdigest()[:8]


def header(headers: Iterable[tuple[str, bytes]] | None, name: str) -> bytes | None:
    """The last header of a name."""
    found = None
    for key, value in headers or ():
        if key == name:
            found = value
    return found


def verdict_headers(
    verdict: Verdict,
    body: bytes,
    revision: Revision,
    *,
    source: str,
    segment: str,
    evidence: Sequence[tuple[str, int, int]],
) -> list[tuple[str, bytes]]:
    """CloudEvents 1.0 in binary mode, and what belongs to this delivery.

    `evidence` is topic, partition, offset of each event; `segment` where its owner keeps the round.
    """
    return [
        *_event_headers(VERDICT_TYPE, verdict, body, revision, source),
        ("misdeal-evidence", canonical([list(e) for e in evidence])),
        ("misdeal-segment", segment.encode()),
    ]


def evidence_headers(verdict: Verdict, body: bytes, revision: Revision, *, source: str) -> list[tuple[str, bytes]]:
    """The same of an evidence record: `body` is its own, the revision that of the alert which it belongs to."""
    return _event_headers(EVIDENCE_TYPE, verdict, body, revision, source)


def _event_headers(
    kind: bytes, verdict: Verdict, body: bytes, revision: Revision, source: str
) -> list[tuple[str, bytes]]:
    e, r = revision
    return [
        ("ce_specversion", b"1.0"),
        ("ce_type", kind),
        ("ce_source", source.encode()),
        ("ce_subject", verdict.table.encode()),
        ("ce_time", verdict.at.encode()),
        ("ce_id", f"{verdict.id}.{e}.{r}.{fingerprint(body)}".encode()),
        ("content-type", b"application/json"),
        ("misdeal-revision", b"%d.%d" % revision),
        ("misdeal-detected", datetime.now(UTC).isoformat(timespec="milliseconds").encode()),
        ("misdeal-version", VERSION),
    ]


def epoch_headers(epoch: int, owner: str) -> list[tuple[str, bytes]]:
    """The announcement that an owner begins to write with an epoch."""
    return [("ce_type", EPOCH_TYPE), ("misdeal-epoch", b"%d" % epoch), ("misdeal-owner", owner.encode())]


def revision_of(headers: Headers | None) -> Revision | None:
    """The revision in a verdict record's headers; None where it has none that can be read."""
    text = header(headers, "misdeal-revision") or b""
    e, dot, r = text.partition(b".")
    if not dot or not e.isdigit() or not r.isdigit():
        return None
    return Revision(int(e), int(r))


def epoch_of(headers: Headers | None) -> int | None:
    """The epoch that a record announces; None where it announces none."""
    if header(headers, "ce_type") != EPOCH_TYPE:
        return None
    text = header(headers, "misdeal-epoch") or b""
    return int(text) if text.isdigit() else None
