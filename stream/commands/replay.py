"""`misdeal replay`: the engine without a broker."""

import gc
import os
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import click
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, body, in_order, withdrawn
from stream.deal.wire import Reader, Refusal
from stream.files import lines
from stream.replay.evidence import Witness, basis, evidence, record
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids
from stream.tell import tell

ARRANGED_EVERY = 512  # events of a table: bounds memory


class Replay:
    """Tables fed from files; counts what could not be read."""

    def __init__(self, rules: str | None, *, evidence: bool = False) -> None:
        self.rules = rules
        self.kind = Witness if evidence else Table
        self._left: dict[str, bytes] = {}  # evidence records of rounds that have left the kept history, compressed
        self.tables: dict[str, Table] = {}
        self.refused = 0
        self._reader = Reader()
        self._waiting: dict[str, int] = {}

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
            table = self.tables[event.table] = self.kind(event.table)
            self._waiting[event.table] = 0
        table.hear(event)
        self._waiting[event.table] += 1
        if self._waiting[event.table] >= ARRANGED_EVERY:
            table.arrange()
            self._put_by(table)
            self._waiting[event.table] = 0
        return table

    def in_force(self) -> list[Verdict]:
        """All verdicts in force, by `at` and `id`."""
        for table in self.tables.values():
            table.settle()
            self._put_by(table)
        found = [v for t in self.tables.values() for v in (*t.left, *t.in_force())]
        return in_order(found)

    def _put_by(self, table: Table) -> None:
        """Keep the evidence of rounds that have just left the kept history."""
        if isinstance(table, Witness):
            gone, table.gone = table.gone, {}
            for v in reversed(table.left):
                if not gone:
                    break
                if v.id in gone:
                    self._left[v.id] = zlib.compress(record(evidence(basis(gone.pop(v.id), v), v)), 1)

    def evidence(self) -> Iterator[bytes]:
        """The evidence records of the verdicts in force, in their order."""
        where = {
            v.id: (table, segment.name)
            for table in self.tables.values()
            for segment in table.segments
            for v in (segment.verdicts or {}).values()
        }
        for v in self.in_force():
            if v.id in self._left and v.id not in where:
                yield zlib.decompress(self._left[v.id])
                continue
            table, name = where[v.id]
            assert isinstance(table, Witness)
            view = table.view(name)
            assert view is not None
            yield record(evidence(basis(view, v), v))


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
@click.option(
    "--evidence",
    "hidden",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True),
    help="Write what masking hid of the verdicts in force: hidden cards, one record a line.",
)
def command(files: tuple[str, ...], every: bool, rules: str | None, form: str, hidden: str | None) -> None:
    """Judge telemetry FILES (.jsonl, .jsonl.gz, .jsonl.zst, or - for stdin) without a broker.

    Prints the verdicts in force, one canonical body a line, in order of `at` and `id`: byte for byte what a worker
    publishes for the same events. Exit 1 if a line could not be read.

    The file of --evidence is made for its owner's eyes only: it names every card.
    """
    if every and hidden is not None:
        raise click.UsageError("--evidence is of the verdicts in force at the end; leave --revisions out")
    if rules is not None and rules not in ids():
        raise click.UsageError(f"there is no rule set {rules!r}; there are {', '.join(ids())}")
    gc.set_threshold(100_000, 50, 100)  # events can't form cycles; the collector would walk the history again and again
    replay = Replay(rules, evidence=hidden is not None)
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
    if hidden is not None:
        with _secret(hidden) as out:
            out.writelines(line + b"\n" for line in replay.evidence())
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


def _secret(path: str) -> BinaryIO:
    """A new file that its owner alone may read, or an old one as it is."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
