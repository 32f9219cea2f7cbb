"""`misdeal check`: what telemetry that does not fit is told, and that what fits is told so."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from stream.cli import main
from stream.deal import events as ev
from stream.deal.notation import parse
from stream.deal.wire import encode
from stream.fitness.keys import partition
from stream.simulate.tables import Order, reports
from stream.worker.owner import home

DDS = "nj-double-down-stud-17"
OPEN = f'- open:{DDS}{{approved=["SH1"]}} shuffle:A shuffled:A=52 load:A>manual_shoe#SH1\n'
ROUND = (
    "hands:LR S1$ante:10 S3$ante:20 nmb S1=9h^ S3=4c^ C1=??v C2=Td^ C3=2d^ C4=3d^ nmb C1^=Kd"
    " S1$ante=paid:20 S3$ante=collected:20 .\n"
)
SENSES = ["draws", "identity", "placements", "facing", "wagers", "settlement", "announcements", "turns", "decks",
          "shuffler", "shuffler_count", "dealer_hands"]  # fmt: skip
CARD = re.compile(r"\b(?:[2-9TJQKA][cdhs]|Jk)\b")


@dataclass(frozen=True)
class Answer:
    """What the command said."""

    code: int
    report: dict[str, Any]
    text: str

    def codes(self, grade: str = "wrong") -> list[str]:
        """What was found, by code."""
        return [f["code"] for f in self.report["findings"] if f["grade"] == grade]

    def one(self, code: str) -> dict[str, Any]:
        """The one finding of a code."""
        found: dict[str, Any]
        (found,) = [f for f in self.report["findings"] if f["code"] == code]
        return found


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Answer]:
    """Check lines, or several lots of them as a file each, in both formats; no card may be named in either."""

    def run(*files: Iterable[ev.Event | bytes]) -> Answer:
        paths = []
        for number, lines in enumerate(files, 1):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(b"".join((x if isinstance(x, bytes) else encode(x)) + b"\n" for x in lines))
            paths.append(str(path))
        text = CliRunner().invoke(main, ["check", *paths])
        plain = CliRunner().invoke(main, ["check", "--format", "json", *paths])
        assert text.exception is None or isinstance(text.exception, SystemExit), text.exception
        assert text.exit_code == plain.exit_code
        assert not CARD.search(text.output)
        assert not CARD.search(plain.output)
        report = json.loads(plain.stdout.replace(f"{tmp_path}/", ""))
        assert report["fits"] == (plain.exit_code == 0)
        return Answer(plain.exit_code, report, text.stdout.replace(f"{tmp_path}/", ""))

    return run


def told(text: str) -> list[ev.Event]:
    """Events in notation."""
    return parse(text)


def of(events: Sequence[ev.Event], kind: type[ev.Event], nth: int = 0) -> int:
    """Where the nth event of a type stands."""
    return [i for i, e in enumerate(events) if isinstance(e, kind)][nth]


def test_lawful_telemetry_fits(check: Callable[..., Answer]) -> None:
    """What simulated tables report fits: senses that nobody needed to show are a mere remark."""
    answer = check([e for (_, e), _ in reports(Order(DDS, rounds=5, tables=2))])
    assert answer.code == 0
    assert answer.text.startswith("The telemetry fits: 0 wrong")
    assert {"declared_not_seen"} <= set(answer.codes("remark")) <= {"declared_not_seen", "clock_backwards"}
    first = answer.report["tables"][0]
    assert (first["table"], first["rules"], first["rounds"]) == ("T001", DDS, {"opened": 5, "closed": 5})
    names = ("floor", "layout", "rack", "shoe", "shuffler")
    assert [d["device"] for d in first["devices"]] == [f"T001-{name}" for name in names]
    (pair,) = first["draw_to_placement"]
    assert 200 < pair["least_ms"] <= pair["median_ms"] <= pair["most_ms"] < 450
    assert answer.report["types"]["round.opened"] == 10


def test_exactly_what_is_declared_leaves_no_remark(check: Callable[..., Answer]) -> None:
    """A table that declares what it sends and nothing else is told nothing at all."""
    opened = OPEN.replace("{approved", f"{{senses={json.dumps(SENSES).replace(' ', '')},approved")
    answer = check(told(opened + ROUND * 2))
    assert (answer.code, answer.report["findings"]) == (0, [])


# --- schema and fields


def test_unreadable_lines_are_listed(check: Callable[..., Answer]) -> None:
    """Each unreadable line is named with its place, and the reasons are counted together."""
    good = told(OPEN + ROUND)
    drawn = encode(good[of(good, ev.CardDrawn)])
    bad = [drawn.replace(b"9h", b"9x"), drawn.replace(b"9h", b"9y"), b"", b'{"type":"card.draw"}', drawn[:-5]]
    answer = check([*good, *bad])
    assert answer.code == 1
    unreadable = answer.report["unreadable"]
    assert [u["place"] for u in unreadable] == [f"1.jsonl:{len(good) + i}" for i in range(1, 6)]
    assert [u["code"] for u in unreadable] == ["not_an_event"] * 2 + ["not_json", "not_an_event", "not_json"]
    assert unreadable[0]["type"] == "card.drawn"
    groups = [f for f in answer.report["findings"] if f["about"] == "schema"]
    assert sum(f["count"] for f in groups) == len(bad)
    assert (groups[0]["code"], groups[0]["count"], groups[0]["first"]) == (
        "not_an_event",
        2,
        f"1.jsonl:{len(good) + 1}",
    )
    assert "did you mean card.drawn" in answer.text
    assert f"1.jsonl:{len(good) + 3}: not_json" in answer.text


def test_many_unreadable_lines_are_cut_short(tmp_path: Path) -> None:
    """The text names the first of many unreadable lines, and all of them when asked to."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"nothing\n" * 50)
    short = CliRunner().invoke(main, ["check", str(path)])
    long = CliRunner().invoke(main, ["check", "--all", str(path)])
    assert (short.exit_code, long.exit_code) == (1, 1)
    assert ":50: not_json" in long.stdout
    assert ":50: not_json" not in short.stdout
    assert "and 30 more" in short.stdout


