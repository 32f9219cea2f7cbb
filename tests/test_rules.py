"""`misdeal rules`: the list, what is told of a name, and what of the law is judged."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stream import coverage, describe
from stream.cli import main
from stream.deal.notation import parse
from stream.deal.wire import encode
from stream.rulebook.paragraphs import ids, load

DDS = "nj-double-down-stud-17"
ATOMS = {"nj-double-cross-25": 15, DDS: 15, "nj-winners-pot-33": 15, "nsw-let-it-ride": 20}
ATOMS_OF_12 = load("nsw-let-it-ride").rules.atom
TABLES = Path(__file__).parents[1] / "docs" / "examples" / "tables.toml"


def rules(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["rules", *arguments])


def objects(*arguments: str) -> list[dict[str, Any]]:
    """Run the command for JSON, and read each line."""
    result = rules(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def at_terminal(columns: int, *arguments: str) -> str:
    """Run the command at a terminal that is so wide."""
    ours, its = pty.openpty()
    run = [sys.executable, "-m", "stream", "rules", *arguments]
    child = subprocess.Popen(run, stdout=its, env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm"})
    os.close(its)
    out = bytearray()
    with contextlib.suppress(OSError):  # how Linux says that nobody holds the other end any more
        while got := os.read(ours, 65536):
            out += got
    os.close(ours)
    assert child.wait() == 0
    return re.sub(r"\x1b\[[0-9;]*m|\r", "", out.decode())


def test_list_names_every_rule_set() -> None:
    """Each rule set held is one line, with its game, edition and counts."""
    found = {f["rules"]: f for f in objects("list")}
    assert tuple(found) == ids()
    assert {r: found[r]["atoms"] for r in ATOMS} == ATOMS
    assert (found["nj-winners-pot-33"]["remedies"], found[DDS]["remedies"]) == (15, 0)
    assert (found[DDS]["game"], found[DDS]["paragraphs"], found[DDS]["atoms"]) == ("Double Down Stud", 10, 15)
    text = rules("list").stdout
    assert all(r in text for r in ATOMS)
    assert "rule 12.1 to 12.13" in text


def test_show_tells_a_paragraph() -> None:
    """A citation is told with heading, meaning, atoms, what is checked, how a device can err, and its readings."""
    said = rules("show", "13:69F-17.8(b)").stdout
    for text in (
        "Order and facing of the deal", "17.8(b)-1", "17.8(b)-2", "17.8(b)-3", "checked", "alike",
        "A lost placement reading", "I-17-b", "any_order", "The text names it first.",
        "not specified in the cited text",
    ):  # fmt: skip
        assert text in said


def test_show_tells_a_duty() -> None:
    """Of an irregularity is told what is due, before what, by whom, what it sets aside, and what shows it."""
    said = " ".join(rules("show", "13:69F-33.12(b)").stdout.split())
    for text in (
        "Cards face up in the shoe or the deck", "irregularity, critical, scope round",
        "Put the card into the discard rack unused and go on with the next",
        "before: the next placement; the rack by the end of the round; by the dealer", "`card_discarded_next_used`",
        "ordered in 13:69F-33.10, 33.11", "sets aside 13:69F-33.12(b)", "gives way to 33.12(b)-2, 33.12(b)-3",
        "The round ends", "I-33-boxburn", "rack_then_burn (the only one held)", "A shoe reader whose face sensor",
        "nj-winners-pot-33.txt:", "the ninth card is found face up and racked",
    ):  # fmt: skip
        assert text in said
    assert "gives way to" not in rules("show", "33.12(b)-3").stdout


def test_show_tells_the_readings() -> None:
    """An interpretation is told with its question, the readings a table may set, why, and the atoms it bears on."""
    said = " ".join(rules("show", "I-33-df").stdout.split())
    for text in ("Is a hand that was left out", "split (default), d", "Else one of the two", "33.12(d), 33.12(f)"):
        assert text in said
    assert "no atom" in rules("show", "I-25-52dup").stdout


def test_show_tells_what_only_people_report() -> None:
    """Of an atom that no device can show it is said."""
    assert "a person's report only" in rules("show", "12.11.3").stdout
    assert "a person's report only" not in rules("show", "12.11.4").stdout


def test_show_lists_scenarios() -> None:
    """In a checkout the scenarios of an atom are named with what they show and where they stand."""
    (found,) = objects("show", "33.12(b)-1")
    ((atom,),) = (p["atoms"] for p in found["paragraphs"])
    assert {"breach", "near", "remedied", "over"} <= {s["shows"] for s in atom["scenarios"]}
    lines = (describe.SCENARIOS / "nj-winners-pot-33.txt").read_text().splitlines()
    assert all(lines[s["line"] - 1] == f"{s['atom']} {s['shows']}: {s['title']}" for s in atom["scenarios"])


@pytest.mark.parametrize(
    ("name", "paragraphs", "atoms", "read"),
    [
        ("17.8(a)2.iv-hands", ["13:69F-17.8(a)2.iv"], ["17.8(a)2.iv-hands"], []),
        ("17.8(b)", ["13:69F-17.8(b)"], ["17.8(b)-1", "17.8(b)-2", "17.8(b)-3"], ["I-17-b", "I-17-player"]),
        ("I-17-cd", ["13:69F-17.8(d)"], ["17.8(d)"], ["I-17-cd"]),
        ("i-33-DF", ["13:69F-33.12(d)", "13:69F-33.12(f)"], ["33.12(d)", "33.12(f)"], ["I-33-df"]),
        ("33.12(b)-1", ["13:69F-33.12(b)"], ["33.12(b)-1"], ["I-33-boxburn"]),
        ("13:69F-25.7(e)2", ["13:69F-25.7(e)2"], ["25.7(e)2-m", "25.7(e)2-d"], ["I-25-both", "I-25-recount"]),
        ("rule 12.9.1", ["rule 12.9.1"], ["12.9.1"], ["I-NSW-own"]),
        ("rule 12.6", ["rule 12.6"], ["12.6-a", "12.6-b"], ["I-NSW-6gap", "I-NSW-any"]),
        ("button_not_moved", ["13:69F-33.12(g)"], ["33.12(g)"], ["I-33-g"]),
    ],
)
def test_show_finds_names(name: str, paragraphs: list[str], atoms: list[str], read: list[str]) -> None:
    """Atoms, short citations and interpretations are found too."""
    (found,) = objects("show", name)
    assert [p["cite"] for p in found["paragraphs"]] == paragraphs
    assert [a["id"] for p in found["paragraphs"] for a in p["atoms"]] == atoms
    assert sorted(found["interpretations"]) == read


@pytest.mark.parametrize("held", ids())
def test_show_tells_a_whole_rule_set(held: str) -> None:
    """Of a rule set every paragraph, atom and interpretation is told, and each monitored atom says what is checked."""
    (found,) = objects("show", held)
    data = load(held).rules
    assert [p["cite"] for p in found["paragraphs"]] == [data.citation(p.cite) for p in data.paragraph]
    told = [a for p in found["paragraphs"] for a in p["atoms"]]
    assert {a["id"] for a in told} == {a.id for a in data.atom}
    assert [a["id"] for a in told if a["unmonitored"] is None and not a["checks"]] == []
    assert found["interpretations"].keys() == data.interpretation.keys()
    text = rules("show", held).stdout
    assert all(p.heading in text for p in data.paragraph)


def test_show_helps_with_a_name_that_is_none() -> None:
    """An unknown name is wrong usage, and near names are offered."""
    result = rules("show", "17.8(b)-4")
    assert result.exit_code == 2
    assert "17.8(b)-1" in result.stderr


@pytest.mark.parametrize("held", ids())
def test_coverage_holds_every_paragraph_and_atom(held: str) -> None:
    """No paragraph and no atom is left out, and an atom that is not monitored says why."""
    data = load(held).rules
    found = objects("coverage", held)
    assert {f["paragraph"] for f in found} == {data.citation(p.cite) for p in data.paragraph}
    assert sorted(f["atom"] for f in found) == sorted(a.id for a in data.atom)
    assert all(f["monitored"] == (f["why_not"] is None) for f in found)
    assert all((f["remedy"] is not None) == (f["kind"] == "irregularity") or f["atom"] == "33.12(k)" for f in found)
    title, heads, *lines, blank, last = rules("coverage", held).stdout.splitlines()
    assert held in title
    assert {"atom", "monitored", "senses", "due", "breach", "near"} <= set(heads.split())
    assert [line.split()[0] for line in lines if line] == [f["paragraph"].split()[0] for f in found]
    assert (blank, last) == ("", f"{len(found)} of {len(found)} atoms covered")


def test_coverage_ends_with_all_atoms() -> None:
    """Of all rule sets each atom is one line, and the last line counts those covered."""
    lines = rules("coverage").stdout.splitlines()
    total = sum(len(load(r).rules.atom) for r in ids())
    assert lines[-1] == f"{total} of {total} atoms covered"
    (told,) = [line for line in lines if "12.11.3 " in line]
    assert "by a person's report only" in told
    cited = {f["paragraph"] for f in objects("coverage")}
    assert sum(any(line.startswith(f"{p} ") for p in cited) for line in lines) == total


@pytest.mark.parametrize("columns", [60, 80, 120, 250])
def test_nothing_is_cut_off(columns: int) -> None:
    """At a terminal of any width nothing of the table is cut off; it is folded where it must be."""
    said = at_terminal(columns, "coverage", "nsw-let-it-ride")
    letters = Counter("".join(said.split()))
    wanted = Counter("".join(a.id + a.code + "".join((*a.senses, *a.interpretations)) for a in ATOMS_OF_12))
    assert wanted <= letters
    assert all(len(line) <= columns for line in said.splitlines()[1:])


def test_coverage_counts_scenarios() -> None:
    """In a checkout each atom has its scenarios counted by what they show."""
    found = {f["atom"]: f for f in objects("coverage", DDS)}
    assert found["17.8(a)"]["scenarios"]["breach"] >= 2
    assert "near" in found["17.8(e)"]["scenarios"]


def test_coverage_is_blank_without_scenarios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the scenario files are not at hand nothing is said of them."""
    monkeypatch.setattr(describe, "SCENARIOS", tmp_path)
    assert {f["scenarios"] for f in objects("coverage")} == {None}
    assert rules("coverage", DDS).exit_code == 0


