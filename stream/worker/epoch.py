"""Epochs on a partition: the stale rule, what is in force, and the claim of a new owner.

The rule is the same wherever an owner writes: a record whose epoch is lower than one that stands before it in its
partition is stale. A new owner announces an epoch higher than every one before its announcement; no clock and no
group generation is in that proof.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from stream.worker.records import epoch_of, header, revision_of


class NotOwner(Exception):
    """Another owner announced a newer epoch, and the group does not count us in any more."""


class Lost(Exception):
    """State and topics contradict each other; says what to do."""


class Stale:
    """Tells of the epochs of one partition's records, in their order, which are stale."""

    def __init__(self, top: int = 0) -> None:
        self.top = top

    def __call__(self, epoch: int) -> bool:
        """Whether a record with this epoch, coming next, is stale."""
        if epoch < self.top:
            return True
        self.top = epoch
        return False


class InForce:
    """What a reader of one alerts partition holds: of each verdict the last record that is not stale."""

    def __init__(self, top: int = 0) -> None:
        self.stale = Stale(top)
        self.records: dict[str, ConsumerRecord] = {}
        self.skipped = 0

    def see(self, record: ConsumerRecord) -> None:
        """Take the next record in."""
        epoch = epoch_of(record.headers)
        if epoch is not None:
            self.stale(epoch)
            return
        revision = revision_of(record.headers)
        name = (header(record.headers, "ce_id") or b"").split(b".")[0].decode()
        if revision is None or not name:
            return
        if self.stale(revision.epoch):
            self.skipped += 1
        else:
            self.records[name] = record


class Reader(Protocol):
    """Reads a partition back, outside of any group."""

    async def end(self, number: int) -> int:
        """The offset after its last record."""

    async def read(self, number: int, begin: int, end: int, seen: InForce) -> None:
        """Show the records from one offset up to another."""


class AlertsReader:
    """The alerts topic, read back by a client of its own."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.bootstrap = bootstrap
        self.topic = topic
        self._client: Any = None

    async def _open(self) -> Any:
        if self._client is None:
            self._client = AIOKafkaConsumer(
                bootstrap_servers=self.bootstrap,
                enable_auto_commit=False,
                auto_offset_reset="none",
                fetch_max_wait_ms=20,
            )
            await self._client.start()
        return self._client

    async def close(self) -> None:
        """Let the client go."""
        if self._client is not None:
            await self._client.stop()
            self._client = None

    async def end(self, number: int) -> int:
        """The offset after the partition's last record."""
        client = await self._open()
        tp = TopicPartition(self.topic, number)
        offset: int = (await client.end_offsets([tp]))[tp]
        return offset

    async def read(self, number: int, begin: int, end: int, seen: InForce) -> None:
        """Show the records from `begin` up to `end`; what retention has taken is left out."""
        client = await self._open()
        tp = TopicPartition(self.topic, number)
        client.assign([tp])
        first = (await client.beginning_offsets([tp]))[tp]
        client.seek(tp, max(begin, first))
        while await client.position(tp) < end:
            for records in (await client.getmany(tp, timeout_ms=200)).values():
                for record in records:
                    if record.offset < end:
                        seen.see(record)


class Claim:
    """What a claim gives: the epoch, what was in force before it, and the offset after the announcement."""

    def __init__(self, epoch: int, seen: InForce, after: int) -> None:
        self.epoch = epoch
        self.seen = seen
        self.after = after


async def claim(
    reader: Reader,
    number: int,
    *,
    covered: tuple[int, int],
    floor: int,
    announce: Callable[[int], Awaitable[int]],
    is_member: Callable[[], Awaitable[bool]],
) -> Claim:
    """Announce an epoch on a partition that is higher than every one before it.

    `covered` is the offset that the state covers and the epoch in force there (never the highest one known: a
    predecessor may have claimed and died, and what stands before its claim is not stale). `floor` is the highest
    epoch known. `announce` writes the announcement and returns its offset. Raises `NotOwner`, and `Lost` where the
    topic ends before what the state covers.
    """
    begin, epoch_there = covered
    end = await reader.end(number)
    if begin > end:
        raise Lost(
            f"alerts partition {number} ends at {end} but the state covers {begin}: it was emptied or made anew. "
            "Run `misdeal topics apply` and the worker with a new group (MISDEAL_GROUP), or restore the topic."
        )
    seen = InForce(epoch_there)
    await reader.read(number, begin, end, seen)
    while True:
        epoch = max(seen.stale.top, floor) + 1
        offset = await announce(epoch)
        await reader.read(number, end, offset, seen)
        end = offset + 1
        if seen.stale.top < epoch:
            seen.stale(epoch)
            return Claim(epoch, seen, end)
        # Another one stands between, as high or higher. Who is still a member after having seen it is the newer owner.
        if not await is_member():
            raise NotOwner
