"""`misdeal rules`: what is held of the law, a paragraph with how it is read, and what is judged of it."""

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from stream.coverage import Row, counted, rows, tables_in
from stream.deal.events import TableOpened
from stream.deal.wire import canonical
from stream.describe import Named, described, find, names
from stream.openings import openings
from stream.rulebook.paragraphs import ids, load

FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: for people; json: one object a line.",
)


def _json(found: Iterable[dict[str, Any]]) -> None:
    for item in found:
        sys.stdout.buffer.write(canonical(item) + b"\n")


def _columns(lines: Sequence[Sequence[str]]) -> None:
    """Print lines in columns, each as wide as its widest cell."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))] if lines else []
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


@click.group()
def command() -> None:
    """Tell what is held of the law, and what of it is judged."""


@command.command(name="list")
@FORMAT
def list_(form: str) -> None:
    """Print every rule set held, one a line."""
    found = [
        {
            "rules": law.rules.id,
            "game": law.rules.game,
            "edition": law.rules.edition,
            "in_force": law.rules.in_force.isoformat(),
            "paragraphs": len(law.rules.paragraph),
            "atoms": len(law.rules.atom),
        }
        for law in map(load, ids())
    ]
    if form == "json":
        _json(found)
        return
    _columns(
        [
            [str(f["rules"]), str(f["game"]), str(f["edition"]), f"{f['paragraphs']} paragraphs", f"{f['atoms']} atoms"]
            for f in found
        ]
    )


@command.command()
@click.argument("name")
@FORMAT
def show(name: str, form: str) -> None:
    """Tell of a paragraph ("13:69F-17.8(b)"), an atom, an interpretation or a whole rule set.

    What it says in our own words, what is checked and how a device's fault can look the same, and how its open
    questions are read.
    """
    found: list[Named] = find(name)
    if not found:
        close = get_close_matches(name, names(), 3, 0.5)
        meant = f"did you mean {' or '.join(close)}?" if close else "see `misdeal rules list` and `coverage`"
        raise click.UsageError(f"nothing is called {name!r}; {meant}")
    if form == "json":
        _json(n.plain for n in found)
        return
    click.echo("\n\n".join(described(n) for n in found))


@command.command()
@click.argument("rules", nargs=-1)
@click.option(
    "--table",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Judge by the senses of its tables: TOML as for `tables apply`, or telemetry with table.opened.",
)
@FORMAT
def coverage(rules: tuple[str, ...], file: str | None, form: str) -> None:
    """Print every atom of RULES (all by default), one a line: monitored or why not, senses, readings, scenarios."""
    unknown = [r for r in rules if r not in ids()]
    if unknown:
        raise click.UsageError(f"there is no rule set {unknown[0]!r}; there are {', '.join(ids())}")
    tables = None if file is None else _tables(file)
    first = True
    for opened in [None] if tables is None else tables:
        for held in ids() if opened is None else (opened.rules,):
            if rules and held not in rules:
                continue
            found = rows(load(held), opened)
            if form == "json":
                _json(_plain(r, opened) for r in found)
                continue
            if not first:
                click.echo()
            first = False
            _tell(found, opened)


def _plain(row: Row, opened: TableOpened | None) -> dict[str, Any]:
    return asdict(row) | ({"table": opened.table} if opened else {})


def _tell(found: Sequence[Row], opened: TableOpened | None) -> None:
    rules = load(found[0].rules).rules
    judged = sum(r.monitored for r in found)
    at = f" at table {opened.table}" if opened else ""
    click.echo(f"{rules.id}, {rules.game}, {rules.edition}: {judged} of {len(found)} monitored{at}")
    _columns(
        [
            [
                f"  {r.paragraph}",
                r.atom or "-",
                "monitored" if r.monitored else f"no: {r.why_not}",
                " ".join(r.senses) or "-",
                " ".join(r.interpretations) or "-",
                counted(r.scenarios),
            ]
            for r in found
        ]
    )


def _tables(file: str) -> list[TableOpened]:
    """The tables of a file; ends the command with 1 where it holds none, or something wrong."""
    if not file.endswith(".toml"):
        try:
            found = list(tables_in(file).values())
        except OSError as error:
            raise click.UsageError(f"{file}: {error}") from error
        wrong = [f"table {t.table}: no rule set {t.rules} is held" for t in found if t.rules not in ids()]
        if not found:
            wrong = ["no line of it is a table.opened; `misdeal check` says why"]
    else:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        found, complaints = openings(text, datetime.now(UTC), int(time.time()))
        wrong = [str(c) for c in complaints]
    for what in wrong:
        click.echo(f"{file}: {what}", err=True)
    if wrong:
        sys.exit(1)
    return found
