"""The worker's topology: three source topics, one agent, state per table, alerts, what they hide, dead letters.

tables.card-reader.v1 --+
tables.shuffler.v1    --+--> judge --> surveillance.alerts.v1
tables.floor.v1       --+      |-----> surveillance.evidence.v1
                               |-----> surveillance.dead-letters.v1
                               '-----> the state's changelog
"""

import asyncio
import logging
import os
import random
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from time import monotonic
from typing import Any, Final

from aiokafka import ConsumerRecord
from faust.types import TP

from stream.deal.events import AnyEvent
from stream.deal.wire import Reader, Refusal, micros
from stream.worker.changelog import Changelog
from stream.worker.epoch import AlertsReader, Lost, NotOwner
from stream.worker.hold import Holds
from stream.worker.owner import Counts, Owner
from stream.worker.settings import Settings
from stream.worker.source import App, Feed, Given
from stream.worker.topics import ALERTS, CHANGELOG, DEAD_LETTERS, EVIDENCE, SOURCES

log: Final = logging.getLogger("misdeal.worker")
TICK_S: Final = 0.05
SLICE: Final = 1000  # records between two looks at whether partitions are about to move
_RAW: Final = {"key_type": bytes, "value_type": bytes, "key_serializer": "raw", "value_serializer": "raw"}


