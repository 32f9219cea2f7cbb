"""Simulated reports onto a broker's topics."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

import msgspec
from aiokafka import AIOKafkaProducer

from stream.deal import events as ev
from stream.deal.wire import encode
from stream.simulate.tables import Order, reports

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
    orders: Sequence[Order], broker: str, prefix: str, *, speed: float | None, told: BinaryIO | None
) -> int:
    """Send all reports in order of arrival, keyed by table, at real time times `speed`; returns how many."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, acks="all", enable_idempotence=True, linger_ms=5)
    await producer.start()
    count = 0
    pending: list[Any] = []
    begun, first = time.monotonic(), None
    try:
        for (arrival, event), truth in reports(*orders):
            first = arrival if first is None else first
            wait = (arrival - first) / 1e6 / speed - (time.monotonic() - begun) if speed else 0
            if wait > 0:
                await asyncio.sleep(wait)
            pending.append(await producer.send(prefix + topic_of(event), encode(event), key=event.table.encode()))
            count += 1
            if len(pending) >= FLUSH_EVERY:
                await asyncio.gather(*pending)
                pending.clear()
            if truth is not None and told is not None:
                told.write(msgspec.json.encode(vars(truth)) + b"\n")
        await asyncio.gather(*pending)
    finally:
        await producer.stop()
    return count
