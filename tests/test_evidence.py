"""What masking hid: records that name every card, that anybody can check, and that depend on the events alone."""

import json
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

import jsonschema_rs
import msgspec
import orjson
import pytest
from click.testing import CliRunner
from hidden import check_body

from stream.cli import main
from stream.commands.replay import Replay
from stream.deal import events as ev
from stream.deal.notation import brief, parse
from stream.deal.verdicts import body
from stream.deal.wire import canonical, encode, full
from stream.replay.evidence import LARGEST, Unmasked, View, Witness, basis, evidence, record
from stream.replay.mask import Shown
from stream.rulebook.paragraphs import ids, load
from stream.schemas import definitions, examples, headers, meanings
from stream.simulate.tables import Order, injections, reports
from stream.worker.docket import Docket
from stream.worker.hold import Holds
from stream.worker.topics import EVIDENCE, SOURCES, declared

ROOT: Final = Path(__file__).parents[1]
OPEN: Final = "- open:nj-double-down-stud-17 shuffle:A shuffled:A=52 load:A>manual_shoe#SH1"
LATE: Final = "S1$ante:10 S3$ante:20 nmb S3.1=4c^ S1.1=9h^ C1=7dv C2=Td^ C3=2d^ C4=3d^ nmb C1^=7d"
Json = dict[str, Any]


@cache
def log(rules: str) -> tuple[ev.AnyEvent, ...]:
    """A shift with every departure once, devices apart and in part late, reports lost, dealers relieved."""
    wrong = injections(load(rules), "all")
    order = Order(rules, len(wrong), seed=7, inject=wrong, every=1, faults=(("drop", 0.002), ("late", 0.01)))
    return tuple(event for (_, event), _ in reports(order))


def records(events: Iterable[ev.AnyEvent]) -> list[tuple[bytes, bytes]]:
    """Body and evidence record of each verdict in force, by replay."""
    replay = Replay(None, evidence=True)
    for number, event in enumerate(events, 1):
        replay.read("telemetry", number, encode(event))
    return list(zip(map(body, replay.in_force()), replay.evidence(), strict=True))


@cache
def of(rules: str) -> tuple[tuple[bytes, bytes], ...]:
    """The same of the shift."""
    return tuple(records(log(rules)))


