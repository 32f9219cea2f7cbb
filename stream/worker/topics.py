"""Every topic on one page, as data: what it holds, its key, and for how long."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

DAY_MS: Final = 24 * 3600 * 1000
YEAR_MS: Final = 365 * DAY_MS
CHANGELOG: Final = "state"  # the Faust table's name

# Retention counts record times: a replayed file has old ones, so the broker stamps what comes in.
_TELEMETRY: Final = {"message.timestamp.type": "LogAppendTime"}
# Without short segments a changelog is never compacted: the active one is left alone. The lag is longer than a worker
# can stall unnoticed, so that a good record survives a stale one written after it.
_COMPACTED: Final = {
    "segment.ms": "600000",
    "segment.bytes": str(64 * 1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
    "min.compaction.lag.ms": "600000",
}


@dataclass(frozen=True)
class Topic:
    """A topic as declared: its config, whether it must have the partition count of the sources, and who may read it.

    `access` is for whoever writes the broker's access rules: nothing here sets one.
    """

    name: str
    holds: str
    key: str
    config: Mapping[str, str] = field(default_factory=dict)
    partitioned: bool = True
    access: str = ""


def _kept(ms: int, **more: str) -> dict[str, str]:
    return {"cleanup.policy": "delete", "retention.ms": str(ms), **more}


SOURCES: Final = ("tables.card-reader.v1", "tables.shuffler.v1", "tables.floor.v1")
ALERTS: Final = "surveillance.alerts.v1"
EVIDENCE: Final = "surveillance.evidence.v1"
DEAD_LETTERS: Final = "surveillance.dead-letters.v1"

_HIDDEN: Final = "hidden cards: devices write, the worker reads, and who may see every card"
_OURS: Final = "hidden cards: the worker alone writes and reads"

TOPICS: Final = (
    Topic(
        SOURCES[0],
        "telemetry of shoe, layout, rack and deck readers",
        "table",
        _kept(15 * DAY_MS, **_TELEMETRY),
        access=_HIDDEN,
    ),
    Topic(SOURCES[1], "telemetry of shufflers", "table", _kept(15 * DAY_MS, **_TELEMETRY)),
    Topic(
        SOURCES[2],
        "telemetry of the floor: console, bets, players",
        "table",
        _kept(15 * DAY_MS, **_TELEMETRY),
    ),
    Topic(ALERTS, "verdicts, identities masked", "table", _kept(5 * YEAR_MS)),
    Topic(
        EVIDENCE,
        "what masking hid of each verdict: unmasked evidence, full digest, dealer, telemetry of the round",
        "table",
        # gzip, which every client reads: a record repeats its words, and is kept for years
        _kept(5 * YEAR_MS, **{"compression.type": "gzip", "max.message.bytes": str(1024 * 1024)}),
        access="hidden cards and the dealer's pseudonym: the worker alone writes; who may see both reads",
    ),
    Topic(
        DEAD_LETTERS,
        "what could not be read",
        "original key",
        _kept(30 * DAY_MS),
        partitioned=False,
        access="maybe hidden cards, in what could not be read: the worker writes; who mends devices reads",
    ),
)


def changelog(group: str, prefix: str) -> Topic:
    """The worker's own state topic."""
    config = {"cleanup.policy": "compact", **_COMPACTED}
    return Topic(
        f"{prefix}{group}-{CHANGELOG}-changelog", "state of tables, for a restart", "table", config, access=_OURS
    )


def declared(group: str, prefix: str) -> tuple[Topic, ...]:
    """All topics of a site, with its prefix."""
    named = (replace(t, name=prefix + t.name) for t in TOPICS)
    return (*named, changelog(group, prefix))


@dataclass(frozen=True)
class Difference:
    """What a broker lacks or has otherwise: `missing`, `partitions` or `config`, and what is to be done."""

    topic: str
    what: str
    detail: str


async def differences(
    admin: AIOKafkaAdminClient, topics: tuple[Topic, ...], partitions: int | None
) -> list[Difference]:
    """How a broker's topics differ from those declared; `partitions` None: any count, but the same for all."""
    there = {t["topic"]: t for t in await admin.describe_topics() if not t["error_code"]}
    counts = {t.name: len(there[t.name]["partitions"]) for t in topics if t.partitioned and t.name in there}
    wanted = partitions or max(counts.values(), default=0)
    out = [Difference(t.name, "missing", "misdeal topics apply") for t in topics if t.name not in there]
    out += [
        Difference(
            name,
            "partitions",
            f"has {n}, not {wanted}; a count can't be changed: make new topics under another prefix",
        )
        for name, n in counts.items()
        if n != wanted
    ]
    for topic in topics:
        if topic.name in there:
            has = await _config(admin, topic.name)
            out += [
                Difference(topic.name, "config", f"{k} is {has.get(k)}, not {v}; misdeal topics apply")
                for k, v in topic.config.items()
                if has.get(k) != v
            ]
    return out


async def partition_count(admin: AIOKafkaAdminClient, topic: str) -> int:
    """How many partitions a topic has; 0 where there is none."""
    found = [t for t in await admin.describe_topics([topic]) if not t["error_code"]]
    return len(found[0]["partitions"]) if found else 0


async def _config(admin: AIOKafkaAdminClient, name: str) -> dict[str, str]:
    answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
    return {entry[0]: entry[1] for answer in answers for resource in answer.resources for entry in resource[4]}


async def apply(
    admin: AIOKafkaAdminClient, topics: tuple[Topic, ...], *, partitions: int, replication: int
) -> list[Difference]:
    """Make what is missing and set what is otherwise; returns what was done. Partition counts are never changed."""
    done = []
    for difference in await differences(admin, topics, None):
        topic = next(t for t in topics if t.name == difference.topic)
        if difference.what == "missing":
            count = partitions if topic.partitioned else 1
            new = NewTopic(topic.name, count, replication, topic_configs=dict(topic.config))
            _raise_for(await admin.create_topics([new]))
            done.append(difference)
        elif difference.what == "config" and not any(d.topic == topic.name for d in done):
            resource = ConfigResource(ConfigResourceType.TOPIC, topic.name, configs=dict(topic.config))
            await admin.alter_configs([resource])
            done.append(difference)
    return done


def _raise_for(response: Any) -> None:
    for name, code, *rest in response.topic_errors:
        if code not in (0, 36):  # none, or made by another meanwhile
            raise RuntimeError(f"topic {name}: error {code} {rest[0] if rest else ''}")