def test_unknown_fields_are_a_remark(check: Callable[..., Answer]) -> None:
    """Unknown fields are counted by type and name, nested ones too; a misspelt one is offered its right name."""
    events = [encode(e) for e in told(OPEN + ROUND)]
    events[0] = events[0].replace(b'{"min":', b'{"step":5,"min":')
    nth = next(i for i, e in enumerate(events) if b"card.drawn" in e)
    for i in (nth, nth + 2):
        events[i] = events[i][:-1] + b',"confidense":900}'
    answer = check(events)
    assert answer.code == 0
    assert answer.report["unknown_fields"] == [
        {"type": "card.drawn", "field": "confidense", "count": 2, "first": f"1.jsonl:{nth + 1}"},
        {"type": "table.opened", "field": "limits.step", "count": 1, "first": "1.jsonl:1"},
    ]
    assert "did you mean confidence" in answer.text


def test_free_names_are_no_unknown_fields(check: Callable[..., Answer]) -> None:
    """The names in `options` are settings, not fields; one that no rule set has is wrong."""
    answer = check(told(OPEN.replace("{approved", '{options={"I-17-dd":"required"},approved') + ROUND))
    assert answer.report["unknown_fields"] == []
    assert answer.codes() == ["option_unknown"]
    assert "I-17-d" in answer.one("option_unknown")["remedy"]


# --- numbers


def test_a_gap_is_told(check: Callable[..., Answer]) -> None:
    """Missing numbers are told with device, boot and seq, and with the line after the gap."""
    events = told(OPEN + ROUND)
    lost = of(events, ev.CardDrawn, 2)
    answer = check(events[:lost] + events[lost + 1 :])
    gap = answer.one("sequence_gap")
    assert answer.code == 1
    assert (gap["device"], gap["count"]) == ("shoe", 1)
    assert f"0:{events[lost].seq}" in gap["what"]
    later = next(i for i, e in enumerate(events) if i > lost and e.device == "shoe")
    assert gap["first"] == f"1.jsonl:{later}"


def test_a_reboot_is_no_gap(check: Callable[..., Answer]) -> None:
    """A device may begin anywhere, and begins at 0 with each boot; a boot that begins later has a gap."""
    events = told(OPEN + ROUND)
    cut = of(events, ev.CardDrawn, 2)

    def rebooted(first: int) -> list[ev.Event]:
        out = list(events[:cut])
        for e in events[cut:]:
            if e.device == "shoe":
                begun = events[cut].seq
                out.append(replace(e, boot=1, seq=e.seq - begun + first))
            else:
                out.append(e)
        return [replace(e, seq=e.seq + 100) if e.device == "shoe" and e.boot == 0 else e for e in out]

    assert check(rebooted(0)).code == 0
    assert check(rebooted(2)).one("sequence_gap")["count"] == 2