def test_coverage_of_the_tables_of_a_file() -> None:
    """By a TOML file each table has its own answer, and a missing sense is named."""
    found = {(f["table"], f["atom"]): f for f in objects("coverage", "--table", str(TABLES))}
    assert found["DDS-01", "17.8(e)"]["monitored"]
    assert found["DDS-01", "17.8(a)2.ii"]["why_not"] == "the table lacks deck_zone"
    assert found["DDS-02", "17.8(a)2.i"]["why_not"] == "the table lacks decks, shuffler"
    said = rules("coverage", "--table", str(TABLES)).stdout
    assert "lacks deck_zone: not monitored 17.8(a)2.ii, 17.8(a)2.iii, 17.8(a)2.iv-hands" in said
    assert "I-17-d=not_required" in said
    assert said.splitlines()[-1] == "7 of 15 atoms monitored at table DDS-02"


def test_coverage_of_telemetry(tmp_path: Path) -> None:
    """By a telemetry file the latest table.opened counts, and without its list approval is not monitored."""
    path = tmp_path / "t.jsonl"
    lines = [encode(e) for e in parse(f'- open:{DDS}{{approved=["SH1"]}} nmb shut open:{DDS}')]
    path.write_bytes(b"\n".join(lines))
    found = {f["atom"]: f for f in objects("coverage", "--table", str(path))}
    assert found["17.8(a)1-shoe"]["why_not"] == "table.opened gives no list approved"
    assert found["17.8(a)1-order"]["monitored"]
    assert "no list approved: not monitored 17.8(a)1-shoe" in rules("coverage", "--table", str(path)).stdout


