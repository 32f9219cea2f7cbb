"""Simulated reports onto a broker's topics."""

from collections.abc import Iterable
from typing import Any, BinaryIO

import msgspec
from aiokafka import AIOKafkaProducer

from stream.deal import events as ev
from stream.deal.wire import encode
from stream.simulate.tables import Truth

FLUSH_EVERY = 500


def topic_of(event: ev.AnyEvent) -> str:
    """The source topic of an event: its type's, or for what a device says of itself, its device's."""
    if event.topic is not None:
        return f"tables.{event.topic}.v1"
    for part, topic in (("shuffler", "shuffler"), ("floor", "floor")):
        if part in event.device:
            return f"tables.{topic}.v1"
    return "tables.card-reader.v1"


async def produce(
    events: Iterable[tuple[ev.AnyEvent, Truth | None]], broker: str, prefix: str, told: BinaryIO | None
) -> int:
    """Send all, in order, keyed by table; returns how many."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, acks="all", enable_idempotence=True, linger_ms=5)
    await producer.start()
    count = 0
    pending: list[Any] = []
    try:
        for event, truth in events:
            pending.append(await producer.send(prefix + topic_of(event), encode(event), key=event.table.encode()))
            count += 1
            if len(pending) >= FLUSH_EVERY:
                for future in pending:
                    await future
                pending.clear()
            if truth is not None and told is not None:
                told.write(msgspec.json.encode(vars(truth)) + b"\n")
        await producer.flush()
    finally:
        await producer.stop()
    return count