def recipe(name: str) -> Callable[..., Any]:
    """A function of the recipe in docs/verdicts.md."""
    page = (ROOT / "docs" / "verdicts.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    space: Json = {}
    exec(compile(code, "docs/verdicts.md", "exec"), space)  # noqa: S102  # it is ours
    found: Callable[..., Any] = space[name]
    return found


@pytest.mark.parametrize("rules", ids())
def test_every_verdict_has_its_record(rules: str) -> None:
    """Each verdict in force has one record, which names it, its round and its body, and fits the schema."""
    validator = jsonschema_rs.Draft202012Validator(definitions.evidence(), validate_formats=False)
    assert of(rules)
    for said, hidden in of(rules):
        verdict, told = json.loads(said), json.loads(hidden)
        assert told["verdict"] == verdict["id"]
        assert told.get("round") == verdict.get("round")
        assert told["body"] == sha256(said).hexdigest()
        assert [(t["event"]["device"], t["event"]["boot"], t["event"]["seq"], t["role"]) for t in told["evidence"]] == [
            (e["device"], e["boot"], e["seq"], e["role"]) for e in verdict["evidence"]
        ]
        assert canonical(told) == hidden
        validator.validate(told)


@pytest.mark.parametrize("rules", ids())
def test_what_the_body_masks_is_named(rules: str) -> None:
    """Records name cards that bodies mask; masked by the rule again they give the deal and the digest of the body."""
    by_key = {(e.device, e.boot, e.seq): e for e in log(rules)}
    deals = digests = 0
    for said, hidden in of(rules):
        verdict, told = json.loads(said), json.loads(hidden)
        seen = Shown(_until(told))
        evidence_ = [by_key[t["event"]["device"], t["event"]["boot"], t["event"]["seq"]] for t in told["evidence"]]
        assert canonical([t["event"] for t in told["evidence"]]) == canonical([full(e) for e in evidence_])
        masked = [
            {"event": full(seen.mask(e)), "role": t["role"]} for e, t in zip(evidence_, told["evidence"], strict=True)
        ]
        plain = {"evidence": masked, "rules": told.get("rules"), "edition": told.get("edition")}
        assert sha256(canonical(plain | {"settings": told["settings"]})).hexdigest() == verdict["digest"]
        heard = [h.event for h in _until(told)]
        assert brief(heard) == told["deal"]
        assert brief(map(seen.mask, heard)) == verdict["deal"]
        deals += told["deal"] != verdict["deal"]
        digests += told["digest"] != verdict["digest"]
    assert deals
    assert digests


def _until(told: Json) -> list[Any]:
    """The round up to the deciding event, out of the record alone; between rounds that event alone."""
    deciding = told["evidence"][0]["event"]
    heard = [msgspec.convert(e, ev.AnyEvent) for e in told["telemetry"]]
    key = (deciding["device"], deciding["boot"], deciding["seq"])
    place = next((i for i, e in enumerate(heard) if (e.device, e.boot, e.seq) == key), None)
    if place is None or not heard or not isinstance(heard[0], ev.RoundOpened):
        return [_bare(msgspec.convert(deciding, ev.AnyEvent))]
    return [_bare(e) for e in heard[: place + 1]]


def _bare(event: ev.AnyEvent) -> Any:
    return type("Bare", (), {"event": event})()


@pytest.mark.parametrize("rules", ids())
def test_the_full_digest_can_be_recomputed(rules: str) -> None:
    """The recipe of docs/verdicts.md gives the full digest from the record, and notices a card told otherwise."""
    recompute = recipe("recompute_full")
    altered = 0
    for _, hidden in of(rules):
        told = json.loads(hidden)
        assert recompute(told) == told["digest"]
        for t in told["evidence"]:
            if t["event"].get("card", "??") != "??":
                t["event"]["card"] = "Jk"
                altered += 1
                assert recompute(told) != told["digest"]
                break
    assert altered


@pytest.mark.parametrize("rules", ids())
def test_records_do_not_depend_on_arrival(rules: str) -> None:
    """In another order of arrival, with repeats and other moments of judging, the records are the same bytes."""
    events = list(log(rules))
    random = Random(3)
    late = sorted(events + random.sample(events, 50), key=lambda e: e.at.timestamp() + random.uniform(0, 3))
    assert dict(records(late)) == dict(of(rules))


def dealt(*rounds: str) -> list[ev.AnyEvent]:
    """Rounds of the notation at one table, after its opening."""
    return list(parse("\n".join([OPEN, *rounds])))  # type: ignore[arg-type]  # of the union


def test_telemetry_is_the_whole_round_once_another_begins() -> None:
    """While its round is open a record ends with the evidence; then it holds the round, and the settlements in it."""
    rest = "S3$ante=paid:20 S1$ante=collected:10 ."
    first = dealt(f"@a {LATE} {rest}")
    (_, early), (_, closed) = records(first)[0], records([*first, *dealt(f"@a {LATE} {rest}", "@b")[len(first) :]])[0]
    so_far, whole = json.loads(early), json.loads(closed)
    assert (so_far["extent"], whole["extent"]) == ("so_far", "whole")
    assert so_far["telemetry"] == whole["telemetry"][: len(so_far["telemetry"])]
    assert so_far["telemetry"][-1]["type"] == "card.placed"
    assert whole["telemetry"][-1]["type"] == "round.closed"
    assert {k: v for k, v in so_far.items() if k not in ("extent", "telemetry")} == {
        k: v for k, v in whole.items() if k not in ("extent", "telemetry")
    }


def test_the_dealer_is_who_dealt_then() -> None:
    """The last dealer.changed before the deciding event counts, also when its round has left the kept history."""
    kept = OPEN.replace("-17", '-17{options={"rounds_kept":2}}')
    lawful = "S1$ante:10 nmb S1=9h^ C1=7dv C2=Td^ C3=2d^ C4=3d^ nmb C1^=7d S1$ante=paid:20 ."
    rounds = [f"@r{i} dealer:d{i} {lawful}" if i == 1 else f"@r{i} {lawful}" for i in range(1, 6)]
    events = list(parse("\n".join([kept, *rounds, f"@w {LATE} dealer:d9 .", f"@x {LATE} .", "@y"])))
    told = {t["round"]: t for t in (json.loads(r) for _, r in records(events))}  # type: ignore[arg-type]  # of the union
    assert told["w"]["dealer"] == "d1"
    assert told["x"]["dealer"] == "d9"
    docket = Docket(Witness("T1"))
    for event in events[:-40]:
        docket.hear(SOURCES[0], event.seq, event, 0, 0.0)  # type: ignore[arg-type]  # same
    docket.review(0.0)
    again = _written_and_read(docket)
    assert again.table.former == docket.table.former == "d1"
    assert again.table.dealers == docket.table.dealers


def _written_and_read(docket: Docket) -> Docket:
    """A docket as the next owner of its partition gets it."""
    from stream.worker.docket import round_record  # noqa: PLC0415  # beside its only use

    rounds = {key: round_record(1, (0, 0), value) for key, value in docket.unsaved(1)}
    docket.mark_saved(list(rounds))
    return Docket.read(docket.head(1, (0, 0)), rounds)


def test_without_a_dealer_none_is_named() -> None:
    """Where nobody said who deals, the record says nothing of it."""
    ((_, hidden),) = records(dealt(f"@a {LATE}"))
    assert "dealer" not in json.loads(hidden)


def test_a_correction_of_a_hidden_card_changes_the_record_alone() -> None:
    """A card that nobody saw, read anew: the body stays as it is, and the record names the right card."""
    events = dealt(f"@a {LATE}")
    wrong = next(e for e in events if isinstance(e, ev.CardDrawn) and e.draw == 3)
    assert wrong.card == "7d"
    cut = events[: events.index(wrong) + 3]
    right = msgspec.structs.replace(wrong, card="8s")
    last = max(e.seq for e in cut if e.device == wrong.device)
    fix = ev.EventCorrected(
        table=wrong.table, device=wrong.device, boot=0, seq=last + 1, at=cut[-1].at, clock_ms=5,
        corrects=ev.Identity(wrong.device, 0, wrong.seq), event=right,
    )  # fmt: skip
    ((said, before),), ((again, after),) = records(cut), records([*cut, fix])
    assert said == again
    assert b'"8s"' not in before or before != after


def test_a_record_too_large_is_cut_and_says_so() -> None:
    """Telemetry goes first, from its end, then evidence, then the deal; what is left fits, and the digest stays."""
    (hidden,) = (r for _, r in records(dealt(f"@a {LATE} .", "@b")))
    found = msgspec.json.decode(hidden, type=Unmasked)
    assert record(found) == hidden
    told = [len(record(found, size)) <= size for size in range(1900, len(hidden) + 1, 100)]
    assert all(told)
    some = json.loads(record(found, len(hidden) - 600))
    assert some["telemetry"] == json.loads(hidden)["telemetry"][: len(some["telemetry"])]
    assert some["cut"]["telemetry"] == len(found.telemetry) - len(some["telemetry"]) > 0
    assert "evidence" not in some["cut"]
    without = len(record(msgspec.structs.replace(found, telemetry=())))
    least = json.loads(record(found, without + 1024 - 160))
    assert least["telemetry"] == []
    assert least["cut"]["evidence"] > 0
    assert least["digest"] == found.digest
    (topic,) = (t for t in declared("judge", "") if t.name == EVIDENCE)
    assert int(topic.config["max.message.bytes"]) > LARGEST


def test_a_night_between_rounds_is_cut() -> None:
    """Ten hours of heartbeats after a round are more than a record can hold."""
    events = dealt(f"@a {LATE} .")
    begin = events[-1].at.replace(hour=13)
    beats = [
        ev.DeviceHeartbeat(
            table="T1", device=f"beat{k}", boot=0, seq=i, at=begin + timedelta(seconds=10 * i), clock_ms=5
        )
        for i in range(1300)
        for k in range(4)
    ]
    closing = dealt(f"@a {LATE} .", "@b")[-1]
    closing = msgspec.structs.replace(closing, at=closing.at.replace(hour=18))
    (hidden,) = (r for said, r in records([*events, *beats, closing]) if json.loads(said)["kind"] == "breach")
    told = json.loads(hidden)
    assert len(hidden) <= LARGEST
    assert told["cut"]["telemetry"] + len(told["telemetry"]) == len(beats) + len(events) - 4
    assert told["telemetry"][0]["type"] == "round.opened"


# --- in a docket


def judged_live(rules: str, events: Sequence[ev.AnyEvent], how: str, step: int, restart: int | None = None) -> Json:
    """A docket fed a few events at a time, published at once: the last body and record of each verdict in force.

    Each time it does all there is to do, or a `portion`, or what it does while it is `behind`: then it publishes and is
    written down with the rest undone. `restart`: at every so manyth step.
    """
    out: dict[str, tuple[bytes, bytes]] = {}
    seen: dict[str, set[bytes]] = {}
    revisions: dict[tuple[str, Any], bytes] = {}
    docket, further = Docket(Witness("T001")), 0
    i = 0
    while i < len(events) or docket.unsettled() or docket.pending:
        now = i / 1_000_000
        for k, event in enumerate(events[i : i + step], i):
            docket.hear(SOURCES[0], k, event, k, now)
        behind = how == "behind" and i < len(events)
        docket.review(now, portion=how == "portion", behind=behind)
        for name, pending in docket.due(Holds(0, 0, 0), now, behind=behind):
            issue = docket.issue(name, pending, 1)
            known = revisions.setdefault((name, issue.revision), issue.body)
            assert known == issue.body, "one revision with two bodies"
            if issue.verdict.status != "withdrawn":
                check_body(issue.body, issue.evidence)
            seen.setdefault(f"{name}.{issue.revision}.{sha256(issue.evidence).hexdigest()[:8]}", set()).add(
                issue.evidence
            )
            further += not issue.alert
            out[name] = (issue.body, issue.evidence)
        if restart and i // step % restart == 0 and i < len(events) and docket.table.arranged:
            docket = _written_and_read(docket)
        i += step
    assert all(len(v) == 1 for v in seen.values())
    assert further or how == "portion", rules
    return {k: v for k, v in out.items() if b'"status":"withdrawn"' not in v[0]}


@pytest.mark.parametrize("rules", ids())
@pytest.mark.parametrize("how", ["whole", "portion", "behind"])
@pytest.mark.parametrize("restart", [None, 4])
def test_a_docket_comes_to_the_records_of_replay(
    monkeypatch: pytest.MonkeyPatch, rules: str, restart: int | None, how: str
) -> None:
    """Published as the events come, with restarts or without, what stands last of each verdict is what replay says."""
    monkeypatch.setattr("stream.replay.table.PORTION", 200)  # less than there is to do
    monkeypatch.setattr("stream.worker.docket.JUDGED_EVERY", 100)
    random = Random(3)
    late = sorted(log(rules), key=lambda e: e.at + timedelta(seconds=random.choice([0, 0, 0, 60])))
    found = judged_live(rules, log(rules) if how == "whole" else late, how, 151 if how == "whole" else 37, restart)
    assert sorted(found.values()) == sorted(of(rules))


def test_what_was_published_by_another_is_told_again() -> None:
    """An owner that finds an alert, and does not know whether its evidence was sent, sends it under that revision."""
    docket = Docket(Witness("T1"))
    for k, event in enumerate(dealt(f"@a {LATE}")):
        docket.hear(SOURCES[0], k, event, k, 0.0)
    docket.review(0.0)
    ((name, pending),) = docket.due(Holds(0, 0, 0), 0.0, behind=False)
    first = docket.issue(name, pending, 4)
    assert first.alert
    docket.published[name].proof = ""
    docket.table.touched.add(docket.table.segments[-1].name)
    docket.review(0.0)
    ((name, pending),) = docket.due(Holds(0, 0, 0), 0.0, behind=False)
    again = docket.issue(name, pending, 5)
    assert not again.alert
    assert (again.revision, again.evidence) == (first.revision, first.evidence)
    docket.review(0.0)
    assert not docket.pending


def test_of_a_withdrawn_verdict_what_is_left_is_told() -> None:
    """Where the events of a verdict are gone its record has no digest; nothing is made up."""
    table = Witness("T1")
    for event in dealt(f"@a {LATE}"):
        table.hear(event)
    table.settle()
    (verdict,) = table.in_force()
    told = evidence(basis(View(), verdict), verdict)
    assert (told.digest, told.evidence, told.deal, told.telemetry) == (None, (), "", ())


# --- the command, the schema, the topic


def test_replay_writes_the_records_for_its_owner_only(tmp_path: Path) -> None:
    """One record a line in the order of the bodies, in a file that nobody else may read; stdout is as without it."""
    file = tmp_path / "telemetry.jsonl"
    file.write_bytes(b"\n".join(encode(e) for e in log(ids()[0])) + b"\n")
    hidden = tmp_path / "hidden.jsonl"
    with_, without = (
        CliRunner().invoke(main, ["replay", *more, str(file)]) for more in (["--evidence", str(hidden)], [])
    )
    assert with_.exit_code == 0
    assert with_.stdout_bytes == without.stdout_bytes
    assert list(zip(with_.stdout_bytes.splitlines(), hidden.read_bytes().splitlines(), strict=True)) == list(
        of(ids()[0])
    )
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600


def test_replay_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    """Records of every revision are not told by a file; a place that can't be written is said."""
    file = tmp_path / "telemetry.jsonl"
    file.write_bytes(b"")
    both = CliRunner().invoke(main, ["replay", "--revisions", "--evidence", str(tmp_path / "x"), str(file)])
    nowhere = CliRunner().invoke(main, ["replay", "--evidence", str(tmp_path / "no" / "x"), str(file)])
    assert (both.exit_code, nowhere.exit_code) == (2, 2)
    assert "No such file" in nowhere.stderr


def test_the_example_is_what_a_replay_gives() -> None:
    """The committed example is a record, byte for byte once it is canonical; its headers name verdict and revision."""
    found = orjson.loads((ROOT / "schemas" / "examples" / "evidence.json").read_bytes())
    assert canonical(found) == examples.evidence_record()
    alert, hidden = headers.verdict_example(), headers.evidence_example()
    assert hidden["misdeal-revision"] == alert["misdeal-revision"]
    assert hidden["ce_id"].rpartition(".")[0] == alert["ce_id"].rpartition(".")[0]
    assert hidden["ce_type"] == "misdeal.evidence.v1"


def test_every_field_of_a_record_has_a_meaning() -> None:
    """No field is unexplained, and no meaning left over."""
    schema = definitions.evidence()
    parts = {"Unmasked": schema, **{k: schema["$defs"][k] for k in ("Told", "Cut")}}
    assert {f"{k}.{f}" for k, part in parts.items() for f in part["properties"]} == set(meanings.EVIDENCE)


def test_topics_with_hidden_cards_say_who_may_read_them() -> None:
    """The plan names on stderr each topic that can hold a hidden card; the evidence topic is kept for five years."""
    told = CliRunner().invoke(main, ["topics", "plan", "--prefix", "north."])
    (line,) = [row for row in told.stdout.splitlines() if row.startswith(f"north.{EVIDENCE}\t")]
    assert line.split("\t")[1] == "8"
    assert "cleanup.policy=delete" in line
    assert f"retention.ms={5 * 365 * 24 * 3600 * 1000}" in line
    noted = {row.partition(":")[0].removeprefix("north.") for row in told.stderr.splitlines()}
    assert noted == {SOURCES[0], EVIDENCE, "surveillance.dead-letters.v1", "misdeal-judge-state-changelog"}
