"""`boot` and `seq`: gaps, repeats, conflicts."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from stream.fitness.findings import Finding
from stream.fitness.history import Device, History
from stream.fitness.telemetry import Note, Telemetry

SHOWN = 5  # gaps that are written out; the rest is in the count


class Gap(Struct, frozen=True):
    """Numbers of one boot that are missing, first and last, and the event after them."""

    boot: int
    first: int
    last: int
    after: Note

    def __str__(self) -> str:
        """As boot:seq, or boot:first-last."""
        return f"{self.boot}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")


def gaps(notes: Sequence[Note]) -> Iterator[Gap]:
    """The numbers missing among a device's events in its own order; a device seen first may be anywhere."""
    before: Note | None = None
    for note in notes:
        due = note.seq if before is None else before.seq + 1 if before.boot == note.boot else 0
        if note.seq > due:
            yield Gap(note.boot, due, note.seq - 1, note)
        before = note


def numbers(telemetry: Telemetry, histories: Sequence[History]) -> Iterator[Finding]:
    """What is wrong with the numbers of each device at each table."""
    everywhere: dict[str, list[Note]] = {}
    for history in histories:
        for device in history.devices.values():
            everywhere.setdefault(device.name, []).extend(device.notes)
    for history in histories:
        for device in history.devices.values():
            found = list(gaps(device.notes))
            if found:
                yield _gap(telemetry, history.table, device, found, everywhere[device.name])
            yield from _again(telemetry, history.table, device)


def _gap(telemetry: Telemetry, table: str, device: Device, found: list[Gap], everywhere: list[Note]) -> Finding:
    said = ", ".join(map(str, found[:SHOWN])) + (" and more" if len(found) > SHOWN else "")
    missing = sum(g.last - g.first + 1 for g in found)
    remedy = "find where events get lost between the device and the file; each gap is published as a device fault"
    elsewhere = {(n.boot, n.seq) for n in everywhere}
    if missing <= len(everywhere) and all((g.boot, s) in elsewhere for g in found for s in range(g.first, g.last + 1)):
        remedy = "it counts over all its tables; let it count each table's events from 0 on their own"
    return Finding(
        "seq", "sequence_gap", "wrong", f"numbers are missing: {said} (boot:seq)", remedy,
        table, device.name, missing, telemetry.where(found[0].after.place),
    )  # fmt: skip


def _again(telemetry: Telemetry, table: str, device: Device) -> Iterator[Finding]:
    where = telemetry.where
    if device.conflicting:
        first = device.conflicting[0]
        yield Finding(
            "seq", "identity_conflict", "wrong",
            f"identities were used for two different events, first {first.boot}:{first.seq} (boot:seq)",
            "let boot grow by one at each restart of the device, and never number two events alike",
            table, device.name, len(device.conflicting), where(first.place),
        )  # fmt: skip
    if device.repeated:
        yield Finding(
            "seq", "repeated", "remark", "events came again, unchanged", "nothing; a repeat changes no verdict",
            table, device.name, len(device.repeated), where(device.repeated[0].place),
        )  # fmt: skip
    if device.late:
        yield Finding(
            "seq", "late", "remark", "events came after a later one of the same device",
            "nothing; they are put where they belong, though a verdict may be revised for them",
            table, device.name, len(device.late), where(device.late[0].place),
        )  # fmt: skip
