"""When state and topics contradict each other the worker refuses to start, and says what to do."""

import asyncio

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from broker.harness import PARTITIONS, Site, check_promises, order, replayed, telemetry

from stream.worker.topics import apply, changelog, declared

pytestmark = pytest.mark.kafka


async def test_a_lost_changelog_is_no_empty_one(site: Site) -> None:
    """Committed offsets and an empty changelog: stock Faust would begin with empty tables; we end, and say why."""
    lines = telemetry(order(8, 3, 51, every=2))
    wanted = replayed(lines)
    worker = site.worker()
    await site.produce(lines)
    check_promises(await site.settled(wanted), wanted)
    while await site.lag():
        await asyncio.sleep(0.5)
    assert await worker.terminate() == 0

    admin = AIOKafkaAdminClient(bootstrap_servers=site.bootstrap)
    await admin.start()
    await admin.delete_topics([changelog("judge", site.prefix).name])
    await asyncio.sleep(1)
    await apply(admin, declared("judge", site.prefix), partitions=PARTITIONS, replication=1)
    await admin.close()

    again = site.worker()
    for _ in range(300):
        if not again.alive:
            break
        await asyncio.sleep(0.1)
    assert again.process.poll() == 1
    assert "the changelog is empty" in again.said()
    assert "MISDEAL_GROUP" in again.said()
    assert "Traceback" not in again.said()


async def test_missing_topics_are_named(site: Site) -> None:
    """Without its topics the worker ends with 1 and says which command makes them."""
    worker = site.worker(MISDEAL_GROUP="nobody")
    for _ in range(200):
        if not worker.alive:
            break
        await asyncio.sleep(0.1)
    assert worker.process.poll() == 1
    assert "misdeal topics apply" in worker.said()
