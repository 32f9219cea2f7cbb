"""The docket of one table: its state, what was published of it, and what waits to be.

What a published verdict said is compared with what is in force by what was published, never by recomputing. A docket
is written down as a head, which covers every event before some offsets, and a record for each closed round. A record is
never overwritten: a round that changed is written under a new key, and the head that names it makes it count. So a
crash between the two leaves the old head with the old rounds, though events moved from one round to another. An owner's
first head names records of its own only: a stalled former owner may still drop those that it wrote.
"""

import logging
import zlib
from collections.abc import Container, Mapping
from functools import partial
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from stream.deal import verdicts
from stream.deal.events import AnyEvent
from stream.deal.verdicts import Verdict
from stream.replay import snapshot
from stream.replay.evidence import Basis, View, Witness, basis, evidence, record
from stream.replay.segment import Key
from stream.rulebook.paragraphs import load
from stream.worker.hold import Holds, Pending
from stream.worker.records import Revision, fingerprint

VERSION: Final = 1
JUDGED_EVERY: Final = 512  # events of a table, while its worker is behind
JUDGED_WITHIN: Final = 0.2  # seconds: a busy worker has always more to read, and an urgent alert must not wait
log: Final = logging.getLogger("misdeal.worker")
_SEPARATOR: Final = b"\0"  # no id holds one


class Published(Struct, array_like=True):
    """What was last published of a verdict."""

    epoch: int
    number: int
    print: str  # of the body
    body: bytes  # compressed, to withdraw it by
    segment: str
    withdrawn: bool = False
    proof: str = ""  # of the evidence record; empty: not known to have been sent


class Issue(NamedTuple):
    """What is to be sent of one verdict: its evidence record, and the alert unless that stands as it is."""

    verdict: Verdict
    body: bytes
    revision: Revision
    evidence: bytes
    alert: bool


class Head(Struct, frozen=True, array_like=True):
    """A docket written down, but for its closed rounds."""

    version: int
    epoch: int
    covered_alerts: tuple[int, int]
    offsets: dict[str, int]  # topic -> the last offset that this head covers
    table: bytes
    rounds: list[str]  # the keys of the closed rounds' records
    published: dict[str, Published]
    due: list[str]  # segments of which something waits to be published
    dealers: list[Key] = []  # see `Witness`
    former: str | None = None  # same


class RoundRecord(Struct, frozen=True, array_like=True):
    """A closed round written down."""

    version: int
    epoch: int
    covered_alerts: tuple[int, int]
    record: bytes


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_head: Final = msgspec.msgpack.Decoder(Head).decode
_decode_round: Final = msgspec.msgpack.Decoder(RoundRecord).decode


def round_key(table: bytes, record: str) -> bytes:
    """The changelog key of a closed round's record."""
    return table + _SEPARATOR + record.encode()


def table_of(key: bytes) -> tuple[bytes, str | None]:
    """Table and record of a changelog key; no record: it is a head."""
    table, separator, record = key.partition(_SEPARATOR)
    return table, record.decode() if separator else None


