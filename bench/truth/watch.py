"""One table watched as it deals: the verdicts in force at its end, and those that a live consumer saw come and go.

A verdict counts as published once it has stood for the hold: 200 ms where its paragraph is urgent, else two seconds,
by the time of arrival. It is taken back when it is gone, or is an accusation no more, for two seconds.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from stream.deal import events as ev
from stream.deal.verdicts import Verdict
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.faults import Slip
from stream.simulate.tables import Order, reports
from stream.simulate.truth import Truth
from stream.worker.hold import Holds

ACCUSING: Final = ("irregularity", "breach")
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


class _Board:
    """What a live consumer sees of a table's verdicts."""

    def __init__(self) -> None:
        self.here: dict[str, dict[str, Verdict]] = {}  # segment -> what is in force there
        self.shown: dict[str, Verdict | None] = {}  # id -> as published last; None: withdrawn
        self.waiting: dict[str, tuple[Verdict | None, int]] = {}  # id -> what is to be published, and since when
        self.published: Counter[str] = Counter()
        self.withdrawn: list[Verdict] = []

    def pass_until(self, now: int) -> None:
        """Publish what has stood for its hold."""
        for name in [n for n, (v, since) in self.waiting.items() if since + _hold(v) <= now]:
            verdict, _ = self.waiting.pop(name)
            before = self.shown.get(name)
            if before is not None and (verdict is None or verdict.kind not in ACCUSING) and before.kind in ACCUSING:
                self.withdrawn.append(before)
            self.shown[name] = verdict
            if verdict is not None:
                self.published[verdict.kind] += 1

    def look(self, segment: str, verdicts: Iterable[Verdict], now: int) -> None:
        """Compare what a round says now with what was published of it."""
        new = {v.id: v for v in verdicts}
        for name in self.here.get(segment, {}).keys() - new.keys():
            self._want(name, None, now)
        for name, verdict in new.items():
            self._want(name, verdict, now)
        self.here[segment] = new

    def _want(self, name: str, verdict: Verdict | None, now: int) -> None:
        shown = self.shown.get(name)
        if (shown.kind if shown else None) == (verdict.kind if verdict else None):
            self.waiting.pop(name, None)
        else:
            since = self.waiting[name][1] if name in self.waiting else now
            self.waiting[name] = (verdict, since)


def _hold(verdict: Verdict | None) -> int:
    if verdict is None or verdict.paragraph is None or verdict.rules is None:
        return int(_HOLDS.other_s * _US)
    return int((_HOLDS.urgent_s if load(verdict.rules).atoms[verdict.atom].urgent else _HOLDS.other_s) * _US)


def watch(order: Order, *, live: bool = True) -> Watched:
    """Deal a table and judge it; `live`: after every event, as a consumer would see it."""
    out, board = Watched(), _Board()
    table: Table | None = None
    now = 0
    for (now, event), truth in reports(order, slips=out.slips):
        table = table or Table(event.table)
        out.log.append(event)
        if truth is not None:
            out.truths[truth.round] = truth
        table.hear(event)
        if live:
            board.pass_until(now)
            table.settle()
            _show(table, board, now)
    assert table is not None
    table.settle()
    if live:
        _show(table, board, now)
        board.pass_until(now + 60 * _US)
    out.verdicts = [*table.left, *table.in_force()]
    out.published, out.withdrawn = board.published, board.withdrawn
    return out


def _show(table: Table, board: _Board, now: int) -> None:
    if not table.touched:
        return
    touched, table.touched = table.touched, set()
    for segment in table.segments:
        if segment.name in touched:
            touched.discard(segment.name)
            board.look(segment.name, (segment.verdicts or {}).values(), now)
    for gone in touched:
        board.look(gone, (), now)
