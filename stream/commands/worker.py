"""`misdeal worker`: the Faust worker."""

import os
import sys

import click

from stream.worker.settings import VARIABLES, SettingError, read


@click.command(
    help="Judge the telemetry on a broker's topics and publish verdicts, until SIGTERM.\n\n"
    "Settings come from the environment:\n\n"
    + "\n\n".join(f"{name}: {what} [{default or 'none'}]" for name, (_, default, _, what) in VARIABLES.items())
)
def command() -> None:
    """Run the worker."""
    from stream.worker.run import NotReady, run  # Faust is loaded only here

    try:
        settings = read(os.environ)
    except SettingError as error:
        click.echo(f"misdeal worker: {error}", err=True)
        sys.exit(2)
    try:
        run(settings)
    except NotReady as error:
        click.echo(f"misdeal worker: {error}", err=True)
        sys.exit(1)
