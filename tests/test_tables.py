"""`misdeal tables apply`: what it prints, and that a wrong file is refused with table, field and remedy."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stream.cli import main
from stream.deal import events as ev
from stream.deal.wire import Reader
from stream.deal.words import SENSES
from stream.openings import openings
from stream.replay.table import Table

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "tables.toml"
GOOD = """
[[table]]
table = "T1"
rules = "nj-double-down-stud-17"
seats = 7
shoe_side = "left"
decks = [{ id = "A", cards = 52 }]
limits = { min = 10, max = 1000 }
senses = ["draws", "placements"]
"""
AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def apply(path: Path, *more: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["tables", "apply", str(path), *more])


def read(output: str) -> list[ev.TableOpened]:
    """Read what was printed back like telemetry."""
    reader = Reader()
    found: list[Any] = [reader.read(line.encode()) for line in output.splitlines()]
    assert all(isinstance(e, ev.TableOpened) for e in found)
    assert reader.unknown_fields == 0
    return found


def test_the_example_applies() -> None:
    """The example in the docs gives one readable table.opened a table, with its defaults filled in."""
    result = apply(EXAMPLE)
    assert result.exit_code == 0, result.stderr
    first, second = read(result.stdout)
    assert (first.device, second.device) == ("console-DDS-01", "pit-3-desk")
    assert first.seq == second.seq == 0
    assert first.boot == second.boot > 1_700_000_000
    assert "deck_zone" not in first.senses
    assert len(first.senses) == len(SENSES) - 7
    assert second.options == {"I-17-d": "not_required", "rounds_kept": 120}


def test_it_opens_the_table_for_the_engine(tmp_path: Path) -> None:
    """What is applied again is a restart of the console to the engine, and no fault."""
    path = tmp_path / "tables.toml"
    path.write_text(GOOD)
    table = Table("T1")
    for boot in (1000, 2000):
        (event,), wrong = openings(path.read_text(), AT, boot)
        assert wrong == []
        table.hear(event)
    table.settle()
    assert list(table.in_force()) == []


def test_the_time_can_be_set(tmp_path: Path) -> None:
    """For recorded files a time can be given, with its offset; without one it is refused as wrong usage."""
    path = tmp_path / "tables.toml"
    path.write_text(GOOD)
    (opened,) = read(apply(path, "--at", "2026-01-05T13:00:00+01:00").stdout)
    assert opened.at == AT
    for text in ("2026-01-05T13:00:00", "noon"):
        result = apply(path, "--at", text)
        assert result.exit_code == 2
        assert "--at" in result.stderr


@pytest.mark.parametrize(
    ("before", "after", "field", "remedy"),
    [
        ("seats = 7", "seats = 12", "seats", "1 to 9"),
        ("seats = 7", "", "seats", "seats = 7"),
        ("seats = 7", "seats = 7\nsens = []", "sens", "did you mean senses"),
        ('shoe_side = "left"', 'shoe_side = "west"', "shoe_side", '"left" or "right"'),
        ("cards = 52", "cards = 51", "decks", "cards is 52 or 53"),
        ('"A", cards = 52 }', '"A", cards = 52 }, { id = "A", cards = 52 }', "decks", "an id of its own"),
        ('id = "A"', 'id = "Ä"', "decks", "without blanks"),
        ("min = 10,", "min = 2000,", "limits", "exchange"),
        ('table = "T1"', "", "table", "name the table"),
        ('table = "T1"', 'table = "T 1"', "table", "without blanks"),
        ('table = "T1"', 'table = "T1"\ncurrency = "usd"', "currency", "ISO 4217"),
        ("double-down-stud-17", "double-up-stud-17", "rules", "nj-double-down-stud-17"),
        ('"draws", "placements"', '"draw"', "senses", "draws, identity"),
        ('senses = ["draws", "placements"]', 'senses_except = ["draw"]', "senses_except", "draws, identity"),
        ('senses = ["draws"', 'senses_except = []\nsenses = ["draws"', "senses_except", "one of the two"),
        ('senses = ["draws", "placements"]', "", "senses", "senses_except"),
        ("[[table]]", "[[table]]\noptions = { I-17-dd = 1 }", "options", "did you mean I-17-d"),
        ("[[table]]", '[[table]]\noptions = { I-17-d = "maybe" }', "options", '"required" or "not_required"'),
        ("[[table]]", "[[table]]\noptions = { auto_shoe = 1 }", "options", "true or false"),
        ("[[table]]", "[[table]]\noptions = { rounds_kept = -1 }", "options", "0 or more"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, before: str, after: str, field: str, remedy: str) -> None:
    """Each wrong field is told with its table, its name and the remedy, and nothing is printed."""
    assert before in GOOD
    path = tmp_path / "tables.toml"
    other = GOOD.replace('"T1"', '"T2"')
    path.write_text(other + GOOD.replace(before, after, 1))
    result = apply(path)
    assert (result.exit_code, result.stdout) == (1, "")
    said = next(line for line in result.stderr.splitlines() if f"field {field}:" in line)
    assert "T1" in said or "T 1" in said or "number 2" in said
    assert remedy in said.partition("Remedy:")[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "[[table]]"), ("table = 3", "[[table]]"), ("[[table]", "no TOML"), ("seats = 7\n" + GOOD, "field seats"),
     (GOOD + GOOD, "stands twice")],
)  # fmt: skip
def test_a_wrong_file_is_told(tmp_path: Path, text: str, said: str) -> None:
    """A file that lists no tables, is no TOML, or says a table twice is refused as a whole."""
    path = tmp_path / "tables.toml"
    path.write_text(text)
    result = apply(path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    """A file that is not there ends with 2."""
    assert apply(tmp_path / "none.toml").exit_code == 2
