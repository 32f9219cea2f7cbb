"""Which cards nobody had seen, worked out without the code under test; and the search for them in what is put out."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import DECK_52, UNSEEN
from stream.deal.notation import brief
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports

Json = dict[str, Any]
CARD: Final = re.compile(r"(?<![A-Za-z0-9])(?:[2-9TJQKA][cdhs]|Jk)(?![A-Za-z0-9])")
FAULTS: Final = (
    ("drop", 0.002), ("late", 0.01), ("duplicate", 0.005), ("no_read", 0.01), ("misread", 0.005), ("skew", 0.05),
    ("sense_dead", 0.02),
)  # fmt: skip
KEPT: Final = {"minutes_kept": 10_000, "rounds_kept": 1000}
CARDS: Final = (ev.CardDrawn, ev.CardPlaced, ev.CardTurned, ev.CardSeen)


def shift(rules: str, tables: int = 1, seed: int = 11) -> list[ev.AnyEvent]:
    """A shift with every irregularity that can be injected once, and devices that err in every way."""
    wrong = injections(load(rules), "all")
    rounds = 2 * len(wrong) // tables + 1
    order = Order(rules, rounds, tables, seed=seed, inject=wrong, every=2, faults=FAULTS, jitter_ms=150)
    return named([_kept_long(event) for (_, event), _ in reports(order)])


def _kept_long(e: ev.AnyEvent) -> ev.AnyEvent:
    """A table opened so that no round leaves the kept history."""
    return replace(e, options=e.options | KEPT) if isinstance(e, ev.TableOpened) else e


def named(events: Sequence[ev.AnyEvent]) -> list[ev.AnyEvent]:
    """The same as from readers that name every card, also one that lies face down: what there is to leak."""
    whole: dict[tuple[str, int, int], ev.AnyEvent] = {}
    for table in {e.table for e in events}:
        kept = ordered_of([e for e in events if e.table == table])
        for begin, end in rounds(kept):
            seen = {e.card for e in kept[begin:end] if isinstance(e, CARDS)}
            rest = iter([c for c in DECK_52[begin % 52 :] + DECK_52[: begin % 52] if c not in seen])
            of_draw: dict[int | None, Any] = {}
            for e in kept[begin:end]:
                if isinstance(e, ev.CardDrawn | ev.CardPlaced) and e.card != UNSEEN:
                    of_draw.setdefault(e.draw, e.card)
            for e in kept[begin:end]:
                if isinstance(e, ev.CardDrawn | ev.CardPlaced) and e.card == UNSEEN and e.draw is not None:
                    if e.draw not in of_draw:
                        of_draw[e.draw] = next(rest, UNSEEN)
                    whole[e.device, e.boot, e.seq] = replace(e, card=of_draw[e.draw])
    return [whole.get((e.device, e.boot, e.seq), e) for e in events]


def ordered_of(events: Iterable[ev.AnyEvent]) -> list[ev.AnyEvent]:
    """The events of one table once each, in the order in which they happened."""
    table = Table("T")
    for event in events:
        table.hear(event)
    table.settle()
    assert not table.base.last, "a round has left the kept history"
    return [h.event for s in table.segments for h in s.events]


class Faces:
    """What everybody had seen by the last of some events of a round: draws, places, and the identities of both."""

    def __init__(self, events: Iterable[ev.AnyEvent]) -> None:
        self.draws: set[int] = set()
        self.places: set[tuple[str, int]] = set()
        lies: dict[tuple[str, int], int | None] = {}
        for e in events:
            if isinstance(e, ev.CardPlaced):
                lies[e.position, e.index] = e.draw
            if isinstance(e, ev.CardPlaced | ev.CardTurned) and e.facing == "up":
                self.places.add((e.position, e.index))
                self.draws |= {lies.get((e.position, e.index))} - {None}  # type: ignore[arg-type]  # none is None
            if isinstance(e, ev.CardSeen) or (isinstance(e, ev.CardDrawn) and e.face_up):
                self.draws |= {e.draw} - {None}  # type: ignore[arg-type]  # same

    def hides(self, e: ev.AnyEvent) -> bool:
        """Whether an event tells of a card that not everybody had seen."""
        if isinstance(e, ev.CardDrawn):
            return e.draw not in self.draws
        if isinstance(e, ev.CardPlaced):
            return e.draw not in self.draws and (e.position, e.index) not in self.places
        return isinstance(e, ev.CardTurned) and (e.position, e.index) not in self.places

    def masked(self, e: ev.AnyEvent) -> ev.AnyEvent:
        """The event as everybody may know it."""
        return replace(e, card=UNSEEN) if isinstance(e, CARDS) and self.hides(e) else e


def reveals(e: ev.AnyEvent) -> bool:
    """Whether an event shows a card to everybody."""
    shows = isinstance(e, ev.CardPlaced | ev.CardTurned) and e.facing == "up"
    return shows or isinstance(e, ev.CardSeen) or (isinstance(e, ev.CardDrawn) and e.face_up)


def exchanged(events: Sequence[ev.AnyEvent]) -> list[ev.AnyEvent]:
    """The same round, but each card that nobody had seen by its end is another one.

    The cards that were seen keep their identities; the others of the deck change places among themselves, so that what
    was equal stays equal and what was a whole deck stays one.
    """
    faces = Faces(events)
    seen = {e.card for e in events if isinstance(e, CARDS) and not faces.hides(e)}
    free = [c for c in DECK_52 if c not in seen]
    other = dict(zip(free, [*free[17:], *free[:17]], strict=True))
    return [
        replace(e, card=other.get(e.card, e.card)) if isinstance(e, CARDS) and faces.hides(e) else e for e in events
    ]


def rounds(events: Sequence[ev.AnyEvent]) -> Iterator[tuple[int, int]]:
    """Where each round, with the time after it, begins and ends among the ordered events of a table."""
    begins = [i for i, e in enumerate(events) if isinstance(e, ev.RoundOpened)]
    yield from zip(begins, [*begins[1:], len(events)], strict=True)


def strings(value: object) -> Iterator[str]:
    """Every string within a body."""
    if isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def check_body(said: bytes, hidden: bytes) -> int:
    """That a body tells no card but those everybody had seen by its deciding event, at their own places.

    `hidden` is its evidence record, from which the round is taken. Returns how many cards it hides.
    """
    verdict, told = json.loads(said), json.loads(hidden)
    assert told["body"] == sha256(said).hexdigest()
    evidence = [msgspec.convert(t["event"], ev.AnyEvent) for t in told["evidence"]]
    telemetry = [msgspec.convert(e, ev.AnyEvent) for e in told["telemetry"]]
    until = _until(telemetry, evidence[0])
    faces = Faces(until)
    assert brief(map(faces.masked, until)) == verdict["deal"], "the deal is told otherwise"
    masked = [
        {"event": plain(faces.masked(e)), "role": t["role"]} for e, t in zip(evidence, told["evidence"], strict=True)
    ]
    whole = {k: told.get(k) for k in ("rules", "edition", "settings")} | {"evidence": masked}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert sha256(text.encode()).hexdigest() == verdict["digest"], "the digest counts something else"
    known = {e.card for e in until if isinstance(e, CARDS) and not faces.hides(e)}
    named = {c for text in strings({k: v for k, v in verdict.items() if k != "deal"}) for c in CARD.findall(text)}
    assert named <= known, verdict["atom"]
    return sum(faces.hides(e) and e.card != UNSEEN for e in until if isinstance(e, CARDS))


def _until(telemetry: Sequence[Any], deciding: Any) -> Sequence[Any]:
    if deciding not in telemetry or not isinstance(telemetry[0], ev.RoundOpened):
        return [deciding]
    return telemetry[: telemetry.index(deciding) + 1]


def plain(event: ev.AnyEvent) -> Json:
    """An event as a digest counts it, written anew here."""
    out: Json = {"type": str(event.__struct_config__.tag)}
    for name in event.__struct_fields__:
        out[name] = msgspec.to_builtins(getattr(event, name))
    out["at"] = event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return out


def check_words(what: str, text: str) -> None:
    """That some output which has no business with cards names none at all."""
    found = CARD.search(text)
    assert found is None, f"{what} names a card: {text[max(0, found.start() - 80) : found.end() + 20]}"
