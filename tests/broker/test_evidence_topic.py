"""The evidence topic on a real broker: a record for each revision, the same after crashes, nothing hidden elsewhere."""

import asyncio
import json
import socket
import time
import urllib.request
from collections.abc import Sequence
from hashlib import sha256

import pytest
from aiokafka import ConsumerRecord
from broker.harness import PARTITIONS, Line, Site, check_promises, misplace, order, replayed, telemetry
from hidden import check_body, check_words, shift
from test_leaks import HOSTILE

from stream.commands.replay import Replay
from stream.deal.verdicts import body
from stream.deal.wire import encode
from stream.rulebook.paragraphs import ids
from stream.simulate.produce import topic_of
from stream.worker.owner import home
from stream.worker.records import epoch_of, header
from stream.worker.topics import ALERTS, DEAD_LETTERS, EVIDENCE, SOURCES

pytestmark = pytest.mark.kafka
Records = dict[tuple[str, bytes], list[ConsumerRecord]]  # verdict, revision -> its records, in order


def hidden(lines: Sequence[Line]) -> dict[bytes, bytes]:
    """Body -> evidence record of the verdicts in force, by replay."""
    replay = Replay(None, evidence=True)
    for number, line in enumerate(lines, 1):
        replay.read("telemetry", number, line.value)
    return dict(zip(map(body, replay.in_force()), replay.evidence(), strict=True))


async def by_revision(site: Site, topic: str) -> Records:
    """The records of a topic by verdict and revision; one `ce_id` never has two contents."""
    out: Records = {}
    contents: dict[bytes, bytes] = {}
    for record in await site.read(topic):
        if epoch_of(record.headers) is not None:
            continue
        ce_id = header(record.headers, "ce_id") or b""
        assert contents.setdefault(ce_id, record.value) == record.value, "one ce_id with two contents"
        assert ce_id.rpartition(b".")[2] == sha256(record.value).hexdigest()[:8].encode()
        assert home(record.key, PARTITIONS) == record.partition
        revision = header(record.headers, "misdeal-revision") or b""
        out.setdefault((ce_id.split(b".")[0].decode(), revision), []).append(record)
    return out


async def agreed(site: Site, wanted: dict[bytes, bytes], seconds: float = 90) -> tuple[Records, Records]:
    """Alerts and evidence once the last record of each verdict in force is replay's, or as they are when time is up."""
    begun = time.monotonic()
    while True:
        alerts, evidence = await by_revision(site, ALERTS), await by_revision(site, EVIDENCE)
        newest = dict(sorted(alerts, key=lambda k: _number(k[1])))
        last = {
            alerts[key][-1].value: evidence[key][-1].value
            for key in newest.items()
            if key in evidence and b'"status":"withdrawn"' not in alerts[key][-1].value
        }
        if last == wanted or time.monotonic() - begun > seconds:
            assert last == wanted
            return alerts, evidence
        await asyncio.sleep(0.5)


def _number(revision: bytes) -> tuple[int, int]:
    e, _, r = revision.partition(b".")
    return int(e), int(r)


def check_pairs(alerts: Records, evidence: Records) -> None:
    """Every alert has an evidence record under its own revision, which names its body; none was sent after it."""
    for key, records in alerts.items():
        assert key in evidence, f"an alert without its evidence: {key}"
        for record in records:
            told = evidence[key]
            assert {json.loads(t.value)["body"] for t in told} == {sha256(record.value).hexdigest()}
            assert told[0].timestamp <= record.timestamp
            assert told[0].key == record.key
            assert header(told[0].headers, "ce_type") == b"misdeal.evidence.v1"
            assert header(told[0].headers, "ce_time") == header(record.headers, "ce_time")


async def test_a_record_for_every_revision(site: Site) -> None:
    """Live, with records misplaced and jittered: each revision has its record, and the last ones are replay's bytes."""
    lines = telemetry(order(25, 5, 21, every=2))
    wanted = hidden(lines)
    site.worker()

    async def pause(i: int) -> None:
        if i % 50 == 0:
            await asyncio.sleep(0.03)

    await site.produce(lines, place=misplace(3, 0.05), pause=pause)
    alerts, evidence = await agreed(site, wanted)
    check_pairs(alerts, evidence)
    assert any(len(records) > 1 for records in evidence.values()), "no round closed after its verdict"


async def test_killed_in_between(site: Site) -> None:
    """Workers die after evidence, verdicts and heads, or are killed: no alert lacks its evidence, ids keep bytes."""
    lines = telemetry(order(30, 4, 22, every=2, rules="nj-winners-pot-33"))
    wanted = hidden(lines)
    await site.produce(lines, place=misplace(8, 0.02))
    deaths = 0
    for crash in ("evidence:1", "verdict:1", "evidence:0.3,verdict:0.3,rounds:0.2,head:0.2", "evidence:0.3,head:0.3"):
        worker = site.worker(MISDEAL_CRASH=crash, MISDEAL_SLOW_MS="0.5", MISDEAL_MEMBER="w1")
        begun = time.monotonic()
        while worker.alive and time.monotonic() - begun < 8:
            await asyncio.sleep(0.1)
        deaths += worker.process.poll() == 137
        worker.kill()
        check_pairs(await by_revision(site, ALERTS), await by_revision(site, EVIDENCE))
    assert deaths >= 2
    site.worker(MISDEAL_MEMBER="w1")
    check_pairs(*await agreed(site, wanted, 120))
    check_promises(await site.alerts(), set(wanted))


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def _fetched(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.parametrize("rules", ids())
async def test_nothing_hidden_leaves_the_worker(site: Site, rules: str) -> None:
    """No revision's body, no header, log line, metric, health page or reason of a dead letter tells a hidden card.

    A shift with every irregularity and device fault, readers that name every card, the log at debug.
    """
    lines = [Line(topic_of(e), e.table.encode(), encode(e)) for e in shift(rules, 2)]
    wanted = hidden(lines)
    port = _free_port()
    worker = site.worker(
        MISDEAL_LOG="debug", MISDEAL_HTTP=f"127.0.0.1:{port}", MISDEAL_HOLD_MS="0", MISDEAL_HOLD_DEVICES_MS="0"
    )
    bad = [Line(SOURCES[0], b"T001", value) for value in HOSTILE]
    await site.produce([*lines[: len(lines) // 2], *bad, *lines[len(lines) // 2 :]])
    alerts, evidence = await agreed(site, wanted)
    concealed = 0
    for key, records in alerts.items():
        for record in records:
            told = next(t for t in evidence[key] if json.loads(t.value)["body"] == sha256(record.value).hexdigest())
            if b'"status":"withdrawn"' not in record.value:
                concealed += check_body(record.value, told.value)
            for name, value in record.headers:
                check_words(name, value.decode())
    assert concealed > 20
    for record in await site.read(DEAD_LETTERS):
        for name, value in record.headers:
            check_words(name, value.decode())
    assert len(await site.read(DEAD_LETTERS)) == len(HOSTILE)
    for path in ("/healthz", "/metrics"):
        check_words(path, await asyncio.to_thread(_fetched, port, path))
    assert await worker.terminate() == 0
    check_words("the log", worker.log.read_text(errors="replace"))
    assert set(await _bodies(site)) == set(replayed(lines))


async def _bodies(site: Site) -> set[bytes]:
    return (await site.alerts()).bodies
