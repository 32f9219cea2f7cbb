"""The batch source: Faust's consumer handing whole fetched batches to an agent, and committing only what is durable.

Stock Faust 0.15.3 loses events at a restart with a backlog and spends most of its time per message. This module
replaces the parts of its Consumer and Recovery that do so, through Faust's own seams (transport, table manager).
Every rule here answers a failure seen on a real broker; the crash test in tests/broker keeps them honest.

* A fetch gets a frozen set of partitions, and its records a generation; what returns after a rebalance is dropped.
* Before recovery seeks and before partitions resume, no fetch is in flight (`quiesce`).
* Never a blocking put: clearing a full queue would cancel its putter and kill the fetcher.
* Revoking waits for the batch in hand, commits, then forgets; no commit until partitions are assigned again.
* A partition without a committed offset is read from its beginning: aiokafka would leave it where the fetcher is.
* Commits are one number a partition: the next offset, all before it being durable.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import faust
from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.transport.consumer import ensure_TP
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from stream.worker.merge import HeadMerge

FAUST: Final = "0.15.3"
FETCH_SECONDS: Final = 0.2  # every rebalance waits for the fetch in flight
FETCH_WAIT_MS: Final = 100  # Faust has 1500: quiet partitions would hold up busy ones
QUEUED: Final = 4  # batches
SLICE: Final = 2000  # records in a batch
LEASE: Final = 0.8  # of the session: with an older heartbeat nothing is written


class Given(Exception):
    """The partitions are about to move: leave the batch, it is read again."""


@dataclass(frozen=True)
class Batch:
    """Records of one partition number of all source topics, in order of event time; empty for a tick."""

    number: int
    items: list[Any]
    generation: int


@dataclass(frozen=True)
class Feed:
    """What to read: the source topics, and how to read a record (event time in microseconds, item)."""

    topics: tuple[str, ...]
    read: Callable[[ConsumerRecord], tuple[int, Any]]
    patience_s: float = 5.0  # only while the broker has more of a topic: a fetch is on its way


def check_faust() -> None:
    """Refuse to run over another Faust than the one whose methods are replaced here. Raises RuntimeError."""
    if faust.__version__ != FAUST:
        raise RuntimeError(f"faust-streaming {FAUST} is needed, {faust.__version__} is installed")
    for owner, names in (
        (driver.Consumer, ("_getmany", "_wait_next_records", "perform_seek", "on_partitions_revoked", "_drain_messages",
                           "_new_offset", "_filter_tps_with_pending_acks", "force_commit", "wait_empty")),
        (Recovery, ("_seek_offsets", "on_recovery_completed", "_resume_streams")),
    ):  # fmt: skip
        for name in names:
            if not callable(getattr(owner, name, None)):
                missing = f"faust-streaming has no {owner.__name__}.{name}"
                raise RuntimeError(missing)  # noqa: TRY004  # the wrong Faust, not a wrong argument


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """The thread with the Kafka client: a short fetch wait, a watch on heartbeats, a question to the coordinator."""

    heartbeat_at = 0.0

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = FETCH_WAIT_MS  # Faust offers no setting for it
        return consumer

    def watch_heartbeats(self) -> None:
        """Remember when the last heartbeat was answered."""
        coordinator = self._consumer._coordinator  # the client keeps no such time itself
        self.heartbeat_at = time.monotonic()
        if getattr(coordinator, "watched", False):
            return
        plain = coordinator._do_heartbeat  # same

        async def beat() -> Any:
            begun = time.monotonic()
            answered = await plain()
            if answered:
                self.heartbeat_at = begun
            return answered

        coordinator._do_heartbeat = beat  # same
        coordinator.watched = True

    async def is_member(self, offsets: Mapping[TopicPartition, int]) -> bool:
        """Ask the group's coordinator whether we are still a member: a commit that changes nothing."""
        member: bool = await self.call_thread(self._is_member, offsets)
        return member

    async def _is_member(self, offsets: Mapping[TopicPartition, int]) -> bool:
        try:
            await self._ensure_consumer().commit(offsets)
        except KafkaError:
            return False
        return True


