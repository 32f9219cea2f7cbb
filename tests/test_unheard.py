"""What rests on something not seen waits for the devices that could see it; what they leave open is one question."""

import importlib
from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from story import judged, told

from stream.deal import events as ev
from stream.deal.events import AnyEvent
from stream.deal.notation import parse
from stream.replay.evidence import Witness
from stream.replay.judge import LONGEST
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids
from stream.simulate import truth
from stream.simulate.faults import FAULTS
from stream.simulate.tables import Order, reports
from stream.worker.docket import Docket
from stream.worker.hold import Holds

watching = importlib.import_module("bench.truth.watch")
tallies = importlib.import_module("bench.truth.tally")

OPEN = '- open:nj-double-down-stud-17{approved=["SH1"]} shuffle:A shuffled:A=52 load:A>manual_shoe#SH1 beat:floor\n'
UNCALLED = OPEN + "S1$ante:10 nmb S1=9h^ C1=??v C2=Td^ C3=2d^ C4=3d^ C1^=Kd"
POT = (
    "S1$ante:10 S2$ante:10 nmb S1=??v S2=??v D=??v S1=??v S2=??v D=??v S1=8c^ S2=7c^ D=As^ S1:check S2:check bet * "
    "S1=2d^ S2=3d^ D=8s^ S1:check S2:check bet * S1=??v S2=??v D=??v S1:check S2:check bet "
)


def log(text: str) -> list[Any]:
    """The events of a notation."""
    return list(parse(text))


def due(docket: Docket, now: float) -> list[str]:
    """The atoms that may be published."""
    return [p.verdict.atom for _, p in docket.due(Holds(), now, behind=False) if p.verdict is not None]


def heard(events: list[AnyEvent]) -> Docket:
    """A docket that has taken them all in at time 0."""
    docket = Docket(Witness(events[0].table))
    for k, event in enumerate(events):
        docket.hear("telemetry", k, event, k, 0.0)
    docket.review(0.0)
    return docket


def test_a_worker_with_more_to_read_judges_seldom_and_in_a_moment() -> None:
    """While more is to be read a table is not judged at each record, but an alert waits a moment at most."""
    docket = Docket(Witness("T1"))
    for k, event in enumerate(log(UNCALLED)):
        docket.hear("telemetry", k, event, k, 0.0)
    docket.review(0.1, behind=True)
    assert not docket.pending
    assert docket.unsettled()
    docket.review(0.3, behind=True)
    assert [p.verdict.atom for p in docket.pending.values() if p.verdict] == ["17.8(d)"]
    assert not docket.unsettled()


def test_a_call_not_heard_is_published_once_its_device_has_spoken() -> None:
    """(d): the hole card is turned and no second call was heard: it may be on its way, until the floor says more."""
    events = log(UNCALLED + " beat:floor")
    docket = heard(events[:-1])
    assert [p.verdict.atom for p in docket.pending.values() if p.verdict] == ["17.8(d)"]
    assert due(docket, 3.0) == []
    docket.hear("telemetry", len(events), events[-1], 0, 3.0)
    docket.review(3.0)
    assert due(docket, 3.1) == ["17.8(d)"]


def test_and_at_last_without_it() -> None:
    """A device that says nothing more at all is not waited for beyond the setting."""
    docket = heard(log(UNCALLED))
    assert due(docket, 44.9) == []
    assert due(docket, 45.0) == ["17.8(d)"]


def test_what_was_seen_is_published_at_once() -> None:
    """A card dealt face up that should lie face down is there to be seen; nobody is waited for."""
    docket = heard(log(OPEN + "S1$ante:10 nmb S1=9h^ C1=Kd^"))
    assert due(docket, 2.0) == ["17.8(b)-2"]


@pytest.mark.parametrize("mode", ["drop", "duplicate", "late", "reboot"])
@pytest.mark.parametrize("rules", ids())
def test_nothing_is_published_that_the_next_report_takes_back(rules: str, mode: str) -> None:
    """A lawful table whose reports are lost, late or repeated: no live reader ever sees an accusation."""
    seen = watching.watch(Order(rules, 24, seats=4, seed=11, every=2, mixed=True, beside=mode))
    assert [truth.told(v) for v in seen.withdrawn] == []
    assert sum(seen.published[kind] for kind in watching.ACCUSING) == 0
    assert seen.slips


@pytest.mark.parametrize("mode", ["drop", "reboot", "sense_dead"])
@pytest.mark.parametrize("rules", ids())
def test_an_error_leaves_one_question_open(rules: str, mode: str) -> None:
    """A lawful round with one device error: nobody accused, no advisory, at most one question."""
    seen = watching.watch(Order(rules, 43, seats=3, seed=17, every=4, mixed=True, beside=mode), live=False)
    tally = tallies.lawful(seen, 43, "")
    assert tally.n["errors"] == 10
    assert tally.n["false"] == tally.n["advisory"] == tally.n["undetermined_more_than_one"] == 0, tally
    if mode != "reboot":
        assert tally.n["found"] == 10  # every one of them is told


