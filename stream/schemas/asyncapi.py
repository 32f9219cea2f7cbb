"""The topics as an AsyncAPI 3.1.0 document: what the worker receives and sends.

Payloads refer to the schemas beside it. The keywords used there mean the same in the dialect that AsyncAPI takes
for granted (draft-07), so no other schema format is named, and every tool can follow.
"""

from typing import Any, Final

import msgspec

from stream.deal import events as ev
from stream.deal import words as w
from stream.schemas import examples, headers
from stream.schemas.definitions import TOPICS as SOURCE_OF
from stream.worker.records import EPOCH_TYPE, EVIDENCE_TYPE, VERDICT_TYPE
from stream.worker.settings import VARIABLES
from stream.worker.topics import ALERTS, DEAD_LETTERS, EVIDENCE, SOURCES, Topic
from stream.worker.topics import TOPICS as ALL

Object = dict[str, Any]

# Of the interface, not of the package: it grows with the topics and schemas, whose names end in the first number.
VERSION: Final = "1.0.0"
_BINDING: Final = "0.5.0"
_KEY: Final = {**msgspec.json.schema(w.Id), "description": "Table id."}  # written out: bindings 0.5.0 bar a $ref here
_NUMBERS: Final = ("retention.ms", "max.message.bytes")
_DESCRIPTION: Final = """\
Telemetry of card tables in, verdicts that cite their paragraph out. All names may carry a site's prefix. The topics \
keyed by table have the same number of partitions; the partition is murmur2 of the key, as Kafka's own clients choose \
it. The worker also keeps a topic of its own state, which is no interface."""

Message = tuple[str, Object]


def document() -> Object:
    """The whole document."""
    messages = dict([*_telemetry(), _verdict(), _evidence(), _epoch(), _dead_letter()])
    channels = {_name(topic.name): _channel(topic) for topic in ALL}
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "Misdeal",
            "version": VERSION,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "example": {
                "host": VARIABLES["MISDEAL_BROKER"][1],
                "protocol": "kafka",
                "description": "The broker that the worker looks for unless told otherwise.",
            }
        },
        "channels": channels,
        "operations": _operations(),
        "components": {"messages": messages},
    }


def _name(topic: str) -> str:
    """tables.card-reader.v1 -> card-reader."""
    return topic.split(".")[1]


def _tags(topic: str) -> list[str]:
    """The messages of a topic."""
    if topic == ALERTS:
        return [VERDICT_TYPE.decode(), EPOCH_TYPE.decode()]
    if topic == EVIDENCE:
        return [EVIDENCE_TYPE.decode()]
    if topic == DEAD_LETTERS:
        return ["dead-letter"]
    return [tag for tag, kind in ev.TYPES.items() if kind.topic is None or SOURCE_OF[kind.topic] == topic]


def _channel(topic: Topic) -> Object:
    config: Object = {k: int(v) if k in _NUMBERS else v for k, v in topic.config.items()}
    config["cleanup.policy"] = [config["cleanup.policy"]]
    partitions = {} if topic.partitioned else {"partitions": 1}
    many = " As many partitions as the other topics keyed by table." if topic.partitioned else ""
    access = f" Access: {topic.access}." if topic.access else ""
    return {
        "address": topic.name,
        "description": f"{topic.holds[0].upper()}{topic.holds[1:]}. Key: {topic.key}.{many}{access}",
        "messages": {tag: {"$ref": f"#/components/messages/{tag}"} for tag in _tags(topic.name)},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                **partitions,
                "topicConfiguration": config,
                "bindingVersion": _BINDING,
            }
        },
    }


def _message(
    name: str,
    summary: str,
    payload: Object,
    example: object,
    *,
    key: Object | None,
    given: tuple[Object, Object] | None = None,
) -> Message:
    """A message with its one example; `given` is the schema of its headers and their example."""
    out: Object = {"name": name, "summary": summary, "payload": payload}
    shown: Object = {"payload": example}
    if key is not None:
        out["bindings"] = {"kafka": {"key": key, "bindingVersion": _BINDING}}
    if given is not None:
        out["headers"], shown["headers"] = given
    return name, out | {"examples": [shown]}


def _telemetry() -> list[Message]:
    told = examples.telemetry()
    return [
        _message(
            tag,
            str(kind.__doc__).split("\n", 1)[0],
            {"$ref": f"./events.schema.json#/$defs/{kind.__name__}"},
            told[tag],
            key=_KEY,
        )
        for tag, kind in ev.TYPES.items()
    ]


def _verdict() -> Message:
    example = headers.verdict_example()
    return _message(
        VERDICT_TYPE.decode(),
        "One revision of one verdict, a CloudEvents 1.0 event in binary mode.",
        {"$ref": "./verdict.schema.json"},
        examples.verdict_body(),
        key=_KEY,
        given=(headers.schema(example, ce_type=VERDICT_TYPE.decode()), example),
    )


def _evidence() -> Message:
    example = headers.evidence_example()
    return _message(
        EVIDENCE_TYPE.decode(),
        "What masking hid of one revision of one verdict, a CloudEvents 1.0 event in binary mode.",
        {"$ref": "./evidence.schema.json"},
        examples.evidence_body(),
        key=_KEY,
        given=(headers.schema(example, ce_type=EVIDENCE_TYPE.decode()), example),
    )


def _epoch() -> Message:
    example = headers.epoch_example()
    return _message(
        EPOCH_TYPE.decode(),
        "A worker took the partition over; whatever a former owner writes after it is stale. It has no key.",
        {
            "type": "object",
            "description": "For people; what counts stands in the headers.",
            "properties": {"epoch": {"type": "integer", "minimum": 0}, "owner": {"type": "string"}},
        },
        {"epoch": int(example["misdeal-epoch"]), "owner": example["misdeal-owner"]},
        key=None,
        given=(headers.schema(example, ce_type=EPOCH_TYPE.decode()), example),
    )


def _dead_letter() -> Message:
    example = headers.dead_letter_example()
    name, message = _message(
        "dead-letter",
        "A record that could not be read: key, value and headers as they came, and where it lay, and why.",
        {"type": "string", "description": "The bytes as they came."},
        headers.UNREADABLE.decode(),
        key={"type": "string", "description": "The key as it came, if it had one."},
        given=(headers.schema(example), example),
    )
    return name, message | {"contentType": "application/octet-stream"}


def _operations() -> Object:
    group = {
        "kafka": {"groupId": {"type": "string", "default": VARIABLES["MISDEAL_GROUP"][1]}, "bindingVersion": _BINDING}
    }
    out: Object = {}
    for topic in SOURCES:
        name = _name(topic)
        channel = {"$ref": f"#/channels/{name}"}
        out[f"judge-{name}"] = {
            "action": "receive",
            "channel": channel,
            "summary": "Read and judge telemetry.",
            "bindings": group,
        }
        out[f"forward-{name}"] = {
            "action": "send",
            "channel": channel,
            "summary": "Send a record that lay in another table's partition, or without its key, to where it belongs.",
        }
    out["publish-verdicts"] = {
        "action": "send",
        "channel": {"$ref": f"#/channels/{_name(ALERTS)}"},
        "summary": "Publish verdicts, and announce the owner of a partition.",
    }
    out["publish-evidence"] = {
        "action": "send",
        "channel": {"$ref": f"#/channels/{_name(EVIDENCE)}"},
        "summary": "Publish what masking hid of each verdict, before the verdict itself.",
    }
    out["set-aside"] = {
        "action": "send",
        "channel": {"$ref": f"#/channels/{_name(DEAD_LETTERS)}"},
        "summary": "Set aside what could not be read.",
    }
    return out
