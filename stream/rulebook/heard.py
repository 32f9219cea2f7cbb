"""An event in its place: the order of a table's events, and what clocks can and cannot tell."""

from typing import NamedTuple

from stream.deal.events import AnyEvent

MS = 1000  # microseconds


class Heard(NamedTuple):
    """An event with the key that orders it among the events of its table.

    `when` is the running maximum of `at` within its device, microseconds since 1970, so that within a device
    the order is that of (`boot`, `seq`) and never of time; `at` is what the event itself says. `mark` is the
    caller's own, where the event was found; nothing here reads it.
    """

    when: int
    device: str
    boot: int
    seq: int
    at: int
    event: AnyEvent
    mark: int = 0


def unsure(a: Heard, b: Heard) -> bool:
    """Whether the clocks of two devices leave open which of two events came first.

    Within one device the order is always known. Contract, section 1: two devices' events whose difference in
    `at` is within the sum of their `clock_ms` have no known order.
    """
    if a.device == b.device:
        return False
    return abs(a.at - b.at) <= (a.event.clock_ms + b.event.clock_ms) * MS
