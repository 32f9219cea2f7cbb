"""The order of a table's events, and how it is cut into rounds."""

from collections.abc import Iterable, Iterator

from stream.deal import events as ev
from stream.replay.carry import Carry
from stream.rulebook.heard import Heard


def ordered(pool: Iterable[Heard], carry: Carry) -> list[Heard]:
    """Events in the order of the contract: within a device by (boot, seq), between devices by running time.

    `carry` holds the last event of each device before these.
    """
    top: dict[str, int] = {d: h.when for d, h in carry.last.items()}
    out: list[Heard] = []
    for h in sorted(pool, key=lambda h: (h.device, h.boot, h.seq)):
        when = max(h.at, top.get(h.device, h.at))
        top[h.device] = when
        out.append(h if h.when == when else h._replace(when=when))
    out.sort(key=lambda h: h[:4])
    return out


def cut(events: list[Heard]) -> Iterator[list[Heard]]:
    """Cut at each opening of a round; what lies before the first one is a piece of its own."""
    begin = 0
    for i, heard in enumerate(events):
        if i and isinstance(heard.event, ev.RoundOpened):
            yield events[begin:i]
            begin = i
    if events:
        yield events[begin:]
