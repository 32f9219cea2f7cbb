"""`misdeal topics`: provision a broker's topics as they are declared."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from stream.worker.topics import Difference, apply, declared, differences

T = TypeVar("T")
BROKER = click.option(
    "--broker", envvar="MISDEAL_BROKER", default="127.0.0.1:9092", show_default=True, help="host:port"
)
GROUP = click.option(
    "--group", envvar="MISDEAL_GROUP", default="misdeal-judge", show_default=True, help="The worker's group."
)
PREFIX = click.option("--prefix", envvar="MISDEAL_PREFIX", default="", help="What all topics of this site begin with.")


async def _with_admin(broker: str, do: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    try:
        await admin.start()
    except KafkaError as error:
        raise click.ClickException(f"no answer from {broker}: {error}") from error
    try:
        return await do(admin)
    finally:
        await admin.close()


def _tell(found: list[Difference]) -> None:
    for d in found:
        click.echo(f"{d.topic}\t{d.what}\t{d.detail}")


@click.group()
def command() -> None:
    """Provision the topics as declared: plan, apply, check."""


@command.command()
@GROUP
@PREFIX
@click.option("--partitions", default=8, show_default=True, help="Of the topics keyed by table; can never be changed.")
def plan(group: str, prefix: str, partitions: int) -> None:
    """Print every topic with its partitions and config, one a line; on stderr, who may read those with hidden cards."""
    topics = declared(group, prefix)
    for topic in topics:
        config = " ".join(f"{k}={v}" for k, v in sorted(topic.config.items()))
        click.echo(f"{topic.name}\t{partitions if topic.partitioned else 1}\t{config}")
    for topic in topics:
        if topic.access:
            click.echo(f"{topic.name}: {topic.access}", err=True)


@command.command(name="apply")
@BROKER
@GROUP
@PREFIX
@click.option("--partitions", default=8, show_default=True, help="For topics that are made; those there are left.")
@click.option("--replication", default=1, show_default=True, help="Copies of each partition; 3 in production.")
def apply_(broker: str, group: str, prefix: str, partitions: int, replication: int) -> None:
    """Make what is missing, set what is otherwise, print what was done."""
    topics = declared(group, prefix)
    _tell(asyncio.run(_with_admin(broker, lambda a: apply(a, topics, partitions=partitions, replication=replication))))


@command.command()
@BROKER
@GROUP
@PREFIX
@click.option("--partitions", default=None, type=int, help="The count to insist on.")
def check(broker: str, group: str, prefix: str, partitions: int | None) -> None:
    """Print what differs from what is declared; exit 1 if anything does."""
    topics = declared(group, prefix)
    found = asyncio.run(_with_admin(broker, lambda a: differences(a, topics, partitions)))
    _tell(found)
    sys.exit(1 if found else 0)
