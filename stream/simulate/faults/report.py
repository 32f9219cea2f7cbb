"""Reports on their way, and what a fault is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from stream.deal import events as ev
from stream.simulate.round import Change, Round

SECOND: Final = 1_000_000
MS: Final = 1000

Per = Literal["card", "report", "round", "shuffle"]


@dataclass(eq=False)
class Report:
    """What a device reports, and when it happened (microseconds); it is numbered and sent once all faults are made."""

    at: int
    event: ev.AnyEvent
    lost: bool = False  # it has its number and never arrives
    ahead: int = 0  # microseconds by which its device's clock is ahead
    delay: int = 0  # microseconds
    again: int | None = None  # it is sent once more, so much later
    restarts: bool = False  # its device starts anew, and this is its first report
    corrects: "Report | None" = None  # its event stands in the place of that one's
    jitter: int = 0  # microseconds on the way, as of any report


@dataclass(frozen=True)
class Slip:
    """A device's error, as it was made."""

    table: str
    round: str
    mode: str
    device: str
    what: str


Told = tuple[str, str]
"""Which device erred, and how."""

Sites = Callable[[Sequence[Report]], list[int]]
"""Where in the reports of a round, in order of time, a fault can begin."""

Make = Callable[[list[Report], int, Random], Told | None]
"""Make a fault at a place of the list, changing nothing before it but in place; None: it can't be made there."""

Deals = Callable[[Round, Random], tuple[Change, Callable[[Round], Told | None]] | None]
"""How a round is dealt in which a machine errs, and what to tell of it once it is dealt; None: it can't err there."""


@dataclass(frozen=True)
class Fault:
    """One error mode: its usual rate and of what, how it is made, and the verdicts it may have for its own.

    `own` is of atoms and of codes of advisories; where it is empty, an accusation is false.
    """

    rate: float
    per: Per
    sites: Sites | None = None
    make: Make | None = None
    deals: Deals | None = None
    own: tuple[str, ...] = ()


def spoil(reports: list[Report], faults: Sequence[tuple[str, Fault, float]], random: Random) -> list[tuple[str, Told]]:
    """Make faults at their rates in the reports of a round, in place; what was made."""
    told: list[tuple[str, Told]] = []
    for name, fault, rate in faults:
        if fault.sites is None or fault.make is None:
            continue
        chosen = [i for i in fault.sites(reports) if random.random() < rate]
        made = [fault.make(reports, i, random) for i in reversed(chosen)]
        told += [(name, t) for t in reversed(made) if t is not None]
        reports.sort(key=lambda r: r.at)
    return told


def spoil_once(reports: list[Report], name: str, fault: Fault, random: Random) -> list[tuple[str, Told]]:
    """Make one fault somewhere, in place, if it can be made at all."""
    if fault.sites is None or fault.make is None:
        return []
    sites = fault.sites(reports)
    random.shuffle(sites)
    for i in sites:
        told = fault.make(reports, i, random)
        if told is not None:
            reports.sort(key=lambda r: r.at)
            return [(name, told)]
    return []
