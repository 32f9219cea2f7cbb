"""`misdeal demo`: everything on this machine."""

import sys

import click

from stream.rulebook.paragraphs import ids


@click.command()
@click.option("--rules", default="all", show_default=True, help="Rule set to deal by; all: the tables take turns.")
@click.option("--tables", default=8, show_default=True, help="How many tables deal.")
@click.option("--speed", default=20.0, show_default=True, help="Real time times this.")
@click.option("--seconds", default=0.0, help="End by itself after so long; 0: at Ctrl-C.")
@click.option("--broker", metavar="HOST:PORT", help="Use this Kafka instead of starting one.")
def command(rules: str, tables: int, speed: float, seconds: float, broker: str | None) -> None:
    """Show verdicts as they come: a Kafka, simulated tables that err now and then, a worker, this terminal."""
    from stream.broker import BrokerError
    from stream.demo import Plan, run

    if rules not in ("all", *ids()):
        raise click.UsageError(f"there is no rule set {rules!r}; there are {', '.join(ids())}")
    try:
        run(Plan(rules, tables, speed, seconds, broker))
    except (BrokerError, RuntimeError) as error:
        click.echo(f"misdeal demo: {error}", err=True)
        sys.exit(1)
