"""A bare consume loop with the same core: `drain.py CLIENT BOOTSTRAP PREFIX EVENTS` prints events per CPU second.

It keeps no state, merges no topics, publishes nothing and settles its tables once, at the end: the least that
reading and judging the same events can cost with that client.
"""

import asyncio
import sys
from time import process_time

from aiokafka import AIOKafkaConsumer, TopicPartition
from confluent_kafka import Consumer

from stream.deal.wire import Reader, Refusal
from stream.replay.table import Table
from stream.worker.topics import SOURCES

PARTITIONS = 4


class Core:
    """Tables fed with record values."""

    def __init__(self) -> None:
        self.reader = Reader()
        self.tables: dict[str, Table] = {}
        self.heard = 0

    def feed(self, value: bytes) -> None:
        """Take one record in."""
        event = self.reader.read(value)
        self.heard += 1
        if isinstance(event, Refusal):
            return
        table = self.tables.get(event.table)
        if table is None:
            table = self.tables[event.table] = Table(event.table)
        table.hear(event)

    def settle(self) -> None:
        """Judge all."""
        for table in self.tables.values():
            table.settle()


async def by_aiokafka(bootstrap: str, prefix: str, events: int, core: Core) -> float:
    """Drain by `getmany`; CPU seconds from the first record on."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    await consumer.start()
    consumer.assign([TopicPartition(prefix + t, p) for t in SOURCES for p in range(PARTITIONS)])
    begun = process_time()
    while core.heard < events:
        for records in (await consumer.getmany(timeout_ms=500)).values():
            for record in records:
                core.feed(record.value or b"")
    core.settle()
    spent = process_time() - begun
    await consumer.stop()
    return spent


def by_confluent(bootstrap: str, prefix: str, events: int, core: Core) -> float:
    """Drain by `consume`; CPU seconds from the subscription on."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "drain",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    consumer.subscribe([prefix + t for t in SOURCES])
    begun = process_time()
    while core.heard < events:
        for message in consumer.consume(1000, 0.5):
            core.feed(message.value() or b"")
    core.settle()
    spent = process_time() - begun
    consumer.close()
    return spent


def main() -> None:
    """Run one client."""
    client, bootstrap, prefix, events = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    core = Core()
    if client == "aiokafka":
        spent = asyncio.run(by_aiokafka(bootstrap, prefix, events, core))
    else:
        spent = by_confluent(bootstrap, prefix, events, core)
    sys.stdout.write(f"{core.heard / spent:.0f}\n")


if __name__ == "__main__":
    main()
