"""The changelog read back: per partition the newest record of each key that is not stale."""

from dataclasses import dataclass, field
from typing import Any, Final

import faust
import msgspec
from msgspec import Struct

from stream.worker.docket import VERSION, table_of
from stream.worker.epoch import Stale
from stream.worker.records import epoch_headers, epoch_of

EPOCH_KEY: Final = b"\0epoch"  # no table has this name
READABLE: Final = range(max(1, VERSION - 1), VERSION + 1)  # so that a site can upgrade worker by worker, and go back


class Stamp(Struct, frozen=True, array_like=True):
    """What every changelog value begins with."""

    version: int
    epoch: int
    covered_alerts: tuple[int, int]


encode_stamp: Final = msgspec.msgpack.Encoder().encode
_decode_stamp: Final = msgspec.msgpack.Decoder(Stamp).decode


@dataclass
class Kept:
    """What one partition of the changelog holds."""

    stale: Stale = field(default_factory=Stale)
    last: int = -1  # offset
    values: dict[bytes, bytes] = field(default_factory=dict)
    covered_alerts: tuple[int, int] = (0, 0)
    spoiled: set[bytes] = field(default_factory=set)  # keys whose newest record is stale
    unreadable: int | None = None  # a format that this version does not read

    def drop(self, offset: int, key: bytes, epoch: int | None) -> None:
        """Take a tombstone in; one of a former owner counts no more than its other records."""
        self.last = offset
        if epoch is not None and self.stale(epoch):
            self.spoiled.add(key)
        else:
            self.values.pop(key, None)

    def take(self, offset: int, key: bytes, value: bytes) -> None:
        """Take the next record in; never raises: Faust would swallow that and begin with half a table."""
        self.last = offset
        stamp = _decode_stamp(value)
        if stamp.version not in READABLE:
            self.unreadable = stamp.version
            return
        if self.stale(stamp.epoch):
            self.spoiled.add(key)
            return
        self.covered_alerts = max(self.covered_alerts, tuple(stamp.covered_alerts))  # type: ignore[assignment]  # a pair
        if key != EPOCH_KEY:
            self.values[key] = value
            self.spoiled.discard(key)

    def dockets(self) -> dict[bytes, tuple[bytes, dict[str, bytes]]]:
        """Table -> its head and its records by key; records without a head are left out."""
        rounds: dict[bytes, dict[str, bytes]] = {}
        for key, value in self.values.items():
            table, name = table_of(key)
            if name is not None:
                rounds.setdefault(table, {})[name] = value
        return {k: (v, rounds.get(k, {})) for k, v in self.values.items() if table_of(k)[1] is None}


class Changelog(faust.Table):
    """Faust's table, kept by partition and by the stale rule; Faust replays it, and sends what we write."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kept: dict[int, Kept] = {}

    def partition(self, number: int) -> Kept:
        """What a partition holds."""
        return self.kept.setdefault(number, Kept())

    def apply_changelog_batch(self, batch: Any) -> None:
        """Called by Faust's recovery with records in order."""
        for event in batch:
            message = event.message
            if message.offset <= self.partition(message.partition).last:
                self.kept.pop(message.partition)  # read again from its beginning
            kept = self.partition(message.partition)
            if message.value is None:
                kept.drop(message.offset, message.key, epoch_of(message.headers))
            else:
                kept.take(message.offset, message.key, message.value)

    def write(self, number: int, key: bytes, value: bytes) -> Any:
        """Send a record; returns the future of its acknowledgement."""
        if key != EPOCH_KEY:
            self.partition(number).values[key] = value
        return self.send_changelog(number, key, value)

    async def drop(self, number: int, key: bytes, epoch: int) -> None:
        """Send a tombstone with the epoch of who sends it."""
        self.partition(number).values.pop(key, None)
        await self.changelog_topic.send(key=key, value=None, partition=number, headers=epoch_headers(epoch, ""))