class Worker:
    """The Faust app with what an owner of a partition needs of it (`stream.worker.owner.Desk`)."""

    def __init__(self, settings: Settings, partitions: int) -> None:
        self.settings = settings
        self.partitions = partitions
        self.sources = tuple(settings.prefix + t for t in SOURCES)
        self.source_uri = f"/misdeal/{settings.group}"
        self.holds = Holds(settings.urgent_hold_s, settings.hold_s, settings.devices_hold_s)
        self.counts = Counts()
        self.records = Reader()
        self.owners: dict[int, Owner] = {}
        self.worked = monotonic()  # when the agent last finished anything
        self.app = self._app()
        self.topics = {
            "alerts": self._topic(ALERTS, partitions),
            "evidence": self._topic(EVIDENCE, partitions),
            "dead-letters": self._topic(DEAD_LETTERS, 1),
            **{name: self.app.topic(name, partitions=partitions, **_RAW) for name in self.sources},
        }
        self.reader = AlertsReader(settings.broker, settings.prefix + ALERTS)
        self.changelog = Changelog(self.app, name=CHANGELOG, partitions=partitions, key_type=bytes, value_type=bytes)
        self.app.tables.add(self.changelog)
        self._wire()

    def _app(self) -> App:
        s = self.settings
        return App(
            s.prefix + s.group,
            Feed(self.sources, self._read),
            broker=[f"kafka://{host}" for host in s.broker.split(",")],
            topic_partitions=self.partitions,
            topic_allow_declare=False,  # `misdeal topics apply` makes them
            topic_disable_leader=True,
            datadir=str(Path(tempfile.gettempdir()) / "misdeal-faust"),  # Faust wants one; nothing is kept in it
            broker_commit_interval=s.commit_s,
            broker_session_timeout=s.session_s,
            broker_rebalance_timeout=s.session_s,
            broker_heartbeat_interval=1.0,
            broker_max_poll_records=2000,
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=s.member or None,
            table_standby_replicas=0,
            stream_recovery_delay=0.0,
            web_enabled=False,  # it serves table contents without a password
            agent_supervisor="mode.CrashingSupervisor",  # an error of ours ends the process, nothing acknowledged
        )

    def _topic(self, name: str, partitions: int) -> Any:
        return self.app.topic(self.settings.prefix + name, partitions=partitions, **_RAW)

    def _read(self, record: ConsumerRecord) -> tuple[int, tuple[ConsumerRecord, AnyEvent | Refusal]]:
        read = self.records.read(record.value or b"")
        return (0 if isinstance(read, Refusal) else micros(read.at)), (record, read)

    def _wire(self) -> None:
        """The topology: one agent over the batches, one timer."""
        app = self.app
        channel = app.subscribe([self.topics[name] for name in self.sources])

        @app.agent(channel)
        async def judge(stream: Any) -> None:
            await self._judge(stream)

        @app.timer(TICK_S)
        async def tick() -> None:
            app.consumer.tick()

    async def _judge(self, stream: Any) -> None:
        consumer, generation = self.app.consumer, None
        refused: set[int] = set()
        slow = float(os.environ.get("MISDEAL_SLOW_MS", "0")) / 1000
        async for batch in consumer.batches(stream):
            if generation != batch.generation:  # everything is derived anew from the changelog and the sources
                generation = batch.generation
                self.owners.clear()
                refused.clear()
            if batch.number in refused:
                continue  # a batch was dropped: nothing more until the next assignment seeks
            try:
                owner = self.owners.get(batch.number)
                if owner is None:
                    owner = Owner(self, batch.number)
                    await owner.take()
                    self.owners[batch.number] = owner
                for i in range(0, len(batch.items) or 1, SLICE):
                    if i and not consumer.live(generation):
                        break  # the rest is read again
                    await owner.work(batch.items[i : i + SLICE])
                    if slow:
                        await asyncio.sleep(slow * len(batch.items[i : i + SLICE]))
            except Lost as error:
                log.error("refusing to go on: %s", error)  # noqa: TRY400  # it is no defect of ours, and says what to do
                os._exit(1)
            except (Given, NotOwner):
                self.owners.pop(batch.number, None)
                refused.add(batch.number)
            self.worked = monotonic()

    def healthy(self) -> bool:
        """Whether it works, or is a spare that has joined the group and was given nothing to do."""
        idle = monotonic() - self.worked
        spare = self.app.consumer.ready is not None and not self.app.consumer.assigned()
        return spare or (bool(self.owners) and idle < self.settings.session_s * 3)

    # --- what an owner needs

    def kept(self, number: int) -> Any:
        """The changelog of a partition."""
        return self.changelog.partition(number)

    async def send(
        self, topic: str, number: int | None, key: bytes | None, value: bytes | None, headers: Any
    ) -> Awaitable[Any]:
        """Send a record; gives the future of its acknowledgement."""
        future: Awaitable[Any] = await self.topics[topic].send(key=key, value=value, partition=number, headers=headers)
        return future

    def write(self, number: int, key: bytes, value: bytes) -> Awaitable[Any]:
        """Send a changelog record; gives the future of its acknowledgement."""
        future: Awaitable[Any] = self.changelog.write(number, key, value)
        return future

    async def drop(self, number: int, key: bytes, epoch: int) -> None:
        """Send a tombstone to the changelog."""
        await self.changelog.drop(number, key, epoch)

    async def lease(self) -> None:
        """Wait until we may write."""
        await self.app.consumer.lease()

    async def is_member(self, number: int) -> bool:
        """Whether the group counts us in."""
        member: bool = await self.app.consumer.is_member(self.sources[0], number)
        return member

    def behind(self, number: int) -> bool:
        """Whether more records of a partition are to come at once."""
        behind: bool = self.app.consumer.behind(number)
        return behind

    def durable(self, topic: str, number: int, offset: int) -> None:
        """Everything before an offset may be committed."""
        self.app.consumer.durable(topic, number, offset)

    def committed(self, topic: str, number: int) -> int:
        """The offset last committed."""
        offset: int = self.app.consumer.committed(topic, number)
        return offset

    async def earliest(self, number: int) -> dict[str, int]:
        """The first offset that each source still has of a partition."""
        found = await self.app.consumer.earliest_offsets(*(TP(topic, number) for topic in self.sources))
        return {tp.topic: int(offset) for tp, offset in found.items()}

    def crash(self, where: str) -> None:
        """Die here with the chance that `MISDEAL_CRASH` gives this place (`claim:0.1,verdict:1`): for crash tests."""
        for part in os.environ.get("MISDEAL_CRASH", "").split(","):
            name, _, chance = part.partition(":")
            if name == where and random.random() < float(chance or 1):  # noqa: S311  # no secret
                os._exit(137)
