"""One table's notes put in order: device by device, and all together as the contract orders them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter

from stream.deal import events as ev
from stream.fitness.telemetry import Note, Telemetry

_IDENTITY = attrgetter("boot", "seq")


@dataclass
class Device:
    """What one device said at one table."""

    name: str
    notes: list[Note] = field(default_factory=list)  # by (boot, seq), each identity once, the right one if corrected
    repeated: list[Note] = field(default_factory=list)
    conflicting: list[Note] = field(default_factory=list)
    late: list[Note] = field(default_factory=list)  # that arrived after a later one


@dataclass(frozen=True)
class History:
    """What is known of one table."""

    table: str
    devices: dict[str, Device]
    notes: tuple[Note, ...]  # in the order of the contract
    opened: tuple[tuple[Note, ev.TableOpened], ...]  # in that order

    def rounds(self) -> Iterator[tuple[Note | None, list[Note]]]:
        """The notes of each round, from its opening (None: before the first) to the next."""
        begun: Note | None = None
        notes: list[Note] = []
        for note in self.notes:
            if note.kind is ev.RoundOpened:
                if notes:
                    yield begun, notes
                begun, notes = note, []
            notes.append(note)
        if notes:
            yield begun, notes


def histories(telemetry: Telemetry) -> Iterator[History]:
    """The history of each table, by name."""
    for table in sorted(telemetry.notes):
        devices = _devices(telemetry.notes[table], telemetry.corrected.get(table, {}))
        notes = tuple(_ordered(devices))
        opened = tuple((n, telemetry.opened[table, n.place]) for n in notes if n.kind is ev.TableOpened)
        yield History(table, devices, notes, opened)


def _devices(notes: list[Note], corrected: dict[tuple[str, int, int], Note]) -> dict[str, Device]:
    out: dict[str, Device] = {}
    for note in notes:
        out.setdefault(note.device, Device(note.device)).notes.append(note)
    for key in corrected:
        out.setdefault(key[0], Device(key[0]))
    for device in out.values():
        _sort(device, {k: n for k, n in corrected.items() if k[0] == device.name})
    return dict(sorted(out.items()))


def _sort(device: Device, corrected: dict[tuple[str, int, int], Note]) -> None:
    """Put a device's notes in its own order; set aside what came again."""
    top = (-1, -1)
    unique = dict(corrected)
    for note in device.notes:
        here = (note.boot, note.seq)
        first = unique.setdefault(note.key, note)
        if first is note:
            if here < top:
                device.late.append(note)
            top = max(top, here)
        elif note.key not in corrected:  # whatever a corrected one said, the right one stands in its place
            (device.repeated if note.same == first.same else device.conflicting).append(note)
    device.notes = sorted(unique.values(), key=_IDENTITY)


def _ordered(devices: dict[str, Device]) -> Iterator[Note]:
    """All notes: within a device by identity, between devices by the running maximum of `at`, then by device."""
    timed: list[tuple[int, str, int, int, Note]] = []
    for device in devices.values():
        when = 0
        for note in device.notes:
            when = max(when, note.at)
            timed.append((when, note.device, note.boot, note.seq, note))
    timed.sort(key=itemgetter(0, 1, 2, 3))
    return (note for *_, note in timed)
