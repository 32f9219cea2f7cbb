"""A new group on a site whose telemetry is gone, but not its verdicts: the record of years is not taken back."""

import asyncio

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.records_to_delete import RecordsToDelete
from broker.harness import PARTITIONS, Site, check_promises, order, replayed, telemetry

from stream.worker.topics import SOURCES, apply, declared

pytestmark = pytest.mark.kafka


async def test_what_retention_took_stays_in_force(site: Site) -> None:
    """Verdicts whose telemetry retention has removed stand, as they were published; the rest is judged anew."""
    lines = telemetry(order(16, 3, 41, every=2))
    half = len(lines) // 2
    before = replayed(lines[:half])
    first = site.worker()
    await site.produce(lines[:half])
    check_promises(await site.settled(before), before)
    assert await first.terminate() == 0

    admin = AIOKafkaAdminClient(bootstrap_servers=site.bootstrap)
    await admin.start()
    tps = [TopicPartition(site.prefix + t, p) for t in SOURCES for p in range(PARTITIONS)]
    await admin.delete_records({tp: RecordsToDelete(before_offset=-1) for tp in tps})
    await apply(admin, declared("other", site.prefix), partitions=PARTITIONS, replication=1)
    await admin.close()

    await site.produce(lines[half:])
    site.worker(MISDEAL_GROUP="other")
    for _ in range(60):
        alerts = await site.alerts()
        if len(alerts.bodies) > len(before):
            break
        await asyncio.sleep(0.5)
    await asyncio.sleep(3)  # longer than any hold
    alerts = await site.alerts()
    assert before
    assert before <= alerts.bodies
    assert len(alerts.bodies) > len(before), "what came after is judged"