def test_repeats_and_late_events_are_remarks(check: Callable[..., Answer]) -> None:
    """What came again unchanged, also at another offset from UTC, or out of order, changes nothing."""
    events = told(OPEN + ROUND)
    nth = of(events, ev.CardDrawn)
    again = encode(events[nth]).replace(b"T12:", b"T14:").replace(b"Z", b"+02:00")
    moved = [*events[:nth], *events[nth + 1 : nth + 5], events[nth], *events[nth + 5 :]]
    answer = check([*moved, again])
    assert answer.code == 0
    assert (answer.one("repeated")["count"], answer.one("late")["count"]) == (1, 1)


def test_a_conflict_is_wrong(check: Callable[..., Answer]) -> None:
    """One identity for two different events is wrong, as when a device restarts without a new boot."""
    events = told(OPEN + ROUND)
    nth = of(events, ev.CardDrawn)
    changed = replace(events[nth], at=events[nth].at + timedelta(seconds=1))
    answer = check([*events, changed])
    assert answer.codes() == ["identity_conflict"]
    assert answer.one("identity_conflict")["first"] == f"1.jsonl:{len(events) + 1}"


def test_a_correction_stands_for_what_it_corrects(check: Callable[..., Answer]) -> None:
    """A corrected event is neither a conflict nor a repeat, and a correction fills the gap of a lost one."""
    events = told(OPEN + ROUND)
    nth = of(events, ev.CardPlaced)
    wrong = events[nth]
    assert isinstance(wrong, ev.CardPlaced)
    right = replace(wrong, facing="up")
    last = max(e.seq for e in events if e.device == "layout")
    fix = ev.EventCorrected(
        table="T1", device="layout", boot=0, seq=last + 1, at=events[-1].at, clock_ms=5,
        corrects=ev.Identity(wrong.device, wrong.boot, wrong.seq), event=right,
    )  # fmt: skip
    assert check([*events, fix]).code == 0
    assert check([*events[:nth], *events[nth + 1 :], fix]).code == 0


def test_a_device_that_counts_over_its_tables(check: Callable[..., Answer]) -> None:
    """Gaps that the device's other table fills are told as what they are: a count that goes over both."""
    one, two = parse(OPEN + ROUND), parse(OPEN + ROUND, table="T2")
    mixed: list[ev.Event] = []
    count: dict[str, int] = {}
    for pair in zip(one, two, strict=True):
        for e in pair:
            mixed.append(replace(e, seq=count.get(e.device, 0)))
            count[e.device] = count.get(e.device, 0) + 1
    answer = check(mixed)
    assert set(answer.codes()) == {"sequence_gap"}
    assert all("counts over all its tables" in f["remedy"] for f in answer.report["findings"] if f["about"] == "seq")


# --- clocks


@pytest.mark.parametrize(("back_ms", "code"), [(9, 0), (2000, 1)])
def test_a_clock_that_runs_backwards(check: Callable[..., Answer], back_ms: int, code: int) -> None:
    """`at` against the order of seq is wrong beyond what both bounds allow, and a remark within."""
    events = told(OPEN + ROUND)
    nth = of(events, ev.WagerSettled, 1)
    events[nth] = replace(events[nth], at=events[nth - 1].at - timedelta(milliseconds=back_ms))
    answer = check(events)
    assert answer.code == code
    found = answer.one("clock_backwards")
    assert (found["device"], found["first"]) == ("floor", f"1.jsonl:{nth + 1}")
    assert f"{back_ms} ms" in found["what"]


@pytest.mark.parametrize(
    ("clock_ms", "found", "code"),
    [(0, "clock_ms_zero", 0), (1500, "clock_ms_huge", 0), (500_000, "clock_ms_absurd", 1)],
)
def test_bounds_that_say_little(check: Callable[..., Answer], clock_ms: int, found: str, code: int) -> None:
    """A bound of 0 and a huge one are remarks; one that tells nothing is wrong."""
    answer = check([replace(e, clock_ms=clock_ms) if e.device == "rack" else e for e in told(OPEN + ROUND + "- stub#")])
    assert answer.code == code
    assert answer.one(found)["device"] == "rack"


def shifted(device: str, by: timedelta, rounds: int = 3) -> list[ev.Event]:
    """Lawful rounds in which one device's clock is off."""
    return [replace(e, at=e.at + by) if e.device == device else e for e in told(OPEN + ROUND * rounds)]