class Consumer(driver.Consumer):
    """See the module."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ready: int | None = None  # the generation whose recovery is complete
        self._fetching = False
        self._fetch_generation = 0
        self._joining = False
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._room = asyncio.Event()
        self._done: dict[TP, int] = {}  # the next offset, all before it being durable
        self._heads: HeadMerge[TP, Any] = HeadMerge(low=1000, patience_s=self.app.feed.patience_s)

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    # --- stopping and rebalancing: finish the batch in hand, never start another

    def stop_flow(self) -> None:
        """Hand out nothing more."""
        super().stop_flow()
        self._room.set()

    async def quiesce(self) -> None:
        """Stop the flow and wait until no fetch is in flight."""
        self.stop_flow()
        while self._fetching:
            await asyncio.sleep(0.01)

    async def _settle(self, limit: float) -> bool:
        self.stop_flow()
        for queue in self._queues():
            queue.clear()
        try:
            await asyncio.wait_for(self._idle.wait(), limit)
        except TimeoutError:
            return False
        return True

    async def wait_empty(self) -> None:
        """Called on stop, before agents are cancelled: finish the batch in hand."""
        await self._settle(10)
        await super().wait_empty()

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Finish the batch in hand, commit, then forget."""
        if not await self._settle(self.app.conf.broker_rebalance_timeout / 2):
            await self.crash(RuntimeError("the batch in hand did not end before the rebalance"))
            return
        self._heads.clear()
        self._active_partitions.difference_update(revoked)
        self._paused_partitions.difference_update(revoked)
        await self._on_partitions_revoked(revoked)  # commits
        for tp in revoked:
            for kept in (
                self._gap,
                self._acked,
                self._acked_index,
                self._read_offset,
                self._committed_offset,
            ):
                kept.pop(tp, None)
        # From here to the assignment no commit: it would queue behind the join, come back as an illegal generation,
        # and make this member join again.
        self._joining = True
        self._done.clear()

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Take partitions; everything about them is read anew."""
        self._joining = False
        self._done.clear()
        self._thread.watch_heartbeats()
        await super().on_partitions_assigned(assigned, generation_id)

    async def force_commit(self, *args: Any, **kwargs: Any) -> bool:
        """Commit, but never while joining."""
        if self._joining:
            return False
        did: bool = await super().force_commit(*args, **kwargs)
        return did

    async def perform_seek(self) -> None:
        """Go to the committed offsets, or to the beginning where there is none."""
        self._heads.clear()
        self._done.clear()
        missing = []
        for key, offset in (await self.seek_to_committed()).items():
            tp = ensure_TP(key)
            committed = offset if offset is not None and offset > 0 else None
            self._read_offset[tp] = None if committed is None else committed - 1
            self._committed_offset[tp] = committed
            if committed is None and not self._is_changelog_tp(tp):
                missing.append(tp)
        if missing:
            await self.seek_wait(await self.earliest_offsets(*missing))
            for tp in missing:
                self._read_offset[tp] = None

    # --- fetching

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:
        self._fetch_generation = self.app.consumer_generation_id
        wanted: Any = active_partitions
        if active_partitions:
            # A copy: Faust hands over its live set, and an emptied one would mean all partitions.
            sources = self.app.feed.topics
            wanted = frozenset(tp for tp in active_partitions if tp.topic not in sources or self._heads.short(tp))
            if not wanted:
                await asyncio.sleep(0.01)
                return {}
        self._fetching = True
        try:
            return await super()._getmany(wanted, 0.05 if self._heads.waiting else timeout)
        finally:
            self._fetching = False

    async def _drain_messages(self, fetcher: Any) -> None:
        try:
            while not (self._stopped.is_set() or fetcher._stopped.is_set()):  # as Faust does
                records, _ = await self._wait_next_records(FETCH_SECONDS)
                generation = self._fetch_generation
                await asyncio.sleep(0)
                if self.flow_active:
                    await self._hand_over({ensure_TP(tp): r for tp, r in (records or {}).items()}, generation)
                elif records:
                    with suppress(IllegalStateError):  # the partition was lost meanwhile: the next assignment seeks
                        await self.perform_seek()
        except self.consumer_stopped_errors:
            if not self.transport.app.should_stop:
                raise
        except asyncio.CancelledError:
            if not self.transport.app.should_stop:
                raise

    def live(self, generation: int) -> bool:
        """Whether batches of a generation may still be worked on."""
        return bool(self.flow_active and generation == self.app.consumer_generation_id)

    async def _hand_over(self, records: Mapping[TP, list[ConsumerRecord]], generation: int) -> None:
        feed: Feed = self.app.feed
        for tp, fetched in records.items():
            if not self.live(generation):
                return
            read = self._read_offset[tp]
            new = fetched if read is None or fetched[0].offset > read else [r for r in fetched if r.offset > read]
            if not new:
                continue
            if tp.topic in feed.topics:
                self._heads.push(tp, map(feed.read, new))
                self._read_offset[tp] = new[-1].offset
            else:  # changelogs: the normal way
                for record in new:
                    await self.callback(self._to_message(tp, record))
                    self._read_offset[tp] = record.offset
        await self._merge(feed, generation)

    async def _merge(self, feed: Feed, generation: int) -> None:
        self._heads.waiting = False
        mine: dict[int, list[TP]] = {}
        for tp in sorted(self.assignment()):
            if tp.topic in feed.topics:
                mine.setdefault(tp.partition, []).append(tp)
        for number, lanes in mine.items():
            items = self._heads.take(number, lanes, self._lags, time.monotonic())
            for i in range(0, len(items), SLICE):
                if not await self._put(Batch(number, items[i : i + SLICE], generation)):
                    return  # a seek follows

    def _lags(self, tp: TP) -> bool:
        """Whether the broker has more of a partition than was fetched, or it is not known yet."""
        subscription = self._thread._consumer._subscription.subscription  # no public view has it
        if subscription is None:
            return False
        state = subscription.assignment.state_value(TopicPartition(*tp))
        if state is None:
            return False
        return not state.has_valid_position or state.highwater is None or state.position < state.highwater

    def assigned(self) -> list[int]:
        """The partition numbers of the sources that are ours."""
        return sorted({tp.partition for tp in self.assignment() if tp.topic in self.app.feed.topics})

    def behind(self, number: int) -> bool:
        """Whether anything of a partition number is still to be handed out."""
        return any(
            tp.partition == number and tp.topic in self.app.feed.topics and (self._heads.holds(tp) or self._lags(tp))
            for tp in self.assignment()
        )

    # --- handing out

    def _queues(self) -> list[Any]:
        return [s.queue for s in self.app.batch_channel._subscribers]  # Faust offers no other way

    async def _put(self, batch: Batch) -> bool:
        while self.live(batch.generation):
            queues = self._queues()
            if queues and all(q.qsize() < QUEUED for q in queues):
                for queue in queues:
                    queue.put_nowait(batch)
                return True
            self._room.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._room.wait(), 0.1)
        return False

    def tick(self) -> None:
        """An empty batch for each partition, so that idle ones are taken, holds end and old tables are written."""
        generation = self.app.consumer_generation_id
        if not self.flow_active or self.ready != generation or self._joining:
            return
        for queue in self._queues():
            if queue.qsize():
                return  # a batch comes anyway
            for number in self.assigned():
                queue.put_nowait(Batch(number, [], generation))

    async def batches(self, stream: Any) -> AsyncIterator[Batch]:
        """The batches of the present generation; while one is in hand, partitions do not move."""
        async for batch in stream:
            if not self.live(batch.generation):
                continue  # it is fetched again
            self._busy += 1
            self._idle.clear()
            self._room.set()
            try:
                yield batch
            finally:
                self._busy -= 1
                if not self._busy:
                    self._idle.set()

    # --- committing

    def durable(self, topic: str, number: int, offset: int) -> None:
        """Everything of a partition before an offset may be committed."""
        self._done[TP(topic, number)] = offset

    def committed(self, topic: str, number: int) -> int:
        """The offset last committed, 0 if none."""
        return self._committed_offset.get(TP(topic, number)) or 0

    def _filter_tps_with_pending_acks(self, topics: Iterable[Any] | None = None) -> list[TP]:
        return [tp for tp in self._done if topics is None or tp in topics or tp.topic in topics]

    def _new_offset(self, tp: TP) -> int | None:
        return self._done.get(tp)

    # --- may we write?

    async def lease(self) -> None:
        """Wait until a heartbeat was answered lately; raises `Given` when the partitions are about to move.

        A long silence means that this process stalled, and may be a former owner, or that the broker is away.
        """
        generation = self.app.consumer_generation_id
        limit = self.app.conf.broker_session_timeout * LEASE
        while time.monotonic() - self._thread.heartbeat_at > limit:
            if not self.live(generation):
                raise Given
            await asyncio.sleep(0.1)

    async def is_member(self, topic: str, number: int) -> bool:
        """Whether the group still counts us in."""
        offset = self.committed(topic, number)
        member: bool = await self._thread.is_member({TopicPartition(topic, number): offset})
        return member


class Transport(driver.Transport):
    """Faust's transport with our consumer."""

    Consumer = Consumer


