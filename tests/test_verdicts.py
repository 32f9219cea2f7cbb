"""What a body promises: an id and a digest that anyone can recompute, and no card before everybody could know it."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, body, in_order
from stream.deal.wire import encode
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports

RULES = "nj-double-down-stud-17"
CARD = re.compile(r"(?<![A-Za-z0-9])(?:[2-9TJQKA][cdhs]|Jk)(?![A-Za-z0-9])")


@cache
def log() -> tuple[ev.AnyEvent, ...]:
    """Two rounds a fault, every fault once, with outages and lost reports in between."""
    wrong = injections(load(RULES), "all")
    order = Order(RULES, 2 * len(wrong), seed=5, inject=wrong, every=2, faults=(("drop", 0.002), ("no_read", 0.01)))
    return tuple(event for (_, event), _ in reports(order))


@cache
def verdicts() -> tuple[Verdict, ...]:
    """All that is said of the log."""
    table = Table(log()[0].table)
    for event in log():
        table.hear(event)
    table.settle()
    return tuple(in_order([*table.left, *table.in_force()]))


def plain(value: object) -> bytes:
    """Canonical JSON, made by other means than the code's own."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def told(verdict: Verdict) -> dict[str, Any]:
    """A body as its readers get it."""
    read: dict[str, Any] = json.loads(body(verdict))
    return read


def the_round(verdict: Verdict) -> Sequence[ev.AnyEvent]:
    """The events of a verdict's round up to its deciding one, in the order in which they happened."""
    deciding = verdict.evidence[0]
    out: list[ev.AnyEvent] = []
    inside = verdict.round is None
    for event in sorted(log(), key=lambda e: (e.at, e.device, e.seq)):
        if isinstance(event, ev.RoundOpened):
            inside = event.round == verdict.round
        if inside:
            out.append(event)
        if (event.device, event.boot, event.seq) == (deciding.device, deciding.boot, deciding.seq):
            return out
    raise AssertionError("the deciding event is none of the log")


def shown(events: Sequence[ev.AnyEvent]) -> tuple[set[int], set[tuple[str, int]]]:
    """The draws and the places whose face everybody had seen by the last of some events."""
    draws: set[int] = set()
    places: set[tuple[str, int]] = set()
    lies: dict[tuple[str, int], int | None] = {}
    for e in events:
        if isinstance(e, ev.CardPlaced):
            lies[e.position, e.index] = e.draw
        if isinstance(e, ev.CardPlaced | ev.CardTurned) and e.facing == "up":
            places.add((e.position, e.index))
            draws.add(lies.get((e.position, e.index)) or 0)
        if (isinstance(e, ev.CardDrawn) and e.face_up) or isinstance(e, ev.CardSeen):
            draws.add(e.draw or 0)
    return draws, places


def masked(event: ev.AnyEvent, draws: set[int], places: set[tuple[str, int]]) -> dict[str, Any]:
    """An event as a digest counts it: every default written out, UTC microseconds, hidden cards as `??`."""
    out: dict[str, Any] = {"type": str(event.__struct_config__.tag)}
    for name in event.__struct_fields__:
        out[name] = msgspec.to_builtins(getattr(event, name))
    out["at"] = event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(event, ev.CardDrawn | ev.CardPlaced) and event.draw not in draws:
        out["card"] = "??"
    if isinstance(event, ev.CardTurned) and (event.position, event.index) not in places:
        out["card"] = "??"
    return out


def settings() -> dict[str, object]:
    """The settings of the log's table: those of the engine, of the rule set and of its readings, none changed."""
    rules = load(RULES).rules
    engine: dict[str, object] = {"rounds_kept": 60, "minutes_kept": 120, "silence_s": 30, "identity_confidence": 900}
    return engine | dict(rules.settings) | {name: i.default for name, i in rules.interpretation.items()}


