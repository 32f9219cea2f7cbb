"""What goes wrong between a device and the log: reports lost, late, repeated or corrected, and devices that restart."""

from collections.abc import Sequence
from random import Random
from typing import Final, get_args

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import Outcome
from stream.simulate.faults.report import SECOND, Report, Told

_RUN: Final = (2, 8)  # reports lost in one go
_LATE_S: Final = 180
_DOWN: Final = 0.1  # of what is late, because a link is down
_LINK_S: Final = (5, 60)  # how long a link is down
_BACK_S: Final = (30, 180)  # and how much later all that waited comes
_SPOKEN_FOR: Final = "floor"  # without its reports there is no round
_NOTICED_S: Final = (2, 20)  # when a wrong report is corrected


def any_report(reports: Sequence[Report]) -> list[int]:
    """Every report."""
    return list(range(len(reports)))


def once(_reports: Sequence[Report]) -> list[int]:
    """Once a round."""
    return [0]


def duplicate(reports: list[Report], i: int, random: Random) -> Told:
    """A report is sent again, up to three seconds later."""
    reports[i].again = random.randint(0, 3 * SECOND)
    return reports[i].event.device, "sent a report twice"


def late(reports: list[Report], i: int, random: Random) -> Told:
    """A report comes up to three minutes late; or the link is down, and all that waited comes minutes later."""
    r = reports[i]
    if random.random() >= _DOWN:
        r.delay = random.randint(0, _LATE_S * SECOND)
        return r.event.device, f"one report came {r.delay // SECOND} s late"
    up = r.at + random.randint(*_LINK_S) * SECOND
    back = up + random.randint(*_BACK_S) * SECOND
    for other in reports[i:]:
        if other.event.device == r.event.device and other.at <= up:
            other.delay = back - other.at
    return r.event.device, f"its link was down for {(back - r.at) // SECOND} s"


def drop(reports: list[Report], i: int, random: Random) -> Told | None:
    """A report is lost on the way, or several of its device in a row; the numbers are missing."""
    device = reports[i].event.device
    run = 1 if random.random() < 0.75 else random.randint(*_RUN)
    gone = [r for r in reports[i:] if r.event.device == device and not isinstance(r.event, ev.TableOpened)][:run]
    for r in gone:
        r.lost = True
    return (device, f"{len(gone)} reports were lost") if gone else None


def reboot(reports: list[Report], _i: int, random: Random) -> Told:
    """A device starts anew and counts from 0; its last reports before that may be lost. Some say that they are on."""
    i = random.randrange(len(reports))
    device = reports[i].event.device
    before = [r for r in reports[:i] if r.event.device == device]
    gone = before[-random.randint(1, 3) :] if random.random() < 0.5 else []
    for r in gone:
        r.lost = True
    e = reports[i].event
    if random.random() < 0.5:
        on = ev.DeviceOnline(table=e.table, device=device, boot=0, seq=0, at=e.at, clock_ms=e.clock_ms)
        reports.insert(i, Report(reports[i].at, on, restarts=True))
    else:
        reports[i].restarts = True
    return device, f"restarted, and {len(gone)} reports before that were lost"


def sense_dead(reports: list[Report], _i: int, random: Random) -> Told | None:
    """A device says nothing for a round, no heartbeat either; some go on counting."""
    devices = sorted({r.event.device for r in reports if not r.event.device.endswith(_SPOKEN_FOR)})
    if not devices:
        return None
    device, counts = random.choice(devices), random.random() < 0.5
    if counts:
        for r in reports:
            r.lost = r.lost or r.event.device == device
    else:
        reports[:] = [r for r in reports if r.event.device != device]
    return device, "was dead for a round" + (" and counted on" if counts else "")


def correction(reports: list[Report], _i: int, random: Random) -> Told | None:
    """A report is wrong, and some seconds later the right one is put in its place."""
    order = list(range(len(reports)))
    random.shuffle(order)
    for i in order:
        right = reports[i].event
        wrong = _wrong(right, reports, random)
        if wrong is None or isinstance(right, ev.EventCorrected):
            continue
        reports[i].event = wrong
        noticed = min(reports[i].at + random.randint(*_NOTICED_S) * SECOND, reports[-1].at)
        reports.append(Report(noticed, right, corrects=reports[i]))
        return right.device, f"corrected a {right.__struct_config__.tag}"
    return None


def _wrong(e: ev.AnyEvent, reports: Sequence[Report], random: Random) -> ev.AnyEvent | None:
    """The same act told wrong, if it can be."""
    match e:
        case ev.CardPlaced():
            places = sorted({r.event.position for r in reports if isinstance(r.event, ev.CardPlaced)} - {e.position})
            if not places or random.random() < 0.5:
                return replace(e, facing="down" if e.facing == "up" else "up")
            return replace(e, position=random.choice(places))
        case ev.CardTurned():
            return replace(e, by="player" if e.by == "dealer" else "dealer")
        case ev.WagerPlaced():
            seats = sorted({r.event.seat for r in reports if isinstance(r.event, ev.WagerPlaced)} - {e.seat})
            return replace(e, seat=random.choice(seats)) if seats else replace(e, amount=e.amount * 10)
        case ev.WagerSettled():
            return replace(e, outcome=random.choice([o for o in get_args(Outcome) if o != e.outcome]))
        case ev.StubCounted() | ev.CardsCollected() | ev.CardsDiscarded():
            return replace(e, count=e.count + 1)
        case _:
            return None
