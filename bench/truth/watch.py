"""One table watched as it deals: the verdicts in force at its end, and those that a live consumer saw come and go.

What is published when is decided by the worker's own docket with its usual holds, by the time of arrival. An accusation
is taken back when it is withdrawn, or becomes undetermined.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs

from stream.deal import events as ev
from stream.deal.verdicts import Verdict
from stream.deal.wire import encode, micros
from stream.replay.carry import possible_senses
from stream.replay.evidence import Witness
from stream.replay.segment import Key, Segment
from stream.replay.table import Table
from stream.rulebook.findings import Absence
from stream.rulebook.paragraphs import load
from stream.simulate.faults import Slip
from stream.simulate.tables import Order, reports
from stream.simulate.truth import Truth, by_round
from stream.worker.docket import Docket
from stream.worker.hold import Holds

ACCUSING: Final = ("irregularity", "breach")
LOSING: Final = ("misread", "no_read", "double_feed", "drop", "reboot", "sense_dead")  # a report is lost, or its face
_HOLDS: Final = Holds()
_US: Final = 1_000_000


@dataclass
class Watched:
    """What was dealt and reported at one table, and what was said of it."""

    log: list[ev.AnyEvent] = field(default_factory=list)
    truths: dict[str, Truth] = field(default_factory=dict)
    slips: list[Slip] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    published: Counter[str] = field(default_factory=Counter)  # by kind
    withdrawn: list[Verdict] = field(default_factory=list)  # as they were when they were published
    undecided: set[str] = field(default_factory=set)  # rounds of whose verdict a deciding report was lost


class _Consumer:
    """What a live consumer sees of a table: a worker's docket, and what it would have published by now."""

    def __init__(self, table: str) -> None:
        self.docket = Docket(Witness(table))
        self.heard = 0
        self.shown: dict[str, Verdict] = {}  # id -> as published last, unless withdrawn
        self.published: Counter[str] = Counter()
        self.withdrawn: list[Verdict] = []

    def hear(self, event: ev.AnyEvent, now: int) -> None:
        """A report arrives; what was due before it is published first."""
        self.pass_until(now)
        self.docket.hear("telemetry", self.heard, event, self.heard, now / _US)
        self.heard += 1
        self.docket.review(now / _US)

    def pass_until(self, now: int) -> None:
        """Publish what may be published."""
        for name, pending in self.docket.due(_HOLDS, now / _US, behind=False):
            issue = self.docket.issue(name, pending, 1)
            if issue.alert:
                self._show(name, issue.verdict)

    def _show(self, name: str, verdict: Verdict) -> None:
        before = self.shown.pop(name, None)
        gone = verdict.status == "withdrawn"
        if before is not None and before.kind in ACCUSING and (gone or verdict.kind not in ACCUSING):
            self.withdrawn.append(before)
        if not gone:
            self.shown[name] = verdict
            self.published[verdict.kind] += before is None or before.kind != verdict.kind


def watch(order: Order, *, live: bool = True) -> Watched:
    """Deal a table and judge it; `live`: after every event, as a worker does and a consumer sees it."""
    out, now = Watched(), 0
    table: Table | None = None
    consumer: _Consumer | None = None
    for (now, event), truth in reports(order, slips=out.slips):
        out.log.append(event)
        if truth is not None:
            out.truths[truth.round] = truth
        if live:
            consumer = consumer or _Consumer(event.table)
            consumer.hear(event, now)
        else:
            table = table or Table(event.table)
            table.hear(event)
    if consumer is not None:
        consumer.pass_until(now + 60 * _US)
        out.verdicts, out.published, out.withdrawn = [*consumer.shown.values()], consumer.published, consumer.withdrawn
    elif table is not None:
        table.settle()
        out.verdicts = [*table.left, *table.in_force()]
    if out.truths and order.beside in LOSING:
        out.undecided = set(_undecided(out, replace(order, beside="")))
    return out


def _undecided(w: Watched, order: Order) -> Iterator[str]:
    """Rounds of whose verdict the error took what decides.

    That is the round's opening; all reports of a kind that carries a sense the atom needs; one that is evidence of its
    verdict, or that falls where the verdict says that nothing was seen. The same deal with all its reports tells.
    """
    clean = [event for (_, event), _ in reports(order)]
    came = {_bare(e) for e in w.log}
    lost = [e for e in clean if _bare(e) not in came]
    if not lost:
        return
    yield from (e.round for e in lost if isinstance(e, ev.RoundOpened))
    table = Table(clean[0].table)
    for event in clean:
        table.hear(event)
    table.settle()
    gone = {(e.device, e.boot, e.seq) for e in lost}
    where = {v.id: segment for segment in table.segments for v in (segment.verdicts or {}).values()}
    for name, verdicts in by_round(clean, table.in_force(), w.truths).items():
        mine = [v for v in verdicts if name in w.truths and v.atom == w.truths[name].atom]
        if any(_decides(where[v.id], v, gone, lost, table) for v in mine):
            yield name


def _decides(segment: Segment, v: Verdict, gone: set[Key], lost: list[ev.AnyEvent], table: Table) -> bool:
    kept = {type(h.event) for h in segment.events if h[1:4] not in gone}
    deaf = {s for h in segment.events if h[1:4] in gone and type(h.event) not in kept for s in h.event.carries}
    if any((e.device, e.boot, e.seq) in gone for e in v.evidence):
        return True
    if deaf.intersection(load(v.rules).atoms[v.atom].senses if v.rules else ()):
        return True
    return any(_falls_into(gap, e, table) for gap in segment.rests_on.get(v.id, ()) for e in lost)


def _falls_into(gap: Absence, lost: ev.AnyEvent, table: Table) -> bool:
    senses = possible_senses(table.tails[lost.device].kinds, None)
    return gap.sense in senses and gap.begin <= micros(lost.at) <= gap.end


def _bare(e: ev.AnyEvent) -> bytes:
    return encode(structs.replace(e, boot=0, seq=0))