def values(value: object) -> Iterator[object]:
    """Every value within a body that is neither an object nor a list."""
    if isinstance(value, dict):
        for item in value.values():
            yield from values(item)
    elif isinstance(value, list):
        for item in value:
            yield from values(item)
    else:
        yield value


def test_every_fault_is_told() -> None:
    """The shift that these tests look at holds a verdict of every fault that can be injected, and device faults."""
    assert {atom for atom, _ in injections(load(RULES), "all")} <= {v.atom for v in verdicts()}
    assert "sequence_gap" in {v.code for v in verdicts()}


def test_ids_can_be_recomputed() -> None:
    """An id is the first 16 hex digits of SHA-256 over table, round, rule set, atom and scope."""
    for v in verdicts():
        first = v.evidence[0]
        where = v.round if v.round is not None else [first.device, first.boot, first.seq]
        said = told(v)
        assert v.id == sha256(plain([v.table, where, v.rules, v.atom, said["scope"]])).hexdigest()[:16]
    assert len({v.id for v in verdicts()}) == len(verdicts())


def test_digests_can_be_recomputed() -> None:
    """A digest is SHA-256 over the masked evidence, the rule set, its edition and the settings."""
    by_key = {(e.device, e.boot, e.seq): e for e in log()}
    for v in verdicts():
        draws, places = shown(the_round(v))
        evidence = [
            {"event": masked(by_key[e.device, e.boot, e.seq], draws, places), "role": e.role} for e in v.evidence
        ]
        whole = {"evidence": evidence, "rules": v.rules, "edition": v.edition, "settings": settings()}
        assert v.digest == sha256(plain(whole)).hexdigest(), v.atom


def test_no_card_is_told_before_it_was_shown() -> None:
    """No identity stands anywhere in a body but of a card that everybody had seen by the deciding event."""
    told_one = hidden_one = False
    for v in verdicts():
        before = the_round(v)
        draws, places = shown(before)
        known: set[str] = set()
        hidden: set[str] = set()
        for e in before:
            if isinstance(e, ev.CardDrawn | ev.CardPlaced):
                (known if e.draw in draws else hidden).add(e.card)
            elif isinstance(e, ev.CardTurned) and (e.position, e.index) in places:
                known.add(e.card)
        found = {c for text in values(told(v)) if isinstance(text, str) for c in CARD.findall(text)}
        assert found <= known, v.atom
        told_one |= bool(found)
        hidden_one |= bool(hidden - {"??"} - known)
    assert told_one
    assert hidden_one


def test_bodies_are_plain() -> None:
    """A body holds strings and whole numbers only, its keys sorted, without blanks, and reads back into itself."""
    for v in verdicts():
        raw = body(v)
        assert plain(json.loads(raw)) == raw
        assert all(type(x) in (str, int) for x in values(told(v)))


def test_moment_is_the_deciding_events() -> None:
    """`at` is the time of the deciding event, which is the first of the evidence and the only one of its role."""
    by_key = {(e.device, e.boot, e.seq): e for e in log()}
    for v in verdicts():
        roles = [e.role for e in v.evidence]
        assert roles.index("deciding") == 0
        assert roles.count("deciding") == 1
        first = v.evidence[0]
        assert datetime.fromisoformat(v.at) == by_key[first.device, first.boot, first.seq].at


def test_order_is_that_of_time_then_id() -> None:
    """Verdicts stand by `at`, then by `id`, whatever order they were found in."""
    found = list(verdicts())
    assert in_order(found[::-1]) == sorted(found, key=lambda v: (v.at, v.id))


@pytest.mark.parametrize("deck", [{"rounds": 1}, {"seats": 3}])
def test_the_log_is_the_same_again(deck: dict[str, int]) -> None:
    """The same order to the simulator gives the same bytes, so that what these tests say can be said again."""
    order = Order(RULES, deck.get("rounds", 2), seats=deck.get("seats", 7), seed=3)
    once, again = ([encode(e) for (_, e), _ in reports(order)] for _ in range(2))
    assert once == again