def test_a_placement_before_its_draw(check: Callable[..., Answer]) -> None:
    """Where the layout is 400 ms behind the shoe, each placement comes 100 ms before its draw."""
    answer = check(shifted("layout", timedelta(milliseconds=-400)))
    assert answer.codes() == ["placed_before_drawn"]
    found = answer.one("placed_before_drawn")
    assert found["count"] == 18
    assert "100 ms (layout against shoe)" in found["what"]


@pytest.mark.parametrize(("seconds", "grade"), [(3, "remark"), (6, "wrong")])
def test_clocks_seconds_apart(check: Callable[..., Answer], seconds: int, grade: str) -> None:
    """A median of seconds from draw to placement is told, and is wrong from five on."""
    found = check(shifted("layout", timedelta(seconds=seconds))).one("clocks_apart")
    assert found["grade"] == grade
    assert f"{seconds * 1000 + 300} ms" in found["what"]


def test_clocks_hours_apart(check: Callable[..., Answer]) -> None:
    """Local time sent as UTC: no placement lies in the round of its draw, and by how much is told."""
    found = check(shifted("layout", timedelta(hours=-5), rounds=5)).one("draws_and_placements_apart")
    assert found["grade"] == "wrong"
    assert "-18000 s apart" in found["what"]


# --- the opening


def test_a_table_that_is_not_opened(check: Callable[..., Answer]) -> None:
    """Without table.opened nothing is judged; with a late one the events before it are told."""
    events = told(OPEN + ROUND)
    assert check(events[1:]).codes() == ["table_not_opened"]
    late = check([replace(events[0], at=events[3].at, device="console"), *events[1:]])
    assert late.codes() == ["table_opened_late"]
    assert late.one("table_opened_late")["count"] == 2


def test_an_opening_that_nothing_can_be_judged_by(check: Callable[..., Answer]) -> None:
    """Unknown rules are wrong and the held ones are named; so are rounds after the table closed."""
    answer = check(told(OPEN.replace(DDS, "nj-double-down-stud") + ROUND))
    assert answer.codes() == ["rule_set_unknown"]
    assert DDS in answer.one("rule_set_unknown")["remedy"]
    assert check(told(OPEN + ROUND + "- shut\n" + ROUND)).codes() == ["round_at_closed_table"]


# --- senses


def test_an_undeclared_sense(check: Callable[..., Answer]) -> None:
    """What comes of a sense not declared is wrong where an atom needs it, and the atoms are named."""
    some = json.dumps([s for s in SENSES if s != "turns"]).replace(" ", "")
    answer = check(told(OPEN.replace("{approved", f"{{senses={some},approved") + ROUND))
    assert answer.codes() == ["seen_not_declared"]
    found = answer.one("seen_not_declared")
    assert found["device"] == "layout"
    assert "17.8(c), 17.8(d)" in found["what"]


def test_an_undeclared_sense_that_no_atom_needs(check: Callable[..., Answer]) -> None:
    """Where the rule set asks for it nowhere, an undeclared sense is a remark."""
    some = json.dumps(SENSES).replace(" ", "")
    answer = check(told(OPEN.replace("{approved", f"{{senses={some},approved") + ROUND + "- S1!sits=p1\n"))
    assert answer.code == 0
    assert "seating" in answer.one("seen_not_declared")["what"]


def test_a_declared_sense_of_which_nothing_comes(check: Callable[..., Answer]) -> None:
    """Wagers declared and never sent in played rounds are wrong; touches may not have happened."""
    bare = [e for e in told(OPEN + ROUND) if not isinstance(e, ev.WagerPlaced)]
    count = 0
    events: list[ev.Event] = []
    for e in bare:
        events.append(replace(e, seq=count) if e.device == "floor" else e)
        count += e.device == "floor"
    answer = check(events)
    assert answer.codes() == ["declared_not_seen"]
    said = {f["grade"]: f["what"] for f in answer.report["findings"] if f["code"] == "declared_not_seen"}
    assert "wagers" in said["wrong"]
    assert "touches" in said["remark"]
    assert "wagers" not in said["remark"]


def test_unread_cards_and_hands_are_not_seen(check: Callable[..., Answer]) -> None:
    """Identity and hands are senses of their own: cards never read, and hands never told, do not show them."""
    unread = re.sub(r"=\w\w([\^v])", r"=??\1", ROUND.replace("hands:LR ", "").replace("C1^=Kd", "C1^"))
    answer = check(told(OPEN + unread))
    found = [f["what"] for f in answer.report["findings"] if f["grade"] == "wrong"]
    assert len(found) == 1
    assert found[0].endswith(": identity, dealer_hands")


