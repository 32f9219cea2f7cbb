"""JSON Schemas (2020-12) of what comes in and what goes out, made from the types.

The telemetry schema accepts what `stream.deal.wire` accepts: unknown fields, and null for a field left out.
Some bounds no schema can say (64 KiB, repeated keys, years to the microsecond); the decoder has the last word.
The verdict schema says what is published: no null, no fraction, no true or false, now or in a later version. The
schema of an evidence record holds that of the events within it.
"""

from typing import Any, Final, get_args

import msgspec

from stream.deal import events as ev
from stream.deal import words as w
from stream.deal.cards import Card
from stream.deal.verdicts import Verdict
from stream.replay.evidence import Unmasked
from stream.schemas.meanings import EVENTS, EVIDENCE, VERDICTS, meaning
from stream.worker.topics import SOURCES

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TOPICS: Final[dict[ev.Topic, str]] = {topic.split(".")[1]: topic for topic in SOURCES}  # type: ignore[misc]  # these three
_HERE: Final = "#/$defs/"
# A year of its own offset may be one off; whether the time is within 2000 to 2099 in UTC the decoder tells.
_TIME: Final = (
    r"^(1999|20[0-9]{2}|2100)-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt ]"
    r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
_UTC: Final = r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$"

# Types of many fields, which get a definition of their own: the type, and the words of its definition.
_SHARED: Final[dict[str, tuple[Any, Schema]]] = {
    "Id": (w.Id, {"description": "Printable ASCII without blanks."}),
    "Time": (w.When, {"description": "RFC 3339 with an offset, years 2000 to 2099.", "pattern": _TIME}),
    "Card": (
        Card,
        {"description": "Rank and suit; Jk a joker; ?? a card not seen.", "enum": list(get_args(Card))},
    ),
    "Seat": (w.Seat, {"description": "S1 is farthest to the dealer's left."}),
    "Position": (
        w.Position,
        {"description": "A seat; D the dealer's hand; C the common cards.", "enum": list(get_args(w.Position))},
    ),
    "Sense": (
        w.Sense,
        {"description": "What a device or a table is able to see.", "enum": list(w.SENSES)},
    ),
}

# What the types do not say of the strings we write ourselves.
_WRITTEN: Final[dict[str, Schema]] = {
    "Verdict.id": {"pattern": "^[0-9a-f]{16}$"},
    "Verdict.root": {"pattern": "^[0-9a-f]{16}$"},
    "Verdict.digest": {"pattern": "^[0-9a-f]{64}$"},
    "Verdict.code": {"pattern": "^[a-z][a-z0-9_]*$"},
    "Verdict.at": {"format": "date-time", "pattern": _UTC},
    "Video.from": {"format": "date-time", "pattern": _UTC},
    "Video.to": {"format": "date-time", "pattern": _UTC},
    "Unmasked.verdict": {"pattern": "^[0-9a-f]{16}$"},
    "Unmasked.body": {"pattern": "^[0-9a-f]{64}$"},
    "Unmasked.digest": {"pattern": "^[0-9a-f]{64}$"},
}


def events() -> Schema:
    """The schema of one telemetry event: a definition a type, one for each part, one for each shared word."""
    defs = _definitions(ev.AnyEvent)
    for name, definition in defs.items():
        for field, schema in definition["properties"].items():
            if field == "type":
                definition["properties"][field] = {"const": schema["enum"][0]}
            elif schema.get("default", ...) is None:
                del schema["default"]  # absent and null are the same
            definition["properties"][field]["description"] = meaning(EVENTS, name, field)
    for kind in ev.TYPES.values():
        defs[kind.__name__]["description"] += f" {_told(kind)}"
    uncorrected = {"oneOf": [{"$ref": _HERE + kind.__name__} for kind in get_args(ev.Uncorrected)]}
    defs["EventCorrected"]["properties"]["event"] = {
        "description": meaning(EVENTS, "EventCorrected", "event"),
        "$ref": f"{_HERE}Uncorrected",
    }
    shared = {name: msgspec.json.schema(kind) | words for name, (kind, words) in _SHARED.items()}
    return {
        "$schema": DIALECT,
        "title": "Telemetry",
        "description": "One event as a device saw it: the value of a record, or a line of a telemetry file. Unknown "
        "fields are accepted and ignored. A record is at most 64 KiB, and no key stands in it twice.",
        "oneOf": [{"$ref": f"{_HERE}Uncorrected"}, {"$ref": f"{_HERE}EventCorrected"}],
        "$defs": {
            "Uncorrected": {"description": "Any event but a correction.", **uncorrected},
            **_with_refs(defs),
            **shared,
        },
    }


def verdict() -> Schema:
    """The schema of a verdict's body: what is absent is left out, integers and strings only, also in new fields."""
    defs = _definitions(Verdict)
    for name, definition in defs.items():
        for field, schema in definition["properties"].items():
            given = {"description": meaning(VERDICTS, name, field), **_WRITTEN.get(f"{name}.{field}", {})}
            definition["properties"][field] = _written(schema) | given
        definition["additionalProperties"] = {"$ref": f"{_HERE}Plain"}
    body = defs.pop("Verdict")
    return {
        "$schema": DIALECT,
        **body,
        "description": "The body of a verdict, canonical JSON. A pure function of the events judged, the rule set and "
        "the table's settings; what belongs to the delivery stands in the record's headers.",
        "allOf": [
            _needs("kind", ["undetermined"], "cause"),
            _needs("status", ["withdrawn", "moot"], "reason"),
        ],
        "$defs": {
            **defs,
            "Plain": {
                "description": "What a later version may add: integers and strings, and lists and objects of them.",
                "type": ["integer", "string", "array", "object"],
                "items": {"$ref": f"{_HERE}Plain"},
                "additionalProperties": {"$ref": f"{_HERE}Plain"},
            },
        },
    }


def evidence() -> Schema:
    """The schema of an evidence record; the events within it are telemetry, as in its own schema."""
    told = events()
    event = {"oneOf": told["oneOf"]}
    defs = _definitions(Unmasked)
    for name, definition in defs.items():
        for field, schema in definition["properties"].items():
            given = {"description": meaning(EVIDENCE, name, field), **_WRITTEN.get(f"{name}.{field}", {})}
            definition["properties"][field] = _written(schema) | given
    defs["Told"]["properties"]["event"] |= event
    body = defs.pop("Unmasked")
    body["properties"]["telemetry"]["items"] = event
    return {
        "$schema": DIALECT,
        **body,
        "description": "What masking hid of one verdict, canonical JSON: hidden cards, for those who may see them. A "
        "pure function of the events judged; what belongs to the delivery stands in the record's headers.",
        "$defs": {**defs, **told["$defs"]},
    }


def _definitions(kind: Any) -> dict[str, Schema]:
    """The definitions of a type and its parts, as msgspec makes them."""
    defs: dict[str, Schema] = msgspec.json.schema(kind)["$defs"]
    return defs


def _told(kind: type[ev.Event]) -> str:
    """Where a type is sent, and what its device is able to see."""
    topic = "that of its device" if kind.topic is None else TOPICS[kind.topic]
    senses = f" Senses: {', '.join(kind.carries)}." if kind.carries else ""
    return f"Topic: {topic}.{senses}"


def _with_refs(schema: Any) -> Any:
    """The same, with a reference wherever a shared type stands in full."""
    if isinstance(schema, list):
        return [_with_refs(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    words = {k: v for k, v in schema.items() if k == "description"}
    bare = {k: v for k, v in schema.items() if k != "description"}
    for name, (kind, _) in _SHARED.items():
        if bare == msgspec.json.schema(kind):
            return {**words, "$ref": _HERE + name}
    return {k: _with_refs(v) for k, v in schema.items()}


def _written(schema: Schema) -> Schema:
    """A field as we write it: left out where it has its default, so never null and no empty list."""
    out = next((s for s in schema.get("anyOf", []) if s != {"type": "null"}), schema)
    least = {"minItems": 1} if schema.get("default") in ([], ()) else {}
    return {k: v for k, v in out.items() if k != "default"} | least


def _needs(field: str, values: list[str], other: str) -> Schema:
    given = {"properties": {field: {"enum": values}}, "required": [field]}
    return {"if": given, "then": {"required": [other]}}
