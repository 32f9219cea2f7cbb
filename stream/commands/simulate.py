"""`misdeal simulate`: telemetry of tables that deal lawfully, or not, with devices that err, or not."""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import click
import msgspec

from stream.deal import events as ev
from stream.deal.wire import encode
from stream.rulebook.paragraphs import ids, load
from stream.simulate.faults import FAULTS
from stream.simulate.tables import Order, Truth, injections, reports

_RULES: Final = f"Rule set to deal by: {', '.join(ids())}; `all`: each in turn, table by table."
_FORMS: Final = "Do this wrong; `all`: everything in turn. Forms: breached, remedied, over, or a name."
_MODES: Final = (
    "Device errors, at a rate of what stands in brackets (a usual one if none is given): "
    f"{', '.join(f'{name} ({fault.per})' for name, fault in FAULTS.items())}."
)
_ALL: Final = "all"
Wrong = tuple[tuple[str, str], ...]


def _faults(texts: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    out = []
    for text in texts:
        name, colon, rate = text.partition(":")
        if name not in FAULTS:
            raise click.UsageError(f"there is no fault {name!r}; there are {', '.join(FAULTS)}")
        try:
            out.append((name, float(rate) if colon else FAULTS[name].rate))
        except ValueError as error:
            raise click.UsageError(f"--faults {text}: the rate is no number") from error
    return tuple(out)


def _paced(orders: Sequence[Order], speed: float | None) -> Iterator[tuple[ev.AnyEvent, Truth | None]]:
    """The reports, at a pace: real time times speed."""
    begun, first = time.monotonic(), None
    for (arrival, event), truth in reports(*orders):
        if speed:
            first = arrival if first is None else first
            wait = (arrival - first) / 1e6 / speed - (time.monotonic() - begun)
            if wait > 0:
                sys.stdout.flush()
                time.sleep(wait)
        yield event, truth


def _write(out: BinaryIO, told: BinaryIO | None, orders: Sequence[Order], speed: float | None) -> int:
    count = 0
    for event, truth in _paced(orders, speed):
        out.write(encode(event) + b"\n")
        count += 1
        if truth is not None and told is not None:
            told.write(msgspec.json.encode(vars(truth)) + b"\n")
    return count


def _tables(rules: str, tables: int, inject: str | None) -> Iterator[tuple[str, int, int, Wrong]]:
    """Rule sets, where their tables begin, how many they are, and what is done wrong at them."""
    names = ids() if rules == _ALL else (rules,)
    wrong: dict[str, Wrong] = {}
    refused = []
    for name in names:
        try:
            wrong[name] = injections(load(name), inject) if inject else ()
        except ValueError as error:
            refused.append(str(error))
    if not wrong:
        raise click.UsageError("; ".join(refused))
    first = 0
    for n, name in enumerate(names):
        count = tables // len(names) + (n < tables % len(names))
        yield name, first, count, wrong.get(name, ())
        first += count


@click.command()
@click.option("--rules", default="nj-double-down-stud-17", show_default=True, metavar="ID", help=_RULES)
@click.option("--rounds", default=10, show_default=True, help="Rounds a table.")
@click.option("--tables", default=1, show_default=True)
@click.option("--seats", default=7, show_default=True, type=click.IntRange(1, 9))
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same bytes.")
@click.option("--inject", metavar="ATOM[:FORM]", help=_FORMS)
@click.option("--every", default=10, show_default=True, help="In every so manyth round.")
@click.option("--faults", multiple=True, metavar="MODE[:RATE]", help=_MODES)
@click.option("--jitter", default=0, metavar="MS", help="Reports of a device arrive up to so much later.")
@click.option("--truth", type=click.Path(dir_okay=False), help="Write what was done wrong, one round a line.")
@click.option("--out", type=click.Path(dir_okay=False), help="A file instead of stdout.")
@click.option("--broker", metavar="HOST:PORT", help="The topics instead of stdout.")
@click.option("--prefix", default="", help="Of the topics.")
@click.option("--speed", type=float, help="Real time times this; as fast as can be if not given.")
def command(
    rules: str, rounds: int, tables: int, seats: int, seed: int, inject: str | None, every: int,
    faults: tuple[str, ...], jitter: int, truth: str | None, out: str | None, broker: str | None, prefix: str,
    speed: float | None,
) -> None:  # fmt: skip
    """Deal rounds at simulated tables and print what their devices report, in order of arrival."""
    if rules not in (*ids(), _ALL):
        raise click.UsageError(f"there is no rule set {rules!r}; there are {', '.join(ids())}")
    orders = [
        Order(name, rounds, count, seats, seed, wanted, every, _faults(faults), jitter, first=first)
        for name, first, count, wanted in _tables(rules, tables, inject)
    ]
    with ExitStack() as stack:
        told = stack.enter_context(Path(truth).open("wb")) if truth else None
        if broker:
            from stream.simulate.produce import produce

            count = asyncio.run(produce(orders, broker, prefix, speed=speed, told=told))
        else:
            file = stack.enter_context(Path(out).open("wb")) if out else sys.stdout.buffer
            count = _write(file, told, orders, speed)
    click.echo(f"{count} events of {tables} tables", err=True)
