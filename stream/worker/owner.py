"""The owner of one partition, from one assignment to the next: takes it, judges, publishes, writes down.

Everything that writes runs in the agent's one task. The order of durability for a batch: misplaced records
acknowledged, then what verdicts hide, then verdicts, then rounds, then the heads that cover them, then offsets
committable.
"""

import asyncio
import os
import zlib
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic
from typing import Any, Final, Protocol

import msgspec
import orjson
from aiokafka import ConsumerRecord
from aiokafka.partitioner import murmur2

from stream.deal.events import AnyEvent
from stream.deal.wire import Refusal
from stream.replay.evidence import Witness
from stream.worker.changelog import EPOCH_KEY, READABLE, Kept, Stamp, encode_stamp
from stream.worker.docket import VERSION, Docket, Head, Issue, Published, RoundRecord, round_key, round_record
from stream.worker.epoch import Claim, Lost, claim
from stream.worker.hold import Holds, Pending
from stream.worker.records import epoch_headers, evidence_headers, fingerprint, header, revision_of, verdict_headers

ANEW: Final = "To read the sources again: `misdeal topics apply` and the worker with a new group (MISDEAL_GROUP)."
OPEN_SECONDS: Final = 10.0  # so long at most is an event uncovered
OPEN_RECORDS: Final = 5000  # so many records of the partition at most lie behind the oldest uncovered one
PORTIONS: Final = 3  # of one table's judging at once
AT_ONCE: Final = 100  # verdicts of which the evidence records, the largest that we write, are in memory together


@dataclass
class Counts:
    """What the worker did, for metrics."""

    judged: int = 0
    skipped: int = 0
    dead_letters: int = 0
    forwarded: int = 0
    too_late: int = 0
    published: dict[tuple[str, str], int] = field(default_factory=dict)  # kind, status
    withdrawn: int = 0
    evidence: int = 0
    snapshots: int = 0
    snapshot_bytes: int = 0
    takes: int = 0


class Desk(Protocol):
    """What an owner needs of the app around it: topics to write to, and the group's word."""

    partitions: int
    sources: tuple[str, ...]
    source_uri: str
    holds: Holds
    counts: Counts
    reader: Any

    async def send(
        self, topic: str, number: int | None, key: bytes | None, value: bytes | None, headers: Any
    ) -> Awaitable[Any]:
        """Send a record; awaiting gives the future of its acknowledgement."""

    def kept(self, number: int) -> Kept:
        """The changelog of a partition."""

    def write(self, number: int, key: bytes, value: bytes) -> Awaitable[Any]:
        """Send a changelog record; gives the future of its acknowledgement."""

    async def drop(self, number: int, key: bytes, epoch: int) -> None:
        """Send a tombstone to the changelog."""

    async def lease(self) -> None:
        """Wait until we may write."""

    async def is_member(self, number: int) -> bool:
        """Whether the group counts us in."""

    def behind(self, number: int) -> bool:
        """Whether more records of a partition are to come at once."""

    def durable(self, topic: str, number: int, offset: int) -> None:
        """Everything before an offset may be committed."""

    def committed(self, topic: str, number: int) -> int:
        """The offset last committed."""

    async def earliest(self, number: int) -> Mapping[str, int]:
        """The first offset that each source still has of a partition."""

    def crash(self, where: str) -> None:
        """A named place for fault injection."""


@lru_cache(maxsize=100_000)
def home(key: bytes, partitions: int) -> int:
    """The partition where a key belongs: murmur2, as Kafka's own clients choose it."""
    number: int = (murmur2(key) & 0x7FFFFFFF) % partitions
    return number


Read = tuple[ConsumerRecord, AnyEvent | Refusal]


