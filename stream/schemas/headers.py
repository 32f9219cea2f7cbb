"""The headers of the records that the worker writes, as schemas: names and order are those that it writes."""

from typing import Any, Final

from stream.deal.verdicts import body
from stream.deal.wire import Reader, Refusal
from stream.schemas.examples import TABLE, evidence_record, verdict
from stream.worker.owner import home
from stream.worker.records import Revision, epoch_headers, evidence_headers, verdict_headers
from stream.worker.topics import SOURCES

Schema = dict[str, Any]

_SOURCE: Final = "/misdeal/misdeal-judge"
_PARTITION: Final = home(TABLE.encode(), 8)
_OWN_AFFAIR: Final = frozenset({"misdeal-segment", "misdeal-owner"})  # written always, promised to nobody
UNREADABLE: Final = b'{"type":"card.drawn","table":"T12","device":"shoe-12","boot":0,"seq":-1}'
"""A record that no reader takes, for the example of a dead letter."""

_MEANINGS: Final[dict[str, Schema]] = {
    "ce_specversion": {"const": "1.0", "description": "CloudEvents, binary mode."},
    "ce_type": {"description": "What the record is."},
    "ce_source": {"format": "uri-reference", "description": "Who judged: the worker's group."},
    "ce_subject": {"description": "Table id."},
    "ce_time": {"format": "date-time", "description": "When it happened: `at` of the body."},
    "ce_id": {
        "pattern": r"^[0-9a-f]{16}\.[0-9]+\.[0-9]+\.[0-9a-f]{8}$",
        "description": "Verdict id, revision, and the first 8 hex digits of the body's SHA-256. Equal ids mean equal "
        "bytes: drop the repeat.",
    },
    "content-type": {"const": "application/json", "description": "Of the body."},
    "misdeal-revision": {
        "pattern": r"^[0-9]+\.[0-9]+$",
        "description": "E.R: epoch of the owner, number of changes. A record whose E is lower than one before it in "
        "its partition is stale; the last record of a verdict that is not stale is in force.",
    },
    "misdeal-detected": {"format": "date-time", "description": "When the worker judged."},
    "misdeal-version": {"description": "Version of the worker."},
    "misdeal-evidence": {
        "contentMediaType": "application/json",
        "description": "Topic, partition and offset of each event of the evidence, as JSON.",
    },
    "misdeal-segment": {"description": "Where the owner of the partition keeps the round; its own affair."},
    "misdeal-epoch": {"pattern": "^[0-9]+$", "description": "E of all that this owner writes from here on."},
    "misdeal-owner": {"description": "Process and partition of the owner."},
    "misdeal-topic": {"description": "Topic where the record lay."},
    "misdeal-partition": {"pattern": "^[0-9]+$", "description": "Partition where it lay."},
    "misdeal-offset": {"pattern": "^[0-9]+$", "description": "Offset where it lay."},
    "misdeal-reason": {
        "pattern": "^[a-z_]+: ",
        "description": "Why it could not be read: a code, and the place in words without its value.",
    },
}


def verdict_example() -> dict[str, str]:
    """Headers of the example verdict's first revision."""
    v = verdict()
    content = body(v)
    evidence = [(SOURCES[0], _PARTITION, 20418 + 2 * k) for k in range(len(v.evidence))]
    given = verdict_headers(v, content, Revision(3, 1), source=_SOURCE, segment="floor-12/0/1", evidence=evidence)
    return _still(given)


def evidence_example() -> dict[str, str]:
    """Headers of what that revision hides."""
    return _still(evidence_headers(verdict(), evidence_record(), Revision(3, 1), source=_SOURCE))


def _still(given: list[tuple[str, bytes]]) -> dict[str, str]:
    """Headers without what changes with the clock and with the version."""
    out = {name: value.decode() for name, value in given}
    return out | {"misdeal-detected": "2026-01-05T12:00:17.084+00:00", "misdeal-version": "0.1.0"}


def epoch_example() -> dict[str, str]:
    """Headers of an announcement."""
    return {name: value.decode() for name, value in epoch_headers(3, f"4711.{_PARTITION}")}


def dead_letter_example() -> dict[str, str]:
    """What is added to the headers of a record that could not be read."""
    refusal = Reader().read(UNREADABLE)
    assert isinstance(refusal, Refusal)
    return {
        "misdeal-topic": SOURCES[0],
        "misdeal-partition": str(_PARTITION),
        "misdeal-offset": "20423",
        "misdeal-reason": f"{refusal.code}: {refusal.detail}",
    }


def schema(example: dict[str, str], **consts: str) -> Schema:
    """The schema of headers like these; `consts` fixes the values of some by name.

    Those of the worker's own are not required. Raises KeyError for a header that has no meaning here: write one.
    """
    properties = {name: {"type": "string", **_MEANINGS[name]} for name in example}
    for name, value in consts.items():
        properties[name] = {"const": value, **properties[name]}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in example if name not in _OWN_AFFAIR],
    }
