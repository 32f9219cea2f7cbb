"""Clocks that are ahead, and say so or not."""

from random import Random
from typing import Final

from msgspec.structs import replace

from stream.simulate.faults.report import MS, Report, Told

AHEAD_MS: Final = 300
_BOUND_MS: Final = 320
_UNTOLD: Final = ("shoe", "layout")


def skew(reports: list[Report], _i: int, random: Random) -> Told | None:
    """One device's clock is 300 ms ahead for a round and says so: `clock_ms` covers it."""
    device = random.choice(sorted({r.event.device for r in reports}))
    _set_ahead(reports, device, AHEAD_MS)
    for r in reports:
        if r.event.device == device:
            r.event = replace(r.event, clock_ms=_BOUND_MS)
    return device, f"was {AHEAD_MS} ms ahead and said so"


def skew_untold(reports: list[Report], _i: int, random: Random) -> Told | None:
    """The clock of the shoe or of the layout is 300 ms to a second ahead for a round and does not say so."""
    devices = sorted({r.event.device for r in reports if r.event.device.endswith(_UNTOLD)})
    if not devices:
        return None
    device, ahead = random.choice(devices), random.randint(AHEAD_MS, 1000)
    _set_ahead(reports, device, ahead)
    return device, f"was {ahead} ms ahead and did not say so"


def _set_ahead(reports: list[Report], device: str, ms: int) -> None:
    for r in reports:
        if r.event.device == device:
            r.ahead = ms * MS
