"""Clocks: `at` running backwards, `clock_ms` that says too little or too much, and devices that disagree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from stream.deal import events as ev
from stream.fitness.findings import Finding, Grade
from stream.fitness.history import Device, History
from stream.fitness.telemetry import Note, Telemetry

MS: Final = 1000  # microseconds
HUGE_MS: Final = 1000  # cards come about once a second: with a worse clock no order between devices is known
ABSURD_MS: Final = 60_000
SLOW_MS: Final = 2000  # from draw to placement it takes some 300 ms, seldom two seconds
APART_MS: Final = 5000


@dataclass
class Pair:
    """Draws of one device and their placements seen by another."""

    drawing: str
    placing: str
    delays: list[float] = field(default_factory=list)  # ms from draw to placement, in order
    bound: int = 0  # the greatest sum of both `clock_ms`
    before: Note | None = None  # the first placement that came before its draw by more than the clocks allow
    reversed: int = 0


def clocks(telemetry: Telemetry, histories: Sequence[History]) -> Iterator[Finding]:
    """What is wrong with the clocks of each device, and between devices."""
    for history in histories:
        for device in history.devices.values():
            yield from _backwards(telemetry, history.table, device)
            yield from _bounds(telemetry, history.table, device)
        yield from _spread(telemetry, history)


def _backwards(telemetry: Telemetry, table: str, device: Device) -> Iterator[Finding]:
    top: Note | None = None
    beyond: list[tuple[int, Note]] = []
    within: list[tuple[int, Note]] = []
    for note in device.notes:
        if top is None or note.at >= top.at:
            top = note
            continue
        back = top.at - note.at
        (beyond if back > (top.clock_ms + note.clock_ms) * MS else within).append((back, note))
    grades: tuple[tuple[Grade, list[tuple[int, Note]]], ...] = (("wrong", beyond), ("remark", within))
    for grade, found in grades:
        wrong = grade == "wrong"
        if not found:
            continue
        most = max(back for back, _ in found) / MS
        yield Finding(
            "clocks", "clock_backwards", grade,
            f"`at` runs backwards by up to {most:.0f} ms, {'more than' if wrong else 'within what'} clock_ms allows",
            "stamp `at` when it happens and `seq` in that same order; slew the clock, never step it"
            if wrong
            else "nothing; the order is that of seq",
            table, device.name, len(found), telemetry.where(found[0][1].place),
        )  # fmt: skip


def _bounds(telemetry: Telemetry, table: str, device: Device) -> Iterator[Finding]:
    zero = [n for n in device.notes if n.clock_ms == 0]
    absurd = [n for n in device.notes if n.clock_ms >= ABSURD_MS]
    huge = [n for n in device.notes if HUGE_MS <= n.clock_ms < ABSURD_MS]
    cases: tuple[tuple[str, Grade, list[Note], str, str], ...] = (
        ("clock_ms_zero", "remark", zero, "clock_ms is 0: the clock is said to be exact",
         "send the true bound; with 0 an order is taken as known that is not"),
        ("clock_ms_huge", "remark", huge, f"clock_ms is {HUGE_MS} or more",
         "keep the clock by NTP or PTP; with this bound most orders between devices are undetermined"),
        ("clock_ms_absurd", "wrong", absurd, f"clock_ms is {ABSURD_MS} or more: the clock tells nothing",
         "send milliseconds, and a bound that the device can keep"),
    )  # fmt: skip
    for code, grade, notes, what, remedy in cases:
        if notes:
            first = telemetry.where(notes[0].place)
            yield Finding("clocks", code, grade, what, remedy, table, device.name, len(notes), first)


def pairs(history: History) -> tuple[dict[tuple[str, str], Pair], list[Note]]:
    """The delays from draw to placement between two devices, round by round; and placements without their draw."""
    found: dict[tuple[str, str], Pair] = {}
    alone: list[Note] = []
    for _, notes in history.rounds():
        draws: dict[int | str | None, list[Note]] = {}
        for note in notes:
            if note.kind is ev.CardDrawn:
                draws.setdefault(note.about, []).append(note)
        placed: set[tuple[str, int, int]] = set()
        for note in notes:
            if note.kind is not ev.CardPlaced or note.about is None:
                continue
            # where an opening was lost two rounds lie in one, and a number is there twice: the nearer one is meant
            drawn = min(draws.get(note.about, ()), key=lambda d: abs(d.at - note.at), default=None)
            if drawn is None:
                alone.append(note)
            elif drawn.device != note.device and drawn.key not in placed:
                placed.add(drawn.key)
                pair = found.setdefault((drawn.device, note.device), Pair(drawn.device, note.device))
                bound = drawn.clock_ms + note.clock_ms
                pair.bound = max(pair.bound, bound)
                pair.delays.append((note.at - drawn.at) / MS)
                if drawn.at - note.at > bound * MS:
                    pair.before, pair.reversed = pair.before or note, pair.reversed + 1
    return found, alone


def _spread(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    found, alone = pairs(history)
    remedy = "set both clocks by the same source, and send a clock_ms that covers what is left"
    for pair in found.values():
        names = f"{pair.placing} against {pair.drawing}"
        middle = median(pair.delays)
        if pair.before is not None:
            yield Finding(
                "clocks", "placed_before_drawn", "wrong",
                f"cards were placed before they were drawn, by up to {-min(pair.delays):.0f} ms ({names})",
                remedy, history.table, pair.placing, pair.reversed, telemetry.where(pair.before.place),
            )  # fmt: skip
        if middle > SLOW_MS + pair.bound:
            grade: Grade = "wrong" if middle > APART_MS + pair.bound else "remark"
            what = f"from draw to placement it takes {middle:.0f} ms in the median ({names})"
            yield Finding("clocks", "clocks_apart", grade, what, remedy, history.table, pair.placing, len(pair.delays))
    total = sum(len(p.delays) for p in found.values())
    drawn = any(n.kind is ev.CardDrawn for n in history.notes)
    if drawn and len(alone) >= 3 and len(alone) > total:
        yield Finding(
            "clocks", "draws_and_placements_apart", "wrong",
            "placements do not lie in the round of their draw" + _estimate(history),
            "compare the clocks and the offsets from UTC in `at`; then the numbers of the draws",
            history.table, alone[0].device, len(alone), telemetry.where(alone[0].place),
        )  # fmt: skip


def _estimate(history: History) -> str:
    """How far the clocks are apart, told by the deals one after another, where both devices saw as many."""
    draws, placed = _deals(history, ev.CardDrawn), _deals(history, ev.CardPlaced)
    if not draws or len(draws) != len(placed):
        return ""
    apart = median((p.at - d.at) / MS for d, p in zip(draws, placed, strict=True))
    return f"; by the deals one after another the clocks are about {apart / 1000:.0f} s apart"


def _deals(history: History, kind: type[ev.AnyEvent]) -> list[Note]:
    """The first card of each deal: where the draw number falls."""
    out: list[Note] = []
    for device in history.devices.values():
        last = 1 << 53
        for note in device.notes:
            if note.kind is kind and isinstance(note.about, int):
                if note.about <= last:
                    out.append(note)
                last = note.about
    return sorted(out, key=lambda n: n.at)