class QuietRecovery(Recovery):
    """Recovery that begins and ends with no fetch in flight.

    A fetch begun before a rebalance would run its records against a table that is being replayed.
    """

    async def _seek_offsets(self, consumer: Any, tps: Any, offsets: Any, title: str) -> None:
        await consumer.quiesce()
        await super()._seek_offsets(consumer, tps, offsets, title)

    async def on_recovery_completed(self, generation_id: int = 0) -> None:
        """Resume the sources."""
        await self.app.consumer.quiesce()
        await super().on_recovery_completed(generation_id)
        self.app.consumer.ready = generation_id

    async def _resume_streams(self, generation_id: int = 0) -> None:
        await self.app.consumer.quiesce()
        await super()._resume_streams(generation_id)
        self.app.consumer.ready = generation_id


class QuietTables(TableManager):
    """Faust's table manager with our recovery."""

    @property
    def recovery(self) -> Recovery:
        """The service that replays changelogs."""
        if self._recovery is None:  # type: ignore[has-type]  # Faust's attribute
            self._recovery = QuietRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery


class App(faust.App):
    """A Faust app whose agent reads `batch_channel`: see the module."""

    def __init__(self, name: str, feed: Feed, **settings: Any) -> None:
        check_faust()
        self.feed = feed
        self.batch_channel: Any = None
        super().__init__(name, TableManager=QuietTables, **settings)

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    def subscribe(self, topics: Iterable[Any]) -> Any:
        """The channel of batches of these source topics."""
        self.batch_channel = self.channel()
        for topic in topics:
            self.topics.add(topic.clone(is_iterator=True))
        return self.batch_channel
