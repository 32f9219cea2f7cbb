"""`misdeal replay`: the engine without a broker."""

import gc
import sys
from collections.abc import Iterator

import click
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, body, in_order, withdrawn
from stream.deal.wire import Reader, Refusal
from stream.files import lines
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids
from stream.tell import tell

SETTLE_EVERY = 512  # events of a table: bounds memory, and what is judged again


class Replay:
    """Tables fed from files; counts what could not be read."""

    def __init__(self, rules: str | None) -> None:
        self.rules = rules
        self.tables: dict[str, Table] = {}
        self.refused = 0
        self._reader = Reader()
        self._unsettled: dict[str, int] = {}

    def read(self, path: str, number: int, line: bytes) -> Table | None:
        """Take one line in; the table it is of, or None where it could not be read (said on stderr)."""
        event = self._reader.read(line)
        if isinstance(event, Refusal):
            self.refused += 1
            click.echo(f"{path}:{number}: {event.code}: {event.detail}", err=True)
            return None
        if self.rules is not None and isinstance(event, ev.TableOpened):
            event = replace(event, rules=self.rules)
        table = self.tables.get(event.table)
        if table is None:
            table = self.tables[event.table] = Table(event.table)
            self._unsettled[event.table] = 0
        table.hear(event)
        self._unsettled[event.table] += 1
        if self._unsettled[event.table] >= SETTLE_EVERY:
            table.settle()
            self._unsettled[event.table] = 0
        return table

    def in_force(self) -> list[Verdict]:
        """All verdicts in force, by `at` and `id`."""
        for table in self.tables.values():
            table.settle()
        found = [v for t in self.tables.values() for v in (*t.left, *t.in_force())]
        return in_order(found)


def revisions(table: Table, before: dict[str, Verdict]) -> Iterator[Verdict]:
    """What changed of a table's verdicts, the vanished ones withdrawn; `before` is brought up to date."""
    table.settle()
    left = {v.id for v in table.left}
    now = {v.id: v for v in (*table.left, *table.in_force())}
    table.left.clear()
    for name, verdict in now.items():
        if before.get(name) != verdict:
            yield verdict
    for name in [n for n in before if n not in now and n not in left]:
        yield withdrawn(before.pop(name))
    before.update(now)
    for name in left:
        before.pop(name, None)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--revisions",
    "every",
    is_flag=True,
    help="Print every revision as the events come, not only what is in force at the end.",
)
@click.option("--rules", metavar="ID", help="Judge every table under this rule set.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "text"]),
    default="json",
    show_default=True,
    help="json: one body a line; text: for people.",
)
def command(files: tuple[str, ...], every: bool, rules: str | None, form: str) -> None:
    """Judge telemetry FILES (.jsonl, .jsonl.gz, .jsonl.zst, or - for stdin) without a broker.

    Prints the verdicts in force, one canonical body a line, in order of `at` and `id`: byte for byte what a worker
    publishes for the same events. Exit 1 if a line could not be read.
    """
    if rules is not None and rules not in ids():
        raise click.UsageError(f"there is no rule set {rules!r}; there are {', '.join(ids())}")
    gc.set_threshold(100_000, 50, 100)  # events can't form cycles; the collector would walk the history again and again
    replay = Replay(rules)
    seen: dict[str, dict[str, Verdict]] = {}
    try:
        for path, number, line in lines(files):
            table = replay.read(path, number, line)
            if every and table is not None:
                for verdict in revisions(table, seen.setdefault(table.name, {})):
                    _print(verdict, form)
    except OSError as error:
        raise click.UsageError(f"{error.filename}: {error.strerror}") from error
    if not every:
        for verdict in replay.in_force():
            _print(verdict, form)
    late = sum(t.counts.too_late for t in replay.tables.values())
    if late:
        click.echo(f"{late} events came after their round had left the kept history; they are not judged", err=True)
    if form == "text" and not every:
        click.echo(
            f"{len(replay.tables)} tables, {sum(t.counts.repeated for t in replay.tables.values())} repeated events",
            err=True,
        )
    sys.exit(1 if replay.refused else 0)


def _print(verdict: Verdict, form: str) -> None:
    out = sys.stdout.buffer
    out.write(body(verdict) + b"\n" if form == "json" else f"{tell(verdict)}\n\n".encode())
