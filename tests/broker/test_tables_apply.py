"""`misdeal tables apply` on a real broker."""

import asyncio
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from broker.harness import MISDEAL

from stream.broker import Broker
from stream.deal import events as ev
from stream.deal.wire import Reader
from stream.worker.owner import home

pytestmark = pytest.mark.kafka

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "tables.toml"
PARTITIONS = 4


def misdeal(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run([*MISDEAL, *arguments], capture_output=True, text=True, timeout=60, check=False)


async def read(bootstrap: str, topic: str) -> list[ConsumerRecord]:
    """Everything in a topic, partition by partition."""
    parts = [TopicPartition(topic, n) for n in range(PARTITIONS)]
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign(parts)
        ends = await consumer.end_offsets(parts)
        found: list[ConsumerRecord] = []
        while len(found) < sum(ends.values()):
            for records in (await consumer.getmany(timeout_ms=500)).values():
                found += records
        return found
    finally:
        await consumer.stop()


async def test_tables_reach_their_partition(kafka: Broker, tmp_path: Path) -> None:
    """Each table.opened is on the floor topic under its table's key; a later run looks like a restart of the device."""
    prefix = f"t{uuid4().hex[:8]}."
    where = ("--broker", kafka.bootstrap, "--prefix", prefix)
    early = misdeal("tables", "apply", str(EXAMPLE), *where)
    assert early.returncode == 1
    assert f"misdeal topics apply --broker {kafka.bootstrap} --prefix {prefix}" in early.stderr

    assert misdeal("topics", "apply", *where, "--partitions", str(PARTITIONS)).returncode == 0
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(EXAMPLE.read_text().replace("seats = 6", "seats = 60"))
    assert misdeal("tables", "apply", str(wrong), *where).returncode == 1
    for _ in range(2):
        done = misdeal("tables", "apply", str(EXAMPLE), *where)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        await asyncio.sleep(1)  # boots are seconds

    records = await read(kafka.bootstrap, f"{prefix}tables.floor.v1")
    assert sorted(r.key for r in records) == [b"DDS-01", b"DDS-01", b"DDS-02", b"DDS-02"]
    boots: dict[str, list[int]] = {}
    for record in records:
        event = Reader().read(record.value)
        assert isinstance(event, ev.TableOpened)
        assert (record.key, record.partition) == (event.table.encode(), home(record.key, PARTITIONS))
        boots.setdefault(event.device, []).append(event.boot)
    assert all(first < second for first, second in boots.values())