class Owner:
    """See the module."""

    def __init__(self, desk: Desk, number: int) -> None:
        self.desk = desk
        self.number = number
        self.dockets: dict[str, Docket] = {}
        self.heads: dict[str, int] = {}  # topic -> the last offset handled
        self.epoch = 0
        self.covered_alerts = (0, 0)
        self.next_alert = 0
        self._claimed = 0
        self._restless: set[str] = set()  # tables with something on hold or uncovered
        self._heard: set[str] = set()  # tables with something new since they were reviewed

    # --- taking

    async def take(self) -> None:
        """Claim an epoch, then derive everything from the changelog and from what was published after it."""
        desk, number = self.desk, self.number
        kept = desk.kept(number)
        if kept.unreadable is not None:
            raise Lost(
                f"a changelog record has format {kept.unreadable}; {READABLE.start} to {READABLE.stop - 1} are read. "
                "Run the version that wrote it, or one after it."
            )

        async def announce(epoch: int) -> int:
            name = f"{os.getpid()}.{number}"
            value = orjson.dumps({"epoch": epoch, "owner": name})
            sent = await desk.send("alerts", number, None, value, epoch_headers(epoch, name))
            offset: int = (await sent).offset
            desk.crash("claim")
            return offset

        claimed = await claim(
            desk.reader,
            number,
            covered=kept.covered_alerts,
            floor=kept.stale.top,
            announce=announce,
            is_member=lambda: desk.is_member(number),
        )
        await desk.lease()
        self.epoch, self.next_alert, self._claimed = claimed.epoch, claimed.after, claimed.after
        self.covered_alerts = kept.covered_alerts
        await desk.write(number, EPOCH_KEY, encode_stamp(Stamp(VERSION, self.epoch, self.covered_alerts)))
        kept.stale.top = self.epoch  # from here on older records are stale
        self._read_dockets(kept)
        self._check_offsets(kept)
        await self._repair(kept)
        self._recall(claimed, await desk.earliest(number))
        desk.counts.takes += 1

    def _read_dockets(self, kept: Kept) -> None:
        for key, (head, rounds) in kept.dockets().items():
            try:
                docket = Docket.read(head, rounds)
            except KeyError as error:
                raise Lost(
                    f"the changelog holds table {key.decode()} without its round {error}: it was shortened. {ANEW}"
                ) from error
            self.dockets[docket.table.name] = docket
            self._notice(docket.table.name)

    def _check_offsets(self, kept: Kept) -> None:
        """Refuse to go on where commits say that events were judged which the state does not hold."""
        for topic in self.desk.sources:
            committed = self.desk.committed(topic, self.number)
            if committed > 0 and kept.last < 0:
                raise Lost(
                    f"{topic}, partition {self.number}, is committed up to {committed} but the changelog is empty: "
                    f"it was lost or made anew. {ANEW}"
                )

    async def _repair(self, kept: Kept) -> None:
        """Write good records again whose newest record is a stale one: compaction would keep only that."""
        lost = kept.spoiled - kept.values.keys() - {EPOCH_KEY}
        if any(b"\0" not in key for key in lost):
            raise Lost(f"only a stale record of a table is left on the changelog. {ANEW}")
        for key in sorted(kept.spoiled & kept.values.keys()):
            await self.desk.write(self.number, key, self._restamped(kept.values[key], key))
        kept.spoiled.clear()

    def _restamped(self, value: bytes, key: bytes) -> bytes:
        kind: type[Head | RoundRecord] = RoundRecord if b"\0" in key else Head
        record = msgspec.msgpack.decode(value, type=kind)
        return encode_stamp(msgspec.structs.replace(record, epoch=self.epoch))

    def _recall(self, claimed: Claim, earliest: Mapping[str, int]) -> None:
        """What was published after the heads were written.

        A verdict whose telemetry the retention of the sources has taken can't be judged again: it stands. A new group
        meets such, since alerts are kept longer.
        """
        for name, record in claimed.seen.records.items():
            revision = revision_of(record.headers)
            key = record.key
            if revision is None or key is None or record.value is None:
                continue
            evidence = [tuple(e) for e in orjson.loads(header(record.headers, "misdeal-evidence") or b"[]")]
            segment = (header(record.headers, "misdeal-segment") or b"").decode()
            docket = self._docket(key.decode())
            if any(offset < earliest.get(topic, 0) for topic, _, offset in evidence) and not docket.holds(segment):
                continue
            said = orjson.loads(record.value)
            withdrawn = said.get("status") == "withdrawn"
            published = Published(
                *revision,
                fingerprint(record.value),
                b"" if withdrawn else zlib.compress(record.value, 6),
                segment,
                withdrawn,
            )
            docket.recall(name, published, evidence)
            docket.uncovered_alert = min(
                record.offset, record.offset if docket.uncovered_alert is None else docket.uncovered_alert
            )
            self._notice(docket.table.name)

    def _notice(self, table: str) -> None:
        self._restless.add(table)
        self._heard.add(table)

    def _docket(self, table: str) -> Docket:
        docket = self.dockets.get(table)
        if docket is None:
            docket = self.dockets[table] = Docket(Witness(table))
        return docket

    # --- working

    async def work(self, batch: Sequence[Read]) -> None:
        """Judge a slice of records (none: a tick), publish what is due, write down what is, let offsets go."""
        now = monotonic()
        sent = [await self._odd(record, read) for record, read in batch if self._hear(record, read, now)]
        for future in sent:
            await future
        await self._review(now)
        await self._publish(now)
        await self._write_down(now)
        self._let_go()

    async def _review(self, now: float) -> None:
        """Bring what was heard up to date, each table a portion at once; more than some waits for the next tick."""
        behind = self.desk.behind(self.number)
        unsettled = sorted(self._heard)
        for _ in range(PORTIONS):
            for table in unsettled:
                self.dockets[table].review(now, portion=not behind, behind=behind)
            unsettled = [t for t in unsettled if not self.dockets[t].settled]
            if behind or not unsettled:
                break
            await asyncio.sleep(0)
        self._heard = {t for t in self._heard if self.dockets[t].unsettled()}

    def _hear(self, record: ConsumerRecord, read: AnyEvent | Refusal, now: float) -> bool:
        """Take a record in; True where it is to be sent elsewhere: unreadable, or misplaced."""
        self.heads[record.topic] = record.offset
        if isinstance(read, Refusal):
            return True
        key = read.table.encode()
        if record.key != key or home(key, self.desk.partitions) != self.number:
            return True
        docket = self._docket(read.table)
        if record.offset <= docket.offsets.get(record.topic, -1):
            self.desk.counts.skipped += 1
            return False
        mark = record.offset * len(self.desk.sources) + self.desk.sources.index(record.topic)
        docket.hear(record.topic, record.offset, read, mark, now)
        self._notice(read.table)
        self.desk.counts.judged += 1
        return False

    async def _odd(self, record: ConsumerRecord, read: AnyEvent | Refusal) -> Awaitable[Any]:
        """Send a record where it belongs: dead letters, or its table's own partition; never judged where it lay."""
        desk = self.desk
        await desk.lease()
        if isinstance(read, Refusal):
            desk.counts.dead_letters += 1
            headers = [
                *(record.headers or ()),
                ("misdeal-topic", record.topic.encode()),
                ("misdeal-partition", b"%d" % record.partition),
                ("misdeal-offset", b"%d" % record.offset),
                ("misdeal-reason", f"{read.code}: {read.detail}".encode()),
            ]
            return await desk.send("dead-letters", None, record.key, record.value, headers)
        desk.counts.forwarded += 1
        key = read.table.encode()
        headers = list(record.headers or ())
        return await desk.send(record.topic, home(key, desk.partitions), key, record.value, headers)

    # --- publishing

    async def _publish(self, now: float) -> None:
        behind = self.desk.behind(self.number)
        due: list[tuple[Docket, str, Pending]] = []
        for table in sorted(self._restless):
            docket = self.dockets[table]
            due += [(docket, n, p) for n, p in docket.due(self.desk.holds, now, behind=behind)]
        if not due:
            return
        for i in range(0, len(due), AT_ONCE):
            await self._send(due[i : i + AT_ONCE])

    async def _send(self, due: Sequence[tuple[Docket, str, Pending]]) -> None:
        """What verdicts hide is acknowledged before any of them is sent: no alert is ever without it."""
        desk = self.desk
        await desk.lease()
        issued = [(docket, pending.segment, docket.issue(name, pending, self.epoch)) for docket, name, pending in due]
        told = [await self._send_evidence(docket, issue) for docket, _, issue in issued]
        for future in told:
            await future
        desk.crash("evidence")
        sent = [(d, await self._send_alert(d, segment, issue)) for d, segment, issue in issued if issue.alert]
        for docket, future in sent:
            offset = (await future).offset
            self.next_alert = max(self.next_alert, offset + 1)
            if docket.uncovered_alert is None:
                docket.uncovered_alert = offset
        desk.crash("verdict")

    async def _send_evidence(self, docket: Docket, issue: Issue) -> Awaitable[Any]:
        desk = self.desk
        desk.counts.evidence += 1
        headers = evidence_headers(issue.verdict, issue.evidence, issue.revision, source=desk.source_uri)
        return await desk.send("evidence", self.number, docket.key, issue.evidence, headers)

    async def _send_alert(self, docket: Docket, segment: str, issue: Issue) -> Awaitable[Any]:
        desk = self.desk
        verdict, body = issue.verdict, issue.body
        sources = desk.sources
        evidence = [
            (sources[mark % len(sources)], self.number, mark // len(sources))
            for mark in docket.positions(verdict, segment)
        ]
        headers = verdict_headers(
            verdict, body, issue.revision, source=desk.source_uri, segment=segment, evidence=evidence
        )
        counts = desk.counts
        counts.published[verdict.kind, verdict.status] = counts.published.get((verdict.kind, verdict.status), 0) + 1
        counts.withdrawn += verdict.status == "withdrawn"
        return await desk.send("alerts", self.number, docket.key, body, headers)

    # --- writing down

    def _overdue(self, docket: Docket, now: float) -> bool:
        if not docket.table.arranged:
            return False
        if docket.has_closed:
            return True
        if docket.uncovered_alert is not None and docket.uncovered_since is None:
            docket.uncovered_since = now
        since = docket.uncovered_since
        if since is not None and now - since > OPEN_SECONDS:
            return True
        return any(self.heads.get(t, o) - o > OPEN_RECORDS for t, o in docket.uncovered.items())

    async def _write_down(self, now: float) -> None:
        desk, number = self.desk, self.number
        lowest = min(
            (a for t in self._restless if (a := self.dockets[t].uncovered_alert) is not None),
            default=self.next_alert,
        )
        if lowest >= self._claimed:
            self.covered_alerts = (lowest, self.epoch)
        due = [d for t in sorted(self._restless) if self._overdue(d := self.dockets[t], now)]
        if due:
            await desk.lease()
            rounds = [(d, d.unsaved(self.epoch)) for d in due]
            sent = [
                self._write(round_key(d.key, key), round_record(self.epoch, self.covered_alerts, record))
                for d, unsaved in rounds
                for key, record in unsaved
            ]
            for future in sent:
                await future
            if sent:
                desk.crash("rounds")
            for d, unsaved in rounds:
                d.mark_saved([key for key, _ in unsaved])
            heads = [self._write(d.key, d.head(self.epoch, self.covered_alerts)) for d in due]
            for future in heads:
                await future
            desk.crash("head")
            for d in due:
                for key in d.covered():
                    await desk.drop(number, round_key(d.key, key), self.epoch)
        self._restless = {
            t for t in self._restless
            if (d := self.dockets[t]).pending or d.uncovered or d.uncovered_alert is not None or d.unsettled()
        }  # fmt: skip

    def _write(self, key: bytes, value: bytes) -> Awaitable[Any]:
        self.desk.counts.snapshots += 1
        self.desk.counts.snapshot_bytes += len(key) + len(value)
        return self.desk.write(self.number, key, value)

    def _let_go(self) -> None:
        """Offsets below the oldest event that no head covers may be committed."""
        for topic, head in self.heads.items():
            oldest = min(
                (d.uncovered[topic] for t in self._restless if topic in (d := self.dockets[t]).uncovered),
                default=head + 1,
            )
            self.desk.durable(topic, self.number, oldest)
