"""Keys and topics: what a file can't show, said as advice, and names that will go wrong as keys."""

from collections.abc import Iterator, Sequence
from typing import Final

from aiokafka.partitioner import murmur2

from stream.fitness.findings import Finding
from stream.fitness.history import History

ADVICE: Final = (
    "key every record by its table id, those bytes and no others, and let murmur2 choose the partition: Kafka's own"
    " clients do; librdkafka's need partitioner=murmur2_random. The three topics have the same number of partitions."
)


def partition(table: str, partitions: int) -> int:
    """The partition where the records of a table belong."""
    number: int = (murmur2(table.encode()) & 0x7FFFFFFF) % partitions
    return number


def topics(history: History) -> dict[str, set[str]]:
    """The topics to which each device's events belong, by what it sent."""
    return {
        name: {f"tables.{n.kind.topic}.v1" for n in device.notes if n.kind.topic is not None}
        for name, device in history.devices.items()
    }


def keys(histories: Sequence[History]) -> Iterator[Finding]:
    """Table ids that differ by case alone, and devices whose events go to several topics."""
    alike: dict[str, list[str]] = {}
    for history in histories:
        alike.setdefault(history.table.casefold(), []).append(history.table)
    for names in alike.values():
        if len(names) > 1:
            yield Finding(
                "keys", "ids_alike", "remark", f"table ids differ by case alone: {', '.join(names)}",
                "write one table's id in one way; keys are compared byte by byte", names[0], count=len(names),
            )  # fmt: skip
    for history in histories:
        for device, names_of in topics(history).items():
            if len(names_of) > 1:
                yield Finding(
                    "keys", "several_topics", "remark", f"its events belong to {' and '.join(sorted(names_of))}",
                    "nothing, if it is one device; its seq counts over all its topics", history.table, device,
                    len(names_of),
                )  # fmt: skip
