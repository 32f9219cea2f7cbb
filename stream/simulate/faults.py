"""What devices do wrong, by name and rate: each changes the reports of a round, never what happened at the table."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import DECK_52, UNSEEN

Report = tuple[int, ev.AnyEvent]  # when it arrives (microseconds), what it says
Fault = Callable[[list[Report], float, Random], list[Report]]

SECOND: Final = 1_000_000


def misread(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """A card is read as another one."""
    return [(t, _misread(e, random) if random.random() < rate else e) for t, e in reports]


def _misread(e: ev.AnyEvent, random: Random) -> ev.AnyEvent:
    if isinstance(e, ev.CardDrawn | ev.CardPlaced | ev.CardTurned) and e.card != UNSEEN:
        return replace(e, card=random.choice(DECK_52), confidence=random.randint(400, 999))
    return e


def no_read(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """A card is seen, but not which one."""
    return [
        (t, replace(e, card=UNSEEN) if isinstance(e, ev.CardDrawn) and random.random() < rate else e)
        for t, e in reports
    ]


def duplicate(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """A report is sent again, up to three seconds later."""
    out = list(reports)
    out += [(t + random.randint(0, 3 * SECOND), e) for t, e in reports if random.random() < rate]
    return out


def late(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """A report arrives up to three minutes late."""
    return [(t + random.randint(0, 180 * SECOND) if random.random() < rate else t, e) for t, e in reports]


def skew(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """One device's clock is 300 ms ahead and says so: `clock_ms` covers it."""
    if random.random() >= rate or not reports:
        return reports
    device = random.choice(sorted({e.device for _, e in reports}))
    ahead = timedelta(milliseconds=300)
    return [(t, replace(e, at=e.at + ahead, clock_ms=320) if e.device == device else e) for t, e in reports]


def drop(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """A report is lost on the way; its number is missing."""
    return [r for r in reports if isinstance(r[1], ev.TableOpened) or random.random() >= rate]


def sense_dead(reports: list[Report], rate: float, random: Random) -> list[Report]:
    """One device says nothing for a round; it goes on counting."""
    if random.random() >= rate or not reports:
        return reports
    devices = sorted({e.device for _, e in reports if not e.device.endswith("floor")})
    if not devices:
        return reports
    device = random.choice(devices)
    return [(t, e) for t, e in reports if e.device != device]


FAULTS: Final[dict[str, tuple[Fault, float]]] = {
    "misread": (misread, 1e-4),
    "no_read": (no_read, 5e-4),
    "duplicate": (duplicate, 1e-3),
    "late": (late, 1e-2),
    "skew": (skew, 1e-2),
    "drop": (drop, 1e-4),
    "sense_dead": (sense_dead, 1e-3),
}
"""Name -> the fault and its default rate (of cards, of reports, or of rounds)."""
