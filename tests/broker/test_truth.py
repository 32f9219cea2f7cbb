"""Simulated tables with a known truth, through a real broker: every departure is found, and nothing else is said.

MISDEAL_TEST_EVENTS sets about how many events (a hundred thousand unless set; `make soak` takes a million).
"""

import asyncio
import json
import os

import pytest
from broker.harness import PARTITIONS, Line, Site
from confluent_kafka import Producer

from stream.deal.wire import encode
from stream.rulebook.paragraphs import load
from stream.simulate.produce import topic_of
from stream.simulate.tables import Order, Truth, injections, reports
from stream.worker.owner import home
from stream.worker.records import epoch_of
from stream.worker.topics import ALERTS, SOURCES

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
RULES = "nj-double-down-stud-17"
EVENTS = int(os.environ.get("MISDEAL_TEST_EVENTS", "100000"))
TABLES = 20
EVENTS_A_ROUND = 54  # at least
HOLD_MS = 2000


def simulated(inject: tuple[tuple[str, str], ...]) -> tuple[list[Line], dict[str, Truth]]:
    """Telemetry with jitter between devices, and what was done wrong by round."""
    rounds = EVENTS // (TABLES * EVENTS_A_ROUND) + 1
    order = Order(RULES, rounds, TABLES, seed=31, inject=inject, every=10, jitter_ms=150)
    lines, truth = [], {}
    for (_, event), told in reports(order):
        lines.append(Line(topic_of(event), event.table.encode(), encode(event)))
        if told is not None:
            truth[told.round] = told
    return lines, truth


def produce(site: Site, lines: list[Line]) -> None:
    """Topic after topic, as fast as can be."""
    producer = Producer({"bootstrap.servers": site.bootstrap, "linger.ms": 20})
    for topic in SOURCES:
        for i, line in enumerate(line for line in lines if line.topic == topic):
            producer.produce(site.prefix + topic, line.value, line.key, partition=home(line.key, PARTITIONS))
            if i % 5000 == 0:
                producer.poll(0.05)
        producer.flush()


async def drained(site: Site) -> None:
    """A worker that reads everything and ends."""
    worker = site.worker(MISDEAL_HOLD_MS=str(HOLD_MS), MISDEAL_HOLD_DEVICES_MS=str(HOLD_MS))
    # What is left at last belongs to open rounds; it is written down, and committed, within ten seconds.
    while await site.lag() and worker.alive:
        await asyncio.sleep(1)
    await asyncio.sleep(2 * HOLD_MS / 1000)  # what it has read it may hold back so long, and ends without saying it
    assert worker.alive, worker.said()
    assert await worker.terminate() == 0


async def test_lawful_tables_say_nothing(site: Site) -> None:
    """Of lawful tables with devices up to 150 ms apart nothing is published, not even to be withdrawn."""
    lines, truth = simulated(())
    produce(site, lines)
    await drained(site)
    assert len(lines) >= EVENTS
    assert not truth
    records = await site.read(ALERTS)
    assert [r.value for r in records if epoch_of(r.headers) is None] == []


async def test_every_departure_is_found_and_nothing_else(site: Site) -> None:
    """Of one departure in every tenth round, each atom and form in turn: one verdict each, right atom and place."""
    lines, truth = simulated(injections(load(RULES), "all"))
    produce(site, lines)
    await drained(site)
    alerts = await site.alerts()
    found = [json.loads(b) for b in alerts.bodies]
    assert sorted((v["round"], v["atom"]) for v in found) == sorted((t.round, t.atom) for t in truth.values())
    for v in found:
        assert "root" not in v
        assert set(truth[v["round"]].positions) <= set(v["affected"].get("positions", ()))
    assert alerts.withdrawn == 0
    assert len(truth) > EVENTS // (EVENTS_A_ROUND * 11)
