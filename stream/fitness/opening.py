"""Whether tables were opened, and under what they can be judged by."""

from collections.abc import Iterator, Sequence

from stream.deal import events as ev
from stream.fitness.findings import Finding
from stream.fitness.history import History
from stream.fitness.telemetry import Telemetry
from stream.openings import complaints


def opening(telemetry: Telemetry, histories: Sequence[History]) -> Iterator[Finding]:
    """Tables never opened, opened late, closed in play, or opened with what no rule set knows."""
    for history in histories:
        yield from _opened(telemetry, history)
        yield from _shut(telemetry, history)
        for note, event in history.opened:
            for c in complaints(event):
                what = f"{c.field}: {c.what}"
                first = telemetry.where(note.place)
                yield Finding("table", c.code, "wrong", what, c.remedy, history.table, note.device, first=first)


def _opened(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    first = history.notes[0]
    where = telemetry.where(first.place)
    if not history.opened:
        yield Finding(
            "table", "table_not_opened", "wrong", "no table.opened came, so nothing of the table is judged",
            "send table.opened before anything else, from the console or with `misdeal tables apply`",
            history.table, None, len(history.notes), where,
        )  # fmt: skip
    elif first.kind is not ev.TableOpened:
        count = next(i for i, n in enumerate(history.notes) if n.kind is ev.TableOpened)
        yield Finding(
            "table", "table_opened_late", "wrong", "events lie before table.opened",
            "send table.opened first; its `at` orders it, not its arrival", history.table, None, count, where,
        )  # fmt: skip


def _shut(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    shut = False
    late = []
    for note in history.notes:
        if note.kind in (ev.TableOpened, ev.TableClosed):
            shut = note.kind is ev.TableClosed
        elif shut and note.kind is ev.RoundOpened:
            late.append(note)
    if late:
        yield Finding(
            "table", "round_at_closed_table", "wrong", "rounds were opened after table.closed",
            "send table.opened again when the table opens again",
            history.table, late[0].device, len(late), telemetry.where(late[0].place),
        )  # fmt: skip
