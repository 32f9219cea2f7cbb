"""A client that is not ours: kcat produces telemetry and reads the alerts; its bodies in force are replay's bytes."""

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Sequence

import pytest
from broker.harness import Line, Site, order, replayed, telemetry

from stream.worker.topics import ALERTS, SOURCES

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not here (Debian: apt-get install kcat)"),
]
MURMUR = ("-X", "topic.partitioner=murmur2_random")  # Kafka's own choice; kcat's default is another


def produce(site: Site, topic: str, lines: Sequence[Line], *options: str) -> None:
    """Send lines to one topic, keyed by table."""
    text = b"".join(line.key + b"\t" + line.value + b"\n" for line in lines)
    command = ["kcat", "-P", "-b", site.bootstrap, "-t", site.prefix + topic, "-K", "\t", *options]
    subprocess.run(command, input=text, check=True, timeout=60)


def in_force(site: Site) -> set[bytes]:
    """What kcat's output says is in force, by the rule that a consumer has to follow, written anew here."""
    command = ["kcat", "-C", "-b", site.bootstrap, "-t", site.prefix + ALERTS, "-e", "-q", "-J"]
    out = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    newest: dict[int, int] = {}
    held: dict[str, bytes] = {}
    for text in out.splitlines():
        record = json.loads(text)
        headers = dict(zip(record["headers"][::2], record["headers"][1::2], strict=True))
        partition = record["partition"]
        epoch = int(
            headers["misdeal-epoch"] if "misdeal-epoch" in headers else headers["misdeal-revision"].split(".")[0]
        )
        if epoch < newest.get(partition, 0):
            continue  # stale
        newest[partition] = epoch
        if headers["ce_type"] == "misdeal.verdict.v1":
            held[headers["ce_id"].split(".")[0]] = record["payload"].encode()
    return {b for b in held.values() if json.loads(b)["status"] != "withdrawn"}


async def settled(site: Site, wanted: set[bytes], seconds: float = 90) -> set[bytes]:
    """What is in force once it is what is wanted, or when time is up."""
    begun, found = time.monotonic(), set[bytes]()
    while time.monotonic() - begun < seconds and found != wanted:
        await asyncio.sleep(1)
        found = await asyncio.to_thread(in_force, site)
    return found


async def test_a_file_before_the_worker_starts(site: Site) -> None:
    """The file topic after topic, then a worker."""
    lines = telemetry(order(20, 4, 21))
    wanted = replayed(lines)
    for topic in SOURCES:
        produce(site, topic, [line for line in lines if line.topic == topic], *MURMUR)
    site.worker()
    assert wanted
    assert await settled(site, wanted) == wanted


async def test_the_partitioner_that_kcat_has(site: Site) -> None:
    """By kcat's default partitioner a table's records lie where it does not belong; they are judged all the same."""
    lines = telemetry(order(12, 4, 22))
    wanted = replayed(lines)
    site.worker()
    for topic in SOURCES:
        produce(site, topic, [line for line in lines if line.topic == topic])
    assert await settled(site, wanted) == wanted


async def test_live_at_a_hundred_times_real_speed(site: Site) -> None:
    """In time order while a worker runs, three kcats fed at a hundred times real speed."""
    lines = telemetry(order(20, 4, 23))
    wanted = replayed(lines)
    site.worker()
    await asyncio.sleep(3)
    feeds = {
        topic: subprocess.Popen(
            ["kcat", "-P", "-b", site.bootstrap, "-t", site.prefix + topic, "-K", "\t", "-X", "linger.ms=5", *MURMUR],
            stdin=subprocess.PIPE,
        )
        for topic in SOURCES
    }
    begun, first = time.monotonic(), None
    for line in lines:
        at = time.mktime(time.strptime(json.loads(line.value)["at"][:19], "%Y-%m-%dT%H:%M:%S"))
        first = at if first is None else first
        wait = (at - first) / 100 - (time.monotonic() - begun)
        if wait > 0:
            await asyncio.sleep(wait)
        pipe = feeds[line.topic].stdin
        assert pipe is not None
        pipe.write(line.key + b"\t" + line.value + b"\n")
        pipe.flush()
    for feed in feeds.values():
        assert feed.stdin is not None
        feed.stdin.close()
        feed.wait(30)
    assert await settled(site, wanted) == wanted