class Docket:
    """See the module."""

    def __init__(self, table: Witness) -> None:
        self.table = table
        self.key = table.name.encode()
        self.offsets: dict[str, int] = {}  # topic -> the last offset taken in
        self.published: dict[str, Published] = {}
        self.pending: dict[str, Pending] = {}
        self.uncovered: dict[str, int] = {}  # topic -> the first offset that no written head covers
        self.uncovered_since: float | None = None
        self.uncovered_alert: int | None = None  # the first publication that no written head covers
        self.has_closed = False  # a round has closed that is not written down as it is now
        self.rounds: dict[str, str] = {}  # name of a closed round -> the key of its record as it is now
        self.written: set[str] = set()  # keys of all records on the changelog
        self._records = 0  # written by this owner
        self._inherited: set[str] = set()  # rounds whose records a former owner wrote, and may yet drop
        self._orphans: set[str] = set()  # read back from the alerts, and not yet seen to be in force
        self.settled = True  # whether all that was heard is judged and compared
        self._unread = 0  # events heard since then
        self._unread_since = 0.0  # when the first of them was
        self._told: dict[str, tuple[bytes, Basis]] = {}  # of the open round, what was compared and agreed
        self._await: dict[str, int] = {}  # topic -> what the predecessor had read when it published

    # --- taking in

    def hear(self, topic: str, offset: int, event: AnyEvent, mark: int, now: float) -> None:
        """Take an event in that no head covers."""
        self.offsets[topic] = offset
        self.uncovered.setdefault(topic, offset)
        if self.uncovered_since is None:
            self.uncovered_since = now
        too_late = self.table.counts.too_late
        self.table.hear(event, mark)
        if not self._unread:
            self._unread_since = now
        self._unread += 1
        if self.table.counts.too_late > too_late:
            log.warning(
                "table %s: event %s:%d:%d came after its round had left the kept history; it is not judged",
                self.table.name, event.device, event.boot, event.seq,
            )  # fmt: skip

    def recall(self, name: str, published: Published, evidence: list[tuple[str, int, int]]) -> None:
        """Take in what a predecessor published after the head was written."""
        before = self.published.get(name)
        if before is not None and (before.epoch, before.number) >= (published.epoch, published.number):
            return
        self.published[name] = published
        self._orphans.add(name)
        self.table.recall({published.segment})
        self.settled = False
        for topic, _, offset in evidence:
            self._await[topic] = max(self._await.get(topic, -1), offset)

    @property
    def event_time(self) -> int:
        """How far the table's own time has come, microseconds."""
        ends = self.table.segments[-1].ends
        return ends[1][0] if ends else 0

    # --- what differs

    def review(self, now: float, *, portion: bool = False, behind: bool = False) -> None:
        """Settle the table and put on hold what differs from what was published; what agrees comes off.

        With `portion` it does no more at once than holds up nobody; until `settled` it is to be called again. What is
        new or has changed is told at once, what has vanished when all is settled: it may only have moved to another
        round. While the worker is `behind` a table is judged once in so many events, or in a moment.
        """
        table = self.table
        if behind and self._unread < JUDGED_EVERY and now - self._unread_since < JUDGED_WITHIN:
            table.arrange()
            self.settled = False
        else:
            self.settled = table.settle(portion=portion)
        if not table.arranged:
            return
        touched, table.judged = table.judged, set()
        if self.settled:
            touched, table.touched, self._unread = table.touched, set(), 0
        left, table.left = table.left, []
        gone, table.gone = table.gone, {}
        self.has_closed = any(not s.saved for s in table.segments[:-1] if s.name)
        if not (self.published or self.pending or left or any(s.verdicts for s in table.segments)):
            return
        here = {s.name for s in table.segments}
        wanted = {v.id: (s.name, v) for s in table.segments if s.name in touched for v in (s.verdicts or {}).values()}
        for v in left:
            wanted[v.id] = (self._segment_of(v.id), v)
        self._told = {n: t for n, t in self._told.items() if wanted.get(n, ("",))[0] == table.segments[-1].name}
        for name, (segment, verdict) in wanted.items():
            self._compare(name, segment, verdict, now, gone)
        for name in [n for n, p in self.pending.items() if n not in wanted and p.segment in touched]:
            del self.pending[name]
        for v in left:
            if v.id in self.pending:
                self.pending[v.id].forced, self.pending[v.id].view = True, gone.get(v.id)
        if self.settled:
            self._miss(wanted, touched, here, now)
            self._orphans = {n for n in self._orphans if self.published[n].segment not in here}
        if left:
            self._prune(here)

    def _miss(self, wanted: Container[str], touched: set[str], here: set[str], now: float) -> None:
        """Put on hold the withdrawal of what was published and is in force no more."""
        for name, p in self.published.items():
            vanished = name not in wanted and (
                p.segment in touched or (name in self._orphans and p.segment not in here)
            )
            if vanished and not p.withdrawn and name not in self.pending:
                self.pending[name] = Pending(p.segment, None, b"", urgent=False, since=now, since_event=self.event_time)

    def _segment_of(self, name: str) -> str:
        p = self.published.get(name)
        return p.segment if p else ""

    def _compare(self, name: str, segment: str, verdict: Verdict, now: float, gone: dict[str, View]) -> None:
        body = verdicts.body(verdict)
        p = self.published.get(name)
        if p is not None and _says(p, body):
            p.segment = segment or p.segment
            on = basis(gone.get(name) or self.table.view(segment) or View(), verdict)
            if self._told.get(name) == (body, on) or p.proof == fingerprint(record(evidence(on, verdict))):
                if on.extent == "so_far":
                    self._told[name] = (body, on)
                self.pending.pop(name, None)
                return
        waiting = self.pending.get(name)
        if waiting is None:
            self.pending[name] = Pending(segment, verdict, body, _urgent(verdict), now, self.event_time)
        else:
            waiting.segment, waiting.verdict, waiting.body = segment or waiting.segment, verdict, body

    def _prune(self, here: set[str]) -> None:
        """Forget what was published of rounds that have left the kept history."""
        gone = [
            n for n, p in self.published.items()
            if p.segment not in here and n not in self.pending and n not in self._orphans
        ]  # fmt: skip
        for name in gone:
            del self.published[name]

    # --- publishing

    def caught_up(self) -> bool:
        """Whether everything has been read that a predecessor had read when it published."""
        return all(self.offsets.get(t, -1) >= o for t, o in self._await.items())

    def due(self, holds: Holds, now: float, *, behind: bool) -> list[tuple[str, Pending]]:
        """What may be published now: of a round that is yet to be judged again only what leaves."""
        if not self.pending or (behind and not self.caught_up()):
            return [(n, p) for n, p in self.pending.items() if p.forced]
        time, unheard = self.event_time, self.table.unheard
        stale = set() if self.settled else self.table.stale()
        return [
            (n, p) for n, p in self.pending.items()
            if (p.forced or p.segment not in stale)
            and p.due(holds, now, time, behind=behind, unheard=partial(unheard, p.segment, n))
        ]  # fmt: skip

    def issue(self, name: str, pending: Pending, epoch: int) -> Issue:
        """The next revision of a verdict; where only what it hides has changed, the one that stands, with no alert."""
        before = self.published.get(name)
        verdict, body = pending.verdict, pending.body
        if verdict is None:
            assert before is not None
            said = msgspec.json.decode(zlib.decompress(before.body), type=Verdict)
            verdict = verdicts.withdrawn(said)
            body = verdicts.body(verdict)
        on = basis(pending.view or self.table.view(pending.segment) or View(), verdict)
        told = record(evidence(on, verdict))
        if before is not None and _says(before, body):
            before.segment, before.proof = pending.segment or before.segment, fingerprint(told)
            self._orphans.discard(name)
            del self.pending[name]
            return Issue(verdict, body, Revision(before.epoch, before.number), told, alert=False)
        revision = Revision(epoch, before.number + 1 if before else 1)
        withdrawn = verdict.status == "withdrawn"
        self.published[name] = Published(
            *revision,
            fingerprint(body),
            b"" if withdrawn else zlib.compress(body, 6),
            pending.segment,
            withdrawn,
            fingerprint(told),
        )
        self._orphans.discard(name)
        del self.pending[name]
        return Issue(verdict, body, revision, told, alert=True)

    def positions(self, verdict: Verdict, segment: str) -> list[int]:
        """The marks of a verdict's evidence, as far as its round holds it."""
        wanted = {(e.device, e.boot, e.seq) for e in verdict.evidence}
        events = next((s.events for s in self.table.segments if s.name == segment), [])
        return [h.mark for h in events if h[1:4] in wanted]

    # --- writing down

    def unsaved(self, epoch: int) -> list[tuple[str, bytes]]:
        """The closed rounds whose records are not written as they are now, each with a new key."""
        out = []
        for name, segment in self.table.closed():
            if not segment.saved or name in self._inherited:
                self._records += 1
                self.rounds[name] = key = f"{name}@{epoch}.{self._records}"
                out.append((key, segment.record()))
        return out

    def holds(self, segment: str) -> bool:
        """Whether a round is in its kept history."""
        return any(s.name == segment for s in self.table.segments)

    def unsettled(self) -> bool:
        """Whether something of it is still to be judged, or read back from the alerts and still to be compared."""
        return bool(self._orphans) or not self.settled

    def mark_saved(self, keys: list[str]) -> None:
        """Their records are acknowledged."""
        acknowledged = set(keys)
        for name, segment in self.table.closed():
            if self.rounds.get(name) in acknowledged:
                segment.saved = True
        self.written |= acknowledged

    def head(self, epoch: int, covered_alerts: tuple[int, int]) -> bytes:
        """The head as bytes; valid once the closed rounds it names are acknowledged."""
        self.rounds = {name: self.rounds[name] for name, _ in self.table.closed()}
        self._inherited.clear()  # `unsaved` has given them keys of this owner
        due = sorted({p.segment for p in self.pending.values()} | (set() if self.settled else self.table.outstanding()))
        return _encode(
            Head(
                VERSION,
                epoch,
                covered_alerts,
                dict(self.offsets),
                snapshot.head(self.table),
                list(self.rounds.values()),
                self.published,
                due,
                list(self.table.dealers),
                self.table.former,
            )
        )

    def covered(self) -> list[str]:
        """The head is acknowledged: nothing is uncovered. Returns the keys of records that no head names any more."""
        self.uncovered, self.uncovered_since, self.uncovered_alert = {}, None, None
        needed = set(self.rounds.values())
        dropped = sorted(self.written - needed)
        self.written &= needed
        self.table.cool()
        return dropped

    @classmethod
    def read(cls, head: bytes, rounds: Mapping[str, bytes]) -> "Docket":
        """A docket from its head and the records beside it, by key. Raises KeyError where one is missing."""
        h = _decode_head(head)
        keys = {key.rpartition("@")[0]: key for key in h.rounds}
        records = {name: _decode_round(rounds[key]).record for name, key in keys.items()}
        docket = cls(Witness.of(snapshot.read(h.table, records), h.dealers, h.former))
        docket.offsets = dict(h.offsets)
        docket.published = h.published
        docket.rounds, docket.written, docket._inherited = keys, set(rounds), set(keys)  # its own class
        docket.table.recall(set(h.due))
        docket.settled = not h.due
        return docket


def round_record(epoch: int, covered_alerts: tuple[int, int], record: bytes) -> bytes:
    """A closed round as a changelog value."""
    return _encode(RoundRecord(VERSION, epoch, covered_alerts, record))


def _says(p: Published, body: bytes) -> bool:
    """Whether the alert that stands has this body."""
    return not p.withdrawn and p.print == fingerprint(body)


def _urgent(verdict: Verdict) -> bool:
    if verdict.rules is None or verdict.paragraph is None:
        return False
    return load(verdict.rules).atoms[verdict.atom].urgent
