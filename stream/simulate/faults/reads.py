"""What readers do wrong with cards: read them as others, or not, or two as one, or one twice."""

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import DECK_52, UNSEEN
from stream.simulate.faults.report import MS, Report, Told

_Read = ev.CardDrawn | ev.CardPlaced | ev.CardTurned
_Numbered = ev.CardDrawn | ev.CardPlaced | ev.CardBurned | ev.CardReturned | ev.CardSeen | ev.CardsDiscarded
_SLIPPED_MS: Final = 80  # a card that slips back into the source


def seen_cards(reports: Sequence[Report]) -> list[int]:
    """Where a face was read."""
    return [i for i, r in enumerate(reports) if isinstance(r.event, _Read) and r.event.card != UNSEEN]


def drawn_cards(reports: Sequence[Report]) -> list[int]:
    """Where a card left its source."""
    return [i for i, r in enumerate(reports) if isinstance(r.event, ev.CardDrawn)]


def fed_cards(reports: Sequence[Report]) -> list[int]:
    """Where a card left a shoe just after another, and was put down once."""
    used: dict[int, int] = {}
    for r in reports:
        e = r.event
        if isinstance(e, _Numbered) and not isinstance(e, ev.CardDrawn) and e.draw is not None:
            used[e.draw] = used.get(e.draw, 0) + (1 if isinstance(e, ev.CardPlaced | ev.CardBurned) else 2)
    out = []
    for i in drawn_cards(reports):
        e = reports[i].event
        assert isinstance(e, ev.CardDrawn)
        if e.draw > 1 and e.source != "hand" and not e.face_up and used.get(e.draw) == 1:
            out.append(i)
    return out


def misread(reports: list[Report], i: int, random: Random) -> Told:
    """A card is read as another one."""
    e = reports[i].event
    assert isinstance(e, _Read)
    other = random.choice([c for c in DECK_52 if c != e.card])
    reports[i].event = replace(e, card=other, confidence=random.randint(400, 999))
    return e.device, f"read {e.card} as {other}"


def no_read(reports: list[Report], i: int, _random: Random) -> Told:
    """A card is seen, but not which one."""
    e = reports[i].event
    assert isinstance(e, _Read)
    reports[i].event = replace(e, card=UNSEEN)
    return e.device, f"did not read {e.card}"


def double_feed(reports: list[Report], i: int, _random: Random) -> Told:
    """Two cards leave the shoe with one read: the second has no draw number, and those after it have one less."""
    e = reports[i].event
    assert isinstance(e, ev.CardDrawn)
    draw = e.draw
    del reports[i]
    for r in reports:
        x = r.event
        if isinstance(x, _Numbered) and x.draw is not None:
            if x.draw > draw:
                r.event = replace(x, draw=x.draw - 1)
            elif x.draw == draw and isinstance(x, ev.CardPlaced | ev.CardBurned):
                r.event = replace(x, draw=None)
    return e.device, f"removals {draw - 1} and {draw} were read as one"


def returned(reports: list[Report], i: int, _random: Random) -> Told:
    """A card slips back into the source and is drawn again; the reader tells all three."""
    report, e = reports[i], reports[i].event
    assert isinstance(e, ev.CardDrawn)
    draw = e.draw
    for r in reports:
        x = r.event
        if isinstance(x, _Numbered) and x.draw is not None and x.draw >= draw and r is not report:
            r.event = replace(x, draw=x.draw + 1)
    back = ev.CardReturned(table=e.table, device=e.device, boot=0, seq=0, at=e.at, clock_ms=e.clock_ms, draw=draw)
    reports.append(Report(report.at + _SLIPPED_MS * MS, back))
    reports.append(Report(report.at + 2 * _SLIPPED_MS * MS, replace(e, draw=draw + 1)))
    return e.device, f"draw {draw} slipped back and was drawn again"