@pytest.mark.parametrize("rules", ids())
@pytest.mark.parametrize(("mode", "roots"), [("drop", {1}), ("sense_dead", {1}), ("reboot", {0, 1})])
def test_one_error_is_one_root(mode: str, roots: set[int], rules: str) -> None:
    """What a device's error leaves open, in its round or in later ones, follows from the verdict that tells of it.

    A reboot is no fault: what it leaves open, if anything, is a root itself.
    """
    counts: Counter[int] = Counter()
    for seed in range(6):
        order = Order(rules, 43, seats=2 + seed, seed=40 + seed, every=4, mixed=True, beside=mode)
        counts += tallies.lawful(watching.watch(order, live=False), 43, "").per_fault
    assert set(counts) == roots
    assert sum(counts.values()) > 50


def test_a_silent_layout_is_one_question_that_follows_from_it() -> None:
    """No card of the deal was seen to be placed: one question, with the device's fault as its root."""
    dealt = log(
        f"- open:nj-winners-pot-33 btn:D shuffle:A shuffled:A=52 load:A>manual_shoe\n{POT} S1$ante=collected:10 ."
    )
    layout = next(e.device for e in dealt if isinstance(e, ev.CardPlaced))
    placed = [e for e in dealt if e.device == layout]
    kept = [e for e in dealt if e not in placed[1:-1]]
    said = told(judged(kept))
    assert [s for s in said if "undetermined" in s] == [
        "33.12(f) undetermined:coverage final round follows sequence_gap"
    ]
    assert not any("advisory" in s or "irregularity" in s for s in said)


def test_what_else_stays_open_is_named() -> None:
    """Two paragraphs left open by one hole are one verdict, which cites the one and names the other."""
    text = (
        "- open:nj-double-cross-25 shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        "hands:LR S1$ante:20 nmb offline:layout{sense=placements} +1 +2 online:layout{sense=placements} "
        "D=??v D=??v C1=??v C2=??v C3=??v C4=??v C5=??v stub- stub:42 stub# all_void S1$ante=returned:20 ."
    )
    (open_,) = [v for v in judged(log(text)) if v.kind == "undetermined"]
    assert (open_.atom, open_.root is not None) == ("25.7(e)2-m", True)
    assert "Open for the same reason: 13:69F-25.7(c)1" in open_.observed


def test_a_round_that_never_ends_is_judged_up_to_a_point() -> None:
    """What comes after so many events is kept, and one advisory says that it is not judged."""
    events = log(UNCALLED + " S1$ante=collected:10")
    last = events[-1]
    assert isinstance(last, ev.WagerSettled)
    more = [replace(last, seq=last.seq + n) for n in range(1, LONGEST + 50)]
    table = Table(last.table)
    for event in (*events, *more):
        table.hear(event)
    table.settle()
    said = {v.code: v for v in table.in_force()}
    assert said["round_too_long"].status == "open"
    assert "hole_card_without_second_call" in said
    before = table.segments[-1].verdicts
    table.hear(replace(last, seq=last.seq + LONGEST + 60))
    table.settle()
    assert table.segments[-1].verdicts == before


@pytest.mark.parametrize("seed", range(6))
def test_heartbeats_may_come_in_any_order(seed: int) -> None:
    """A table stands idle, devices beat, one falls silent and is back: in force is what the ordered log says."""
    dealt = [e for (_, e), _ in reports(Order("nj-double-down-stud-17", 3, seats=2, seed=seed))]
    last = {e.device: e for e in dealt if isinstance(e, ev.DeviceHeartbeat)}
    step = (dealt[-1].at - dealt[0].at) / 20
    beats: list[AnyEvent] = []
    for n in range(1, 40):
        for k, (device, e) in enumerate(sorted(last.items())):
            if k == seed % len(last) and 10 < n < 25:
                continue
            seq = max(x.seq for x in (*dealt, *beats) if x.device == device) + 1
            beats.append(replace(e, at=dealt[-1].at + step * n, seq=seq))
    ordered, mixed = Table("T001"), Table("T001")
    for event in (*dealt, *beats):
        ordered.hear(event)
    ordered.settle()
    random = Random(seed)
    waiting = list(beats)
    for event in dealt:
        mixed.hear(event)
    while waiting:
        event = waiting.pop(random.randrange(min(4, len(waiting))))
        mixed.hear(event)
        mixed.settle()
    assert list(mixed.in_force()) == list(ordered.in_force())
    assert any(v.code == "device_offline" for v in ordered.in_force())


def test_every_mode_of_the_devices_is_there() -> None:
    """The names of the error modes that an integrator may ask for."""
    assert {"misread", "no_read", "double_feed", "duplicate", "reboot", "returned", "late", "skew"} <= FAULTS.keys()
