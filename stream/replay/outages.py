"""What the devices of a table can and can't have told: when they were away, and since when each sense is carried."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import Sense
from stream.replay.carry import SECOND, Alive, Interruption, possible_senses, senses_of
from stream.replay.segment import Order
from stream.replay.tail import Tail
from stream.rulebook.findings import Absence
from stream.rulebook.heard import Heard

GIVEN_UP: Final = 600 * SECOND  # a device silent for so long is not waited for

Tails = Mapping[str, Tail]
"""What is known of each device."""

Span = tuple[Order, Order]
"""The first and the last event of something."""


def faulted(found: Sequence[Interruption], fault: Callable[[Interruption], str]) -> tuple[Interruption, ...]:
    """The interruptions that a round found, each with the id of the verdict that tells of it.

    The gaps of a device are one verdict in a round. A reboot is no fault.
    """
    first: dict[tuple[str, str], Interruption] = {}
    for i in sorted(found, key=lambda i: i.noticed[:4]):
        first.setdefault((i.code, i.device), i)
    return tuple(i if i.code == "rebooted" else replace(i, fault=fault(first[i.code, i.device])) for i in found)


def lasting(leaving: Sequence[Interruption], later: Iterable[Interruption], first: Order) -> Iterator[Interruption]:
    """Of the outages that a round to be forgotten noticed, those that go on after the first event of the next."""
    ends = {(i.device, i.noticed[:4]): i.end for i in (*leaving, *later) if i.end is not None}
    for i in leaving:
        end = ends.get((i.device, i.noticed[:4]))
        if i.code == "device_offline" and (end is None or end[:4] > first):
            yield replace(i, end=end)


def interruptions(found: Iterable[Interruption], tails: Tails) -> tuple[Interruption, ...]:
    """Each outage once, with its end once it is known and with what its device carries, by time, code and device.

    `found` are in the order of their rounds. What is missing while a device was away is told with its outage.
    """
    every = list(found)
    away: dict[object, str | None] = {}
    faults: dict[object, str | None] = {}
    for i in every:
        if i.code == "device_offline" and i.begin is not None:
            told = faults.setdefault((i.device, i.noticed[:4]), i.fault)
            if i.end is not None:
                away[i.device, i.begin[:4], i.end[:4]] = told
    ends = {(i.device, i.noticed[:4]): i for i in every if i.end is not None}
    telling = {name for name, t in tails.items() if ev.CardPlaced in t.kinds}  # if none does, any may
    carried = {name: _carried(name, tails) for name in {i.device for i in every} & tails.keys()}
    out: dict[tuple[str, str, object], Interruption] = {}
    for i in every:
        end = ends.get((i.device, i.noticed[:4]), i)
        senses = i.senses or carried.get(i.device, frozenset())
        places = "placements" in senses and (i.device in telling or not telling)
        fault = i.fault if i.code != "device_offline" else faults.get((i.device, i.noticed[:4]), i.fault)
        if i.begin is not None:
            fault = away.get((i.device, i.begin[:4], i.noticed[:4]), fault)
        out[i.code, i.device, i.noticed[:4]] = Interruption(
            i.code, i.device, end.begin, i.noticed, end.end, senses, places, fault=fault
        )
    return tuple(sorted(out.values(), key=lambda i: (i.noticed[:4], i.code, i.device)))


def _carried(name: str, tails: Tails) -> frozenset[Sense]:
    """What a device carries, and what it may carry that no other device here is known to."""
    tail = tails[name]
    others = {s for other, t in tails.items() if other != name for s in senses_of(t.kinds, t.online)}
    return senses_of(tail.kinds, tail.online) | (possible_senses(tail.kinds, tail.online) - others)


def seen_from(known: Iterable[Interruption], own: Span, reach: Span) -> tuple[Interruption, ...]:
    """The interruptions that a round can rest on, as it sees them: those that touch what it reaches.

    Of one that it does not tell itself (its `own` events neither show nor end it) only the moment matters at which it
    began, and not even that where it began before what the round reaches.
    """
    (first, last), (begin, end) = own, reach
    out = []
    for i in known:
        if not (i.covers(begin[0], end[0]) or begin <= i.noticed[:4] <= end):
            continue
        tells = first <= i.noticed[:4] <= last or (i.end is not None and first <= i.end[:4] <= last)
        if tells:
            out.append(i)
        else:
            began = i.began if i.began > begin[0] else 0
            out.append(Interruption(i.code, i.device, None, i.noticed, i.end, i.senses, i.places, began, i.fault))
    return tuple(out)


def alive_since(tails: Tails) -> Alive:
    """Since when some device that may carry a sense has been heard, by sense."""
    since: dict[Sense, int] = {}
    for tail in tails.values():
        for sense in possible_senses(tail.kinds, tail.online):
            since[sense] = min(tail.first, since.get(sense, tail.first))
    return tuple(sorted(since.items()))


def awaited(gaps: Sequence[Absence], tails: Tails, away: Mapping[str, Heard]) -> bool:
    """Whether a device that could still show what was not seen has not been heard since.

    A device known to be `away` is not waited for, nor one that has said nothing for ten minutes.
    """
    return any(
        gap.sense in possible_senses(tail.kinds, tail.online)
        for gap in gaps
        for device, tail in tails.items()
        if device not in away and gap.end - GIVEN_UP < tail.when < gap.end
    )