def test_a_device_that_names_less_than_it_sends(check: Callable[..., Answer]) -> None:
    """What device.online leaves out is a remark: an outage of the device would not cover it."""
    answer = check(told(OPEN + '- online:shoe{senses=["draws","decks","dealer_hands"]}\n' + ROUND))
    assert answer.code == 0
    found = answer.one("device_names_less")
    assert found["device"] == "shoe"
    assert found["what"].endswith("without identity")


# --- rounds


def test_rounds_that_do_not_end(check: Callable[..., Answer]) -> None:
    """A round not closed before the next is wrong; the last one may still be in play."""
    unclosed = ROUND.replace(" .\n", "\n")
    assert check(told(OPEN + unclosed + ROUND)).codes() == ["round_not_closed"]
    answer = check(told(OPEN + ROUND + unclosed))
    assert answer.code == 0
    assert answer.one("last_round_open")["grade"] == "remark"


def test_a_round_id_used_again(check: Callable[..., Answer]) -> None:
    """A round id that comes back is wrong, and named."""
    answer = check(told(OPEN + "@r7 " + ROUND + "@r7 " + ROUND))
    assert answer.codes() == ["round_reused"]
    assert "r7" in answer.one("round_reused")["what"]


def test_acts_outside_of_any_round(check: Callable[..., Answer]) -> None:
    """Without round.opened, what only a round can hold is told by type and count."""
    answer = check(told(OPEN + "- " + ROUND))
    found = {f["what"].split()[0]: f["count"] for f in answer.report["findings"] if f["code"] == "outside_round"}
    assert found == {"wager.placed": 2, "card.drawn": 6, "card.placed": 6, "card.turned": 1}
    assert "round_not_opened" in answer.codes()


# --- keys


@pytest.mark.parametrize("partitions", [1, 8, 12])
def test_partitions_are_those_of_the_worker(partitions: int) -> None:
    """The partition told for a table is where the worker looks for it."""
    for n in range(50):
        assert partition(f"T{n}", partitions) == home(f"T{n}".encode(), partitions)


def test_names_that_go_wrong_as_keys(check: Callable[..., Answer]) -> None:
    """Table ids that differ by case alone, and a device of several topics, are remarks."""
    one = told(OPEN + ROUND)
    two = [replace(e, table="t1") for e in one]
    both = [replace(e, device="all", seq=i) for i, e in enumerate(one)]
    assert check([*one, *two]).one("ids_alike")["count"] == 2
    answer = check(both)
    assert answer.code == 0
    assert "tables.floor.v1 and tables.shuffler.v1" in answer.one("several_topics")["what"]


# --- the command


def test_several_files_are_one_telemetry(check: Callable[..., Answer]) -> None:
    """A file a topic is as good as one: the events of all are put in order."""
    events = told(OPEN + ROUND * 3)
    files = [[e for e in events if e.topic == t] for t in ("card-reader", "shuffler", "floor")]
    answer = check(*files)
    assert answer.code == 0
    assert answer.codes("remark") == ["declared_not_seen"]


def test_faulty_devices_are_noticed(check: Callable[..., Answer]) -> None:
    """What simulated devices lose is told as gaps, what they send twice as repeats."""
    order = Order(DDS, rounds=20, tables=2, seed=3, faults=(("drop", 0.01), ("duplicate", 0.05), ("late", 0.05)))
    answer = check([e for (_, e), _ in reports(order)])
    assert answer.code == 1
    assert "sequence_gap" in answer.codes()
    assert {"repeated", "late"} <= set(answer.codes("remark"))


def test_standard_input_and_nothing_at_all() -> None:
    """`-` reads stdin; no line at all is wrong, as is a line that is no event; a missing file is wrong usage."""
    runner = CliRunner()
    lines = b"\n".join(encode(e) for e in told(OPEN + ROUND))
    assert runner.invoke(main, ["check", "-"], input=lines).exit_code == 0
    assert runner.invoke(main, ["check", "-"], input=lines + b"\n{}").exit_code == 1
    assert "no line at all" in runner.invoke(main, ["check", "-"], input=b"").stdout
    missing = runner.invoke(main, ["check", "no-such-file.jsonl"])
    assert missing.exit_code == 2
    assert "no-such-file.jsonl" in missing.stderr
    assert runner.invoke(main, ["check"]).exit_code == 2
