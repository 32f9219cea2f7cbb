"""`misdeal rules`: what is held of the law, a paragraph with how it is read, and what is judged of it."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from stream.coverage import Row, lacking, rows, tables_in
from stream.deal.events import TableOpened
from stream.deal.verdicts import NOT_SPECIFIED
from stream.deal.wire import canonical
from stream.describe import MANUAL, SHOWS, Line, Named, counted, described, find, names, said
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


UNBOUNDED: Final = 4000  # columns: a file or a pipe has no edge at which to fold


def _print(told: RenderableType, *, prose: bool = False) -> None:
    """Print for people: folded at a terminal's edge and never cut; in a file or a pipe a table is as wide as it is."""
    terminal = sys.stdout.isatty()
    width = None if terminal else PROSE if prose else UNBOUNDED
    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)
    if prose and console.width > PROSE:
        console = Console(file=sys.stdout, width=PROSE, highlight=False, soft_wrap=False)
    with console.capture() as kept:
        console.print(told)
    click.echo("\n".join(line.rstrip() for line in kept.get().splitlines()))


PROSE: Final = 110  # columns: longer lines are hard to read


def _narrow() -> bool:
    """Whether a terminal is too narrow for one atom a line, so that an entry takes several."""
    return sys.stdout.isatty() and Console(file=sys.stdout).width < WIDE


WIDE: Final = 190  # columns


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(_SHORT.get(column, column), overflow="fold", justify="right" if column in SHOWS else "left")
    return table


_SHORT: Final = {"undetermined": "undet."}


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
            "cites": f"{law.rules.citation(law.rules.paragraph[0].cite)} to {law.rules.paragraph[-1].cite}",
            "paragraphs": len(law.rules.paragraph),
            "atoms": len(law.rules.atom),
            "monitored": sum(a.unmonitored is None for a in law.rules.atom),
            "remedies": sum(a.remedy.code != NOT_SPECIFIED for a in law.rules.atom),
            "interpretations": len(law.rules.interpretation),
        }
        for law in map(load, ids())
    ]
    if form == "json":
        _json(found)
        return
    if _narrow():
        table = _table("rule set", "cites", "edition", "holds")
        for f in found:
            holds = f"{f['paragraphs']} paragraphs, {f['atoms']} atoms: {f['monitored']} monitored, {f['remedies']} due"
            edition = f"{f['edition']}; held from {f['in_force']}"
            table.add_row(f"{f['rules']}\n{f['game']}", str(f["cites"]), edition, holds)
    else:
        table = _table("rule set", "game", "cites", "edition", "in force", "paragraphs", "atoms", "monitored", "due")
        for f in found:
            table.add_row(*(str(f[k]) for k in (
                "rules", "game", "cites", "edition", "in_force", "paragraphs", "atoms", "monitored", "remedies",
            )))  # fmt: skip
    _print(table)


@command.command()
@click.argument("name")
@FORMAT
def show(name: str, form: str) -> None:
    """Tell of a paragraph ("13:69F-17.8(b)"), an atom, a code, an interpretation or a whole rule set.

    What it says in our own words; what is checked and how a device's fault can look the same; what is due, before
    what, by whom; what it sets aside; how its open questions are read; and the scenarios that show it.
    """
    found: list[Named] = find(name)
    if not found:
        close = get_close_matches(name, names(), 3, 0.5)
        meant = f"did you mean {' or '.join(close)}?" if close else "see `misdeal rules list` and `coverage`"
        raise click.UsageError(f"nothing is called {name!r}; {meant}")
    if form == "json":
        _json(n.plain for n in found)
        return
    for n, named in enumerate(found):
        if n:
            click.echo()
        _print(Group(*_blocks(described(named))), prose=True)