def test_coverage_of_a_table_of_each_rule_set(tmp_path: Path) -> None:
    """A table of any rule set that lacks a sense is told which of its atoms are not monitored for it."""
    for held in ids():
        path = tmp_path / f"{held}.jsonl"
        path.write_bytes(b"\n".join(encode(e) for e in parse(f'- open:{held}{{senses=["placements","facing"]}}')))
        found = objects("coverage", "--table", str(path))
        assert {f["atom"] for f in found if f["monitored"]} == {
            a.id for a in load(held).rules.atom if {"placements", "facing"} >= set(a.senses)
        }
        assert all("lacks" in f["why_not"] for f in found if not f["monitored"])


def test_coverage_refuses_what_it_can_not_use(tmp_path: Path) -> None:
    """An unknown rule set is wrong usage; a file without tables, or with a wrong one, is wrong input."""
    assert rules("coverage", "nj-none").exit_code == 2
    for name, text in (("t.jsonl", ""), ("t.toml", "[[table]]\ntable = 'T1'"), ("u.jsonl", "")):
        path = tmp_path / name
        path.write_text(text)
        result = rules("coverage", "--table", str(path))
        assert (result.exit_code, result.stdout) == (1, "")
        assert name in result.stderr
    path = tmp_path / "v.jsonl"
    path.write_bytes(encode(parse("- open:nj-none")[0]))
    result = rules("coverage", "--table", str(path))
    assert result.exit_code == 1
    assert "nj-none" in result.stderr


def test_the_page_is_up_to_date() -> None:
    """docs/coverage.md is what `python -m stream.coverage` writes."""
    assert coverage.PAGE.read_text() == coverage.page(), "run python -m stream.coverage"
