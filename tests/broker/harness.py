"""What the tests on a real broker share: topics, workers as processes, telemetry, and what is in force."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from stream.commands.replay import Replay
from stream.deal.verdicts import body
from stream.deal.wire import encode
from stream.rulebook.paragraphs import load
from stream.simulate.produce import topic_of
from stream.simulate.tables import Order, injections, reports
from stream.worker.epoch import InForce
from stream.worker.owner import home
from stream.worker.records import epoch_of, header
from stream.worker.topics import ALERTS, DEAD_LETTERS, SOURCES, apply, declared

PARTITIONS = 4
MISDEAL = [sys.executable, "-m", "stream"]


def order(
    rounds: int, tables: int, seed: int, *, every: int = 4, jitter: int = 150, rules: str = "nj-double-down-stud-17"
) -> Order:
    """Tables with one departure in some rounds, each atom and form in turn."""
    return Order(rules, rounds, tables, seed=seed, inject=injections(load(rules), "all"), every=every, jitter_ms=jitter)


@dataclass(frozen=True)
class Line:
    """One record to be: its topic (without prefix), key and value."""

    topic: str
    key: bytes
    value: bytes


def telemetry(order: Order) -> list[Line]:
    """What simulated tables report, in order of arrival."""
    return [Line(topic_of(e), e.table.encode(), encode(e)) for (_, e), _ in reports(order)]


def replayed(lines: Sequence[Line | bytes]) -> set[bytes]:
    """The bodies in force by replay, without a broker."""
    replay = Replay(None)
    for number, line in enumerate(lines, 1):
        replay.read("telemetry", number, line.value if isinstance(line, Line) else line)
    return {body(v) for v in replay.in_force()}


@dataclass
class Alerts:
    """What a reader of the alerts topic holds, and what it noticed on the way."""

    in_force: dict[str, bytes] = field(default_factory=dict)  # not the withdrawn ones
    records: int = 0
    epochs: dict[int, list[int]] = field(default_factory=dict)
    withdrawn: int = 0
    contents: dict[bytes, set[bytes]] = field(default_factory=dict)  # ce_id -> bodies
    misplaced: int = 0

    @property
    def bodies(self) -> set[bytes]:
        """The bodies in force."""
        return set(self.in_force.values())


class Site:
    """Topics of their own on a shared broker, by a prefix."""

    def __init__(self, bootstrap: str, prefix: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.folder = folder
        self.workers: list[Worker] = []

    async def provision(self) -> None:
        """Make the topics."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        await apply(admin, declared("judge", self.prefix), partitions=PARTITIONS, replication=1)
        await admin.close()

    async def produce(
        self,
        lines: Sequence[Line],
        *,
        place: Callable[[Line], tuple[bytes | None, int]] | None = None,
        pause: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        """Send lines in order; `place` chooses key and partition, `pause` is awaited before each."""
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, acks="all", linger_ms=2)
        await producer.start()
        pending: list[Any] = []
        for i, line in enumerate(lines):
            if pause is not None:
                await pause(i)
            key, partition = place(line) if place else (line.key, home(line.key, PARTITIONS))
            pending.append(await producer.send(self.prefix + line.topic, line.value, key=key, partition=partition))
            if len(pending) >= 1000:
                await asyncio.gather(*pending)
                pending.clear()
        await asyncio.gather(*pending)
        await producer.stop()

    async def read(self, topic: str) -> list[ConsumerRecord]:
        """Every record of a topic so far, by partition and offset."""
        name = self.prefix + topic
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        await consumer.start()
        count = 1 if topic == DEAD_LETTERS else PARTITIONS
        tps = [TopicPartition(name, p) for p in range(count)]
        consumer.assign(tps)
        end = await consumer.end_offsets(tps)
        out: list[ConsumerRecord] = []
        while [tp for tp in tps if await consumer.position(tp) < end[tp]]:
            for records in (await consumer.getmany(timeout_ms=300)).values():
                out += records
        await consumer.stop()
        return sorted(out, key=lambda r: (r.partition, r.offset))

    async def alerts(self) -> Alerts:
        """What is in force by the reader's rule, and whether the records keep their promises."""
        views = {p: InForce() for p in range(PARTITIONS)}
        out = Alerts()
        for record in await self.read(ALERTS):
            views[record.partition].see(record)
            out.records += 1
            epoch = epoch_of(record.headers)
            if epoch is not None:
                out.epochs.setdefault(record.partition, []).append(epoch)
                continue
            out.contents.setdefault(header(record.headers, "ce_id") or b"", set()).add(record.value)
            out.withdrawn += b'"status":"withdrawn"' in record.value
            out.misplaced += home(record.key, PARTITIONS) != record.partition
        for view in views.values():
            for name, record in view.records.items():
                if b'"status":"withdrawn"' not in record.value:
                    out.in_force[name] = record.value
        return out

    async def settled(self, wanted: set[bytes], seconds: float = 90, *, running: bool = True) -> Alerts:
        """The alerts once the bodies in force are those wanted, or as they are when time is up."""
        begun, alerts = time.monotonic(), Alerts()
        while time.monotonic() - begun < seconds:
            alerts = await self.alerts()
            if alerts.bodies == wanted:
                break
            if running and not any(w.alive for w in self.workers):
                break
            await asyncio.sleep(0.5)
        return alerts

    async def lag(self) -> int:
        """Records of the sources that the group has not committed."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, group_id=f"{self.prefix}judge", enable_auto_commit=False
        )
        await consumer.start()
        tps = [TopicPartition(self.prefix + t, p) for t in SOURCES for p in range(PARTITIONS)]
        consumer.assign(tps)
        end = await consumer.end_offsets(tps)
        out = int(sum([end[tp] - ((await consumer.committed(tp)) or 0) for tp in tps]))
        await consumer.stop()
        return out

    def worker(self, **settings: str) -> "Worker":
        """Start a worker process."""
        worker = Worker(self, settings)
        self.workers.append(worker)
        return worker

    def end(self) -> None:
        """End what is still running."""
        for worker in self.workers:
            worker.kill()


class Worker:
    """A worker as a process."""

    def __init__(self, site: Site, settings: dict[str, str]) -> None:
        self.log = site.folder / f"worker-{len(site.workers)}.log"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MISDEAL_")} | {
            "MISDEAL_BROKER": site.bootstrap,
            "MISDEAL_PREFIX": site.prefix,
            "MISDEAL_GROUP": "judge",
            "MISDEAL_HTTP": "off",
            "MISDEAL_SESSION_S": "6",
            "MISDEAL_LOG": "warning",
            "MISDEAL_HOLD_MS": "500",
            "MISDEAL_HOLD_DEVICES_MS": "500",
            **settings,
        }
        self.process = subprocess.Popen(
            [*MISDEAL, "worker"], env=environment, stdout=subprocess.DEVNULL, stderr=self.log.open("wb")
        )

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    def kill(self) -> None:
        """SIGKILL, also a stopped one."""
        if self.alive:
            self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """SIGSTOP: it stalls."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        self.process.send_signal(signal.SIGCONT)

    async def terminate(self, seconds: float = 30) -> int:
        """SIGTERM; its exit status."""
        self.process.terminate()
        begun = time.monotonic()
        while self.alive and time.monotonic() - begun < seconds:
            await asyncio.sleep(0.05)
        status = self.process.poll()
        assert status is not None, f"did not end: {self.said()}"
        return status

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-4000:]


def check_promises(alerts: Alerts, wanted: set[bytes]) -> None:
    """What must hold of any alerts topic, whatever happened to the workers."""
    missing, unknown = wanted - alerts.bodies, alerts.bodies - wanted
    assert not missing, f"{len(missing)} of {len(wanted)} missing, e.g. {next(iter(missing))!r}"
    assert not unknown, f"{len(unknown)} in force that replay does not know, e.g. {next(iter(unknown))!r}"
    assert not [c for c, bodies in alerts.contents.items() if len(bodies) > 1], "one ce_id with two contents"
    for partition, epochs in alerts.epochs.items():
        assert not [e for e, n in Counter(epochs).items() if n > 1], f"an epoch twice in partition {partition}"
    assert alerts.misplaced == 0


def misplace(seed: int, share: float) -> Callable[[Line], tuple[bytes | None, int]]:
    """A producer that puts a share of the records where they do not belong, or under a wrong key, or none."""
    rnd = random.Random(seed)

    def place(line: Line) -> tuple[bytes | None, int]:
        if rnd.random() >= share:
            return line.key, home(line.key, PARTITIONS)
        return rnd.choice([line.key, None, b"another"]), rnd.randrange(PARTITIONS)

    return place
