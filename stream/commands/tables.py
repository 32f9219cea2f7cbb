"""`misdeal tables`: open tables that have no console of their own."""

import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from stream.deal.events import TableOpened
from stream.deal.wire import encode, micros
from stream.openings import openings

TOPIC = "tables.floor.v1"


def _when(_ctx: click.Context, _param: click.Parameter, text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no time; write 2026-01-05T12:00:00Z") from error
    if at.tzinfo is None:
        raise click.BadParameter(f"{text!r} has no offset; add Z for UTC, or +01:00")
    return at


@click.group()
def command() -> None:
    """Open tables that have no console of their own."""


@command.command(name="apply")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--broker", metavar="HOST:PORT", help=f"Send to {TOPIC} there instead of printing.")
@click.option("--prefix", envvar="MISDEAL_PREFIX", default="", help="What all topics of this site begin with.")
@click.option(
    "--at", callback=_when, metavar="TIME", help="When the tables open, RFC 3339; now if not given. For recorded files."
)
def apply_(file: str, broker: str | None, prefix: str, at: datetime) -> None:
    """Tell the topics which rule set, senses and limits the tables of FILE (TOML, - for stdin) run by.

    Each [[table]] becomes one table.opened, printed one a line or sent to the broker, keyed by table. Nothing is
    printed or sent if anything in the file is wrong (exit 1). docs/examples/tables.toml shows every field.
    """
    try:
        text = click.get_text_stream("stdin").read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file}: {error}") from error
    # Milliseconds since 1970 as `boot`, and always `seq` 0: the command keeps no state, and every run must look like a
    # restart of its devices. A run that repeated an identity with other contents would be a device fault, and the
    # new settings might never come into force.
    opened, wrong = openings(text, at, boot=time.time_ns() // 1_000_000)
    if wrong:
        for w in wrong:
            click.echo(f"{file}: {w}", err=True)
        click.echo(f"{file}: {len(wrong)} wrong; nothing was {'sent' if broker else 'printed'}", err=True)
        sys.exit(1)
    if broker:
        asyncio.run(_send(opened, broker, prefix + TOPIC, prefix))
        click.echo(f"{len(opened)} tables opened on {prefix}{TOPIC}", err=True)
        return
    for event in sorted(opened, key=lambda e: (micros(e.at), e.table)):
        sys.stdout.buffer.write(encode(event) + b"\n")


async def _send(opened: Sequence[TableOpened], broker: str, topic: str, prefix: str) -> None:
    """Send all, and wait until each is acknowledged by every replica in sync."""
    from aiokafka import AIOKafkaProducer  # only where it is used
    from aiokafka.errors import KafkaError

    producer = AIOKafkaProducer(bootstrap_servers=broker, acks="all", enable_idempotence=True)
    try:
        await producer.start()
    except KafkaError as error:
        raise click.ClickException(f"no answer from {broker}: {error}; is the address right?") from error
    try:
        # A topic that is not there would be waited for in vain, and one made by the broker has the wrong settings.
        if topic not in (await producer.client.fetch_all_metadata()).topics():
            again = f"misdeal topics apply --broker {broker}" + (f" --prefix {prefix}" if prefix else "")
            raise click.ClickException(f"{broker} has no topic {topic}; make it with `{again}`. Nothing was sent.")
        for event in opened:
            await producer.send_and_wait(topic, encode(event), key=event.table.encode())
    except KafkaError as error:
        raise click.ClickException(f"{broker} did not take the tables: {error}; apply the file again") from error
    finally:
        await producer.stop()
