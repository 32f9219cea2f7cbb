"""`misdeal check`: does my telemetry fit?"""

import sys

import click

from stream.deal.wire import canonical
from stream.files import lines


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: for people; json: one object.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Let the text name all that is of a kind, and every unreadable line, not only the first.",
)
@click.option(
    "--partitions",
    default=8,
    show_default=True,
    type=click.IntRange(1),
    help="Of the topics, to say where each table's records belong.",
)
def command(files: tuple[str, ...], form: str, every: bool, partitions: int) -> None:
    """Look whether the telemetry in FILES (.jsonl, .jsonl.gz, .jsonl.zst, or - for stdin) fits, before any judging.

    Schema, unknown fields, seq, clocks, table.opened, declared senses against what came, rounds and keys: each
    thing with its place and remedy. Several files are one telemetry, say one a topic. Exit 1 if anything is wrong;
    remarks are not. No card is named. Takes about 200 bytes of memory an event.
    """
    from stream.fitness.report import as_json, as_text, examine
    from stream.fitness.telemetry import Telemetry

    telemetry = Telemetry()
    try:
        for path, number, line in lines(files):
            telemetry.hear(path, number, line)
    except OSError as error:
        raise click.UsageError(f"{error.filename}: {error.strerror}") from error
    report = examine(telemetry, partitions)
    if form == "json":
        sys.stdout.buffer.write(canonical(as_json(report)) + b"\n")
    else:
        for text in as_text(report, every=every):
            click.echo(text)
    sys.exit(0 if report.fits else 1)
