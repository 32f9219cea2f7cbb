"""The worker on a real broker, with nothing going wrong around it."""

import asyncio
import json
import random

import pytest
from broker.harness import PARTITIONS, Line, Site, check_promises, misplace, order, replayed, telemetry

from stream.worker.topics import SOURCES

pytestmark = pytest.mark.kafka


async def test_a_backlog_topic_after_topic(site: Site) -> None:
    """A backlog produced topic after topic gives the bodies of replay, and nothing is withdrawn."""
    lines = telemetry(order(40, 5, 1))
    wanted = replayed(lines)
    await site.produce([line for topic in SOURCES for line in lines if line.topic == topic])
    worker = site.worker()
    alerts = await site.settled(wanted)
    check_promises(alerts, wanted)
    assert len(wanted) > 40
    assert alerts.withdrawn == 0, worker.said()


async def test_live_and_misplaced(site: Site) -> None:
    """While it runs, with records misplaced, repeated and jittered, the bodies in force become those of replay."""
    rnd = random.Random(2)
    lines = telemetry(order(25, 5, 2))
    doubled = [again for line in lines for again in ([line] if rnd.random() > 0.02 else [line, line])]
    wanted = replayed(lines)
    site.worker()

    async def pause(i: int) -> None:
        if i % 50 == 0:
            await asyncio.sleep(0.03)

    await site.produce(doubled, place=misplace(3, 0.05), pause=pause)
    check_promises(await site.settled(wanted), wanted)


async def test_stop_and_start_again(site: Site) -> None:
    """SIGTERM ends with 0; the next worker reads nothing again but what no head covers, and publishes nothing twice."""
    lines = telemetry(order(30, 4, 4))
    wanted = replayed(lines)
    half = len(lines) // 2
    worker = site.worker()
    await site.produce(lines[:half])
    await site.settled(replayed(lines[:half]))
    assert await worker.terminate() == 0
    before = (await site.alerts()).records
    again = site.worker()
    await site.produce(lines[half:])
    alerts = await site.settled(wanted)
    check_promises(alerts, wanted)
    assert alerts.records - before <= len(wanted) - 10 + PARTITIONS
    assert await again.terminate() == 0


async def test_an_idle_table_holds_nothing_back(site: Site) -> None:
    """A table that stops in an open round keeps nobody's offsets from being committed."""
    lines = telemetry(order(10, 3, 5))
    idle = [line for line in lines if line.key == b"T001"]
    rest = [line for line in lines if line.key != b"T001"]
    await site.produce([*idle[: len(idle) // 2], *rest])
    site.worker()
    for _ in range(60):
        await asyncio.sleep(0.5)
        if await site.lag() == 0:
            break
    assert await site.lag() == 0


def _altered(line: Line, **fields: object) -> bytes:
    """A line with some fields of its event set otherwise."""
    return encode_json({**json.loads(line.value), **fields})


def encode_json(value: object) -> bytes:
    """JSON as any client writes it."""
    return json.dumps(value, separators=(",", ":")).encode()


async def test_bad_records_stop_nothing(site: Site) -> None:
    """Ten kinds of hostile record: dead letters byte for byte, or a device fault; and the next good event is judged."""
    lines = telemetry(order(6, 1, 6, every=3))
    dead_on_arrival = [
        b"",  # empty
        b"no json",
        lines[5].value[:-7],  # truncated
        _altered(lines[6], seq="seven"),  # wrong types
        _altered(lines[7], type="card.eaten"),  # unknown type
        _altered(lines[8], at="2026-01-05T12:00:00"),  # naive time
        b"x" * 900_000,
        b'{"a":' * 50_000,  # deep nesting
    ]
    conflict = Line(lines[20].topic, lines[20].key, _altered(lines[20], clock_ms=21))
    stranger = Line(lines[9].topic, b"T999", _altered(lines[9], table="T999", device="T999-x"))
    mixed: list[Line] = []
    for i, line in enumerate(lines):
        mixed.append(line)
        if i < len(dead_on_arrival):
            mixed.append(Line(line.topic, b"key-%d" % i, dead_on_arrival[i]))
    mixed += [conflict, stranger]
    wanted = replayed([*lines, conflict, stranger])
    site.worker()
    await site.produce(mixed)
    alerts = await site.settled(wanted)
    check_promises(alerts, wanted)
    codes = {json.loads(b)["code"] for b in alerts.bodies}
    assert {"identity_conflict", "table_not_opened"} <= codes
    dead = await site.read("surveillance.dead-letters.v1")
    assert sorted(r.value for r in dead) == sorted(dead_on_arrival)
    assert {r.key for r in dead} == {b"key-%d" % i for i in range(len(dead_on_arrival))}
    for record in dead:
        headers = dict(record.headers)
        assert headers["misdeal-topic"].decode().startswith(site.prefix)
        assert headers["misdeal-offset"].isdigit()
        assert headers["misdeal-reason"]
