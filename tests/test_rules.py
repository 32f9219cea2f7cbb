"""`misdeal rules`: the list, what is told of a name, and what of the law is judged."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stream import coverage
from stream.cli import main
from stream.deal.notation import parse
from stream.deal.wire import encode
from stream.rulebook.paragraphs import ids, load

DDS = "nj-double-down-stud-17"
TABLES = Path(__file__).parents[1] / "docs" / "examples" / "tables.toml"


def rules(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["rules", *arguments])


def objects(*arguments: str) -> list[dict[str, Any]]:
    """Run the command for JSON, and read each line."""
    result = rules(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_list_names_every_rule_set() -> None:
    """Each rule set held is one line, with its game, edition and counts."""
    found = {f["rules"]: f for f in objects("list")}
    assert tuple(found) == ids()
    assert (found[DDS]["game"], found[DDS]["paragraphs"], found[DDS]["atoms"]) == ("Double Down Stud", 10, 15)
    assert DDS in rules("list").stdout


def test_show_tells_a_paragraph() -> None:
    """A citation is told with heading, meaning, atoms, what is checked, how a device can err, and its readings."""
    said = rules("show", "13:69F-17.8(b)").stdout
    for text in (
        "Order and facing of the deal", "17.8(b)-1", "17.8(b)-2", "17.8(b)-3", "checked", "alike",
        "A lost placement reading", "I-17-b", "any_order", "The text names it first.",
        "not specified in the cited text",
    ):  # fmt: skip
        assert text in said


@pytest.mark.parametrize(
    ("name", "paragraphs", "atoms", "read"),
    [
        ("17.8(a)2.iv-hands", ["13:69F-17.8(a)2.iv"], ["17.8(a)2.iv-hands"], []),
        ("17.8(b)", ["13:69F-17.8(b)"], ["17.8(b)-1", "17.8(b)-2", "17.8(b)-3"], ["I-17-b", "I-17-player"]),
        ("I-17-cd", ["13:69F-17.8(d)"], ["17.8(d)"], ["I-17-cd"]),
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
    lines = rules("coverage", held).stdout.splitlines()
    assert len(lines) == 1 + len(found)


def test_coverage_counts_scenarios() -> None:
    """In a checkout each atom has its scenarios counted by what they show."""
    found = {f["atom"]: f for f in objects("coverage", DDS)}
    assert found["17.8(a)"]["scenarios"]["breach"] >= 2
    assert "near" in found["17.8(e)"]["scenarios"]


def test_coverage_is_blank_without_scenarios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the scenario files are not at hand nothing is said of them."""
    monkeypatch.setattr(coverage, "SCENARIOS", tmp_path)
    assert {f["scenarios"] for f in objects("coverage")} == {None}
    assert rules("coverage", DDS).exit_code == 0


def test_coverage_of_the_tables_of_a_file() -> None:
    """By a TOML file each table has its own answer, and a missing sense is named."""
    found = {(f["table"], f["atom"]): f for f in objects("coverage", "--table", str(TABLES))}
    assert found["DDS-01", "17.8(e)"]["monitored"]
    assert found["DDS-01", "17.8(a)2.ii"]["why_not"] == "the table lacks deck_zone"
    assert found["DDS-02", "17.8(a)2.i"]["why_not"] == "the table lacks decks, shuffler"
    assert "DDS-02" in rules("coverage", "--table", str(TABLES)).stdout


def test_coverage_of_telemetry(tmp_path: Path) -> None:
    """By a telemetry file the latest table.opened counts, and without its list approval is not monitored."""
    path = tmp_path / "t.jsonl"
    lines = [encode(e) for e in parse(f'- open:{DDS}{{approved=["SH1"]}} nmb shut open:{DDS}')]
    path.write_bytes(b"\n".join(lines))
    found = {f["atom"]: f for f in objects("coverage", "--table", str(path))}
    assert found["17.8(a)1-shoe"]["why_not"] == "table.opened gives no list approved"
    assert found["17.8(a)1-order"]["monitored"]


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
