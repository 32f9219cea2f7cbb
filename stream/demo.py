"""The demo: a broker, simulated tables, a worker, and the verdicts as they come, all on this machine."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import msgspec
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stream.broker import start
from stream.deal.verdicts import Verdict
from stream.tell import CAUSE, cite, due, scope, who
from stream.worker.epoch import InForce
from stream.worker.topics import ALERTS, apply, declared

PARTITIONS: Final = 4
GROUP: Final = "misdeal-demo"
SHOWN: Final = 8
_STATUS: Final = {
    "open": ("STILL OPEN", "bold red"),
    "breached": ("CLOSED\nthe remedy did not follow", "bold red"),
    "remedied": ("CLOSED\nset right", "green"),
    "moot": ("CLOSED\novertaken by another", "dim"),
    "final": ("CLOSED\nno more can come of it", ""),
    "withdrawn": ("TAKEN BACK", "dim"),
}
_WHO: Final = {"DEVICE": "cyan", "UNSURE": "magenta", "NOTE": "dim"}
_SEVERITY: Final = {"critical": "bold white on red", "major": "bold red", "minor": "yellow", "info": "dim"}


@dataclass(frozen=True)
class Plan:
    """What to show: which game (or `all`), how many tables, how fast, how long (0: until Ctrl-C), on whose broker."""

    rules: str
    tables: int
    speed: float
    seconds: float
    broker: str | None


@dataclass
class Screen:
    """The verdicts in force, newest last."""

    broker: str
    views: dict[int, InForce] = field(default_factory=dict)
    order: dict[str, Verdict] = field(default_factory=dict)
    records: int = 0

    def see(self, partition: int, record: object) -> Verdict | None:
        """Take a record of the alerts topic in; the verdict, if it is one that stands."""
        view = self.views.setdefault(partition, InForce())
        self.records += 1
        before = dict(view.records)
        view.see(record)
        for name, held in view.records.items():
            if before.get(name) is not held:
                verdict = msgspec.json.decode(held.value, type=Verdict)
                self.order.pop(name, None)
                self.order[name] = verdict
                return verdict
        return None

    def table(self) -> Table:
        """The screen: what is grave first, then the newest."""
        held = sorted(self.order.values(), key=lambda v: v.at, reverse=True)
        grave = [v for v in held if v.severity in ("critical", "major") and v.status != "withdrawn"][: SHOWN // 2]
        rest = [v for v in held if v not in grave][: SHOWN - len(grave)]
        table = Table(title=self._title(held, len(grave) + len(rest)), expand=True, show_lines=True, caption=_LEGEND)
        table.add_column("How grave")
        table.add_column("Where", min_width=11)
        table.add_column("What was seen", ratio=4)
        table.add_column("Rule", ratio=2, min_width=20, overflow="fold")  # a citation is shown whole
        table.add_column("What is due", ratio=2)
        table.add_column("Open?", ratio=1, min_width=11)
        for verdict in [*grave, *rest]:
            table.add_row(*_cells(verdict))
        return table

    def _title(self, held: Sequence[Verdict], shown: int) -> str:
        still = sum(v.status == "open" for v in held)
        grave = sum(v.severity in ("critical", "major") for v in held)
        return (
            f"misdeal DEMO: simulated tables. {len(held)} verdicts, {grave} of them major or critical, "
            f"{still} still open; {shown} shown: grave first, then newest"
        )


_LEGEND: Final = (
    "PROCEDURE, PLAYER: what was done departs from the rule. DEVICE: a sensor's fault, nobody's. "
    "UNSURE: a sensor was not seeing all of it. S4.1 = seat 4, card 1; C1 to C4 = common cards. "
    "13:69F = New Jersey gaming rules, rule 12 = Let It Ride in New South Wales. Ctrl-C ends."
)


def _cells(v: Verdict) -> list[Text]:
    by = who(v)
    grave = Text(v.severity.upper(), style=_SEVERITY[v.severity]).append(f"\n{by}", style=_WHO.get(by, ""))
    where = Text(v.table, style="bold").append(f"\n{v.at[11:19]}\n{v.round or 'between rounds'}", style="")
    if v.scope.level != "round":
        where.append(f"\n{scope(v.scope)}", style="bold")
    seen = Text(v.observed, style="bold").append(f"\n{v.what}", style="not bold dim")
    if v.cause:
        seen.append(f"\nCannot be told: {CAUSE[v.cause]}.", style="not bold magenta")
    rule = Text(cite(v), style="bold cyan").append(f"\n{v.heading}" if v.heading else "", style="not bold default")
    video = f"\nKeep the video {v.video.begin[11:19]} to {v.video.end[11:19]}."
    status, style = _STATUS[v.status]
    return [grave, where, seen, rule, Text(due(v) + "." + video), Text(status, style=style)]


async def _provision(broker: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    await apply(admin, declared(GROUP, ""), partitions=PARTITIONS, replication=1)
    await admin.close()


def _child(stack: ExitStack, log: IO[bytes], arguments: Sequence[str], **environment: str) -> subprocess.Popen[bytes]:
    """A process of ours, ended with the demo."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MISDEAL_")}
    child = subprocess.Popen(
        [sys.executable, "-m", "stream", *arguments], env=kept | environment, stdout=log, stderr=subprocess.STDOUT
    )
    stack.callback(_end, child)
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


async def _watch(screen: Screen, plan: Plan, console: Console, children: Sequence[subprocess.Popen[bytes]]) -> None:
    consumer = AIOKafkaConsumer(bootstrap_servers=screen.broker, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(ALERTS, p) for p in range(PARTITIONS)])
    loop = asyncio.get_running_loop()
    end = loop.time() + plan.seconds if plan.seconds else None
    try:
        with Live(screen.table(), console=console, auto_refresh=False, transient=False) as live:
            while end is None or loop.time() < end:
                for records in (await consumer.getmany(timeout_ms=500)).values():
                    for record in records:
                        screen.see(record.partition, record)
                live.update(screen.table(), refresh=console.is_terminal)
                if children[0].poll() is not None:
                    raise RuntimeError("the worker ended; its log says why")
            live.update(screen.table(), refresh=True)
    finally:
        await consumer.stop()


def run(plan: Plan) -> None:
    """Run the demo until its time is up or Ctrl-C; everything it started ends with it."""
    console = Console()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="misdeal-demo-", ignore_cleanup_errors=True)))
        if plan.broker is None:
            console.print("Starting Apache Kafka on this machine (the first time its jars are fetched) ...")
            broker = stack.enter_context(start(folder / "kafka")).bootstrap
        else:
            broker = plan.broker
        asyncio.run(_provision(broker))
        log = stack.enter_context((folder / "demo.log").open("wb"))
        worker = _child(stack, log, ["worker"], MISDEAL_BROKER=broker, MISDEAL_GROUP=GROUP, MISDEAL_HTTP="off")
        dealing = [
            "simulate", "--rules", plan.rules, "--broker", broker, "--tables", str(plan.tables), "--rounds", "100000",
            "--inject", "all", "--every", "4", "--jitter", "150", "--speed", str(plan.speed), "--faults", "drop:0.0005",
        ]  # fmt: skip
        dealer = _child(stack, log, dealing)
        console.print(
            f"Kafka on {broker}; {plan.tables} tables deal at {plan.speed:g} times real speed; log {log.name}"
        )
        try:
            asyncio.run(_watch(Screen(broker), plan, console, [worker, dealer]))
        except KeyboardInterrupt:
            console.print("Ending what was started ...")
