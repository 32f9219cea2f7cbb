"""Runs a worker as a process: looks at the broker first, then hands over to Faust until a signal ends it."""

import asyncio
import gc
import logging
import os
import sys
import threading
from time import monotonic
from typing import Any, Final

import faust
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from stream.worker.app import Worker
from stream.worker.health import serve
from stream.worker.settings import Settings
from stream.worker.topics import SOURCES, declared, differences, partition_count

STOP_SECONDS: Final = 20.0  # then the process ends itself: nothing in memory needs saving
STUCK_SECONDS: Final = 120.0
log: Final = logging.getLogger("misdeal.worker")


class NotReady(Exception):
    """The broker is not as the worker needs it: says what to do."""


async def _look(settings: Settings) -> int:
    """Wait for the broker, check its topics, and tell how many partitions the sources have."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.broker)
    waited = monotonic()
    while True:
        try:
            await admin.start()
            break
        except KafkaError as error:
            if monotonic() - waited > 10:
                log.warning("no answer from %s (%s); still trying", settings.broker, type(error).__name__)
                waited = monotonic()
            await asyncio.sleep(1)
    try:
        found = await differences(admin, declared(settings.group, settings.prefix), None)
        severe = [d for d in found if d.what != "config"]
        if severe:
            said = "; ".join(f"{d.topic}: {d.what}, {d.detail}" for d in severe)
            raise NotReady(f"the broker {settings.broker} lacks what the worker needs: {said}")
        for d in found:
            log.warning("%s: %s", d.topic, d.detail)
        return await partition_count(admin, settings.prefix + SOURCES[0])
    finally:
        await admin.close()


class _Process(faust.Worker):
    """Faust's worker with a deadline on its stop, since a stop while joining a group can hang."""

    def _on_sigterm(self) -> None:
        deadline = threading.Timer(STOP_SECONDS, os._exit, [3])
        deadline.daemon = True
        deadline.start()
        super()._on_sigterm()


def run(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT (exit status 0), or until an error ends it (1). Raises `NotReady` before that."""
    logging.basicConfig(
        stream=sys.stderr, level=settings.log.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    # At debug the client logs the records that it sends, and with them cards that nobody may see yet.
    theirs = {"debug": "INFO", "info": "WARNING"}.get(settings.log, settings.log.upper())
    for noisy in ("faust", "mode", "aiokafka"):
        logging.getLogger(noisy).setLevel(theirs)
    partitions = asyncio.run(_look(settings))
    if sys.platform != "win32":
        import uvloop  # noqa: PLC0415  # not on every platform

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())  # Faust's consumer thread makes a loop of its own
    # Events can't form cycles; the collector would only walk the kept history again and again.
    gc.set_threshold(100_000, 50, 100)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    worker = Worker(settings, partitions)
    _attend(worker)
    worker.app.finalize()
    process = _Process(
        worker.app, loop=loop, override_logging=False, redirect_stdouts=False, quiet=True, loglevel="WARN"
    )
    process.spinner = None
    process.execute_from_commandline()


def _attend(worker: Worker) -> None:
    """Health server and watchdog, as tasks of the app."""

    @worker.app.task
    async def health(_app: Any = None) -> None:
        if worker.settings.http is not None:
            host, port = worker.settings.http
            await serve(worker, host, port)
            log.info("health and metrics on http://%s:%s", host, port)

    @worker.app.timer(5.0)
    async def watchdog(_app: Any = None) -> None:
        idle = monotonic() - worker.worked
        if idle > STUCK_SECONDS and any(worker.behind(n) for n in range(worker.partitions)):
            log.error("records wait and nothing was judged for %.0f s: ending, to be started again", idle)
            os._exit(1)