def _blocks(lines: Iterable[Line]) -> Iterator[RenderableType]:
    """Headings as they are, and what stands below each in two columns."""
    grid: Table | None = None
    for line in lines:
        if line.level == "entry":
            if grid is None:
                grid = Table.grid(padding=(0, 2, 0, 0))
                grid.add_column(min_width=15, no_wrap=True, style="dim")
                grid.add_column(overflow="fold")
            grid.add_row(f"  {line.label}", Text(line.text))
            continue
        if grid is not None:
            yield grid
            yield ""
            grid = None
        yield Text(line.text, style="bold" if line.level == "title" else "")
    if grid is not None:
        yield grid


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
    """Print every atom of RULES (all by default), one a line.

    Monitored, or why not; the senses it needs; what is due after it; the open questions that bear on it; how many
    scenarios show it broken, nearly so, remedied, over-reacted to and undetermined. An atom is covered where code
    judges it and scenarios show it broken and nearly so. With --table: what is not monitored at each table of the
    file, which sense is lacking, and which readings the table sets.
    """
    unknown = [r for r in rules if r not in ids()]
    if unknown:
        raise click.UsageError(f"there is no rule set {unknown[0]!r}; there are {', '.join(ids())}")
    tables = None if file is None else _tables(file)
    every: list[Row] = []
    for opened in [None] if tables is None else tables:
        for held in ids() if opened is None else (opened.rules,):
            if rules and held not in rules:
                continue
            found = rows(load(held), opened)
            if form == "json":
                _json(_plain(r, opened) for r in found)
                continue
            if every:
                click.echo()
            every += found
            _tell(found, opened)
    if every and tables is None:
        click.echo(f"\n{sum(r.covered for r in every)} of {len(every)} atoms covered")


def _plain(row: Row, opened: TableOpened | None) -> dict[str, Any]:
    return asdict(row) | ({"table": opened.table} if opened else {"covered": row.covered})


def _tell(found: Sequence[Row], opened: TableOpened | None) -> None:
    rules = load(found[0].rules).rules
    judged = sum(r.monitored for r in found)
    at = f" at table {opened.table}" if opened else ""
    click.echo(f"{rules.id}, {rules.game}, {rules.edition}: {judged} of {len(found)} monitored{at}")
    narrow = _narrow()
    table = (
        _table("paragraph, atom, code", "monitored, due", "senses, read as", "scenarios")
        if narrow
        else _table("paragraph", "atom", "code", "monitored", "due", "senses", "read as", *SHOWS)
    )
    for r in found:
        names = (r.paragraph, r.atom or "-", r.code or "-")
        senses = " ".join([*r.senses, *([f"list:{r.needs_list}"] if r.needs_list else [])]) or "-"
        read = " ".join(_read(i, opened) for i in r.interpretations) or "-"
        if narrow:
            table.add_row(
                "\n".join(names), f"{_monitored(r)}\n{r.remedy or '-'}", f"{senses}\n{read}", counted(r.scenarios)
            )
        else:
            shown = ("" if r.scenarios is None else str(r.scenarios.get(s) or "-") for s in SHOWS)
            table.add_row(*names, _monitored(r), r.remedy or "-", senses, read, *shown)
    _print(table)
    if opened is not None:
        _lacks(found, opened)


def _monitored(r: Row) -> str:
    if not r.monitored:
        return f"no: {r.why_not}"
    return MANUAL if r.manual else "yes"


def _read(interpretation: str, opened: TableOpened | None) -> str:
    """An interpretation, with the reading where a table sets one."""
    value = opened.options.get(interpretation) if opened else None
    return interpretation if value is None else f"{interpretation}={said(value)}"


def _lacks(found: Sequence[Row], opened: TableOpened) -> None:
    """Which senses a table lacks, and which atoms are not monitored for it."""
    silent = [r for r in found if not r.monitored]
    for sense in dict.fromkeys(s for r in silent for s in lacking(r.senses, opened)):
        atoms = [str(r.atom) for r in silent if sense in r.senses]
        click.echo(f"lacks {sense}: not monitored {', '.join(atoms)}")
    for r in silent:
        if not lacking(r.senses, opened):
            click.echo(f"{r.why_not}: not monitored {r.atom}")
    click.echo(f"{len(found) - len(silent)} of {len(found)} atoms monitored at table {opened.table}")


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
