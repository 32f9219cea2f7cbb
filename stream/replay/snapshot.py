"""A table written down and read back: a head, which names its closed segments, and their records beside it."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from stream.deal import events as ev
from stream.replay.carry import Carry
from stream.replay.segment import Segment
from stream.replay.table import Counts, Past, Table
from stream.replay.tail import Tail
from stream.rulebook.heard import Heard


class _TailRecord(Struct, frozen=True, array_like=True):
    boot: int
    seq: int
    when: int
    first: int
    kinds: list[str]
    online: Heard | None


class _Head(Struct, frozen=True, array_like=True):
    name: str
    base: Carry
    fresh: bool
    used: list[str]
    segments: list[str]
    open: bytes  # the record of the last segment; empty while it has no event
    tails: dict[str, _TailRecord]
    corrections: list[Heard]
    first_opened: Heard | None
    counts: Counts
    past: list[Past] = []


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Head).decode


def head(table: Table) -> bytes:
    """A settled table as bytes, but for its closed segments, which it names: see `Table.closed`."""
    last = table.segments[-1]
    tails = {
        d: _TailRecord(t.boot, t.seq, t.when, t.first, sorted(str(k.__struct_config__.tag) for k in t.kinds), t.online)
        for d, t in table.tails.items()
    }
    return _encode(
        _Head(
            table.name,
            table.base,
            table.fresh,
            list(table.used),
            [s.name for s in table.segments[:-1]],
            last.record() if last.name else b"",
            tails,
            list(table.corrections.values()),
            table.first_opened,
            table.counts,
            table.past,
        )
    )


def read(written: bytes, records: Mapping[str, bytes]) -> Table:
    """A table from its head and the records of the segments it names. Raises KeyError where one is missing."""
    h = _decode(written)
    table = Table(h.name)
    table.base, table.fresh, table.used = h.base, h.fresh, dict.fromkeys(h.used)
    table.segments = [Segment.read(records[name]) if name else Segment([]) for name in h.segments]
    table.segments.append(Segment.read(h.open) if h.open else Segment([]))
    table.first_opened, table.counts, table.past = h.first_opened, h.counts, h.past
    for device, t in h.tails.items():
        tail = table.tails[device] = Tail(t.boot, t.seq, t.when)
        tail.first = t.first
        tail.kinds, tail.online = {ev.TYPES[k] for k in t.kinds}, t.online  # type: ignore[misc]  # of the union
    for heard in h.corrections:
        assert isinstance(heard.event, ev.EventCorrected)
        c = heard.event.corrects
        table.corrections[c.device, c.boot, c.seq] = heard
    table.resume()
    return table
