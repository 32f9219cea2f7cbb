"""The running broker: one Kafka process and the folder it lives in."""

import secrets
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from stream.broker import settings
from stream.broker.child import spawn
from stream.broker.fault import BrokerError
from stream.broker.port import LOOPBACK, claim_port, free_port, listens
from stream.broker.probe import Cluster, ask_cluster

LOG = "kafka.log"
TAIL = 20  # lines of the log shown when a start fails
PAUSE = 0.02  # seconds between two looks at a broker that is starting


class Broker:
    """A running Kafka of one node; as a context manager it is stopped at the end.

    `folder` holds its data, its settings and its log; `port` is the client port on loopback. Both outlast a
    restart. Made by `boot`.
    """

    def __init__(self, folder: Path, java: tuple[str, ...], port: int) -> None:
        self.folder = folder
        self.port = port
        self._java = java
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """The address for clients, `127.0.0.1:PORT`."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int:
        """The process id of the Java process that was started last."""
        assert self._child is not None
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether that process still runs."""
        return self._child is not None and self._child.poll() is None

    def stop(self, timeout: float = 15) -> None:
        """End it as an operator would: SIGTERM, and SIGKILL if it still runs after `timeout` seconds."""
        if self._child is None:
            return
        try:
            self._child.terminate()
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            pass  # the kill below is the answer, as it is to a Ctrl-C during the wait
        finally:
            self.kill()

    def kill(self) -> None:
        """End it as a crash would: SIGKILL, and wait until the process is gone."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def restart(self, *, ready_seconds: float = 60) -> None:
        """Stop it if it runs, and start it again with the same folder and port.

        Raises:
            BrokerError: it does not serve within `ready_seconds`; then no process is left.
        """
        self.stop()
        self.launch(ready_seconds)

    def launch(self, ready_seconds: float) -> None:
        """Start the process and wait until it serves."""
        claim_port(self.port)
        controller = free_port(taken=frozenset({self.port}))
        properties = settings.server_properties(self.port, controller)
        (self.folder / settings.FILE).write_text(properties, "ascii")
        if not (self.folder / settings.DATA / "meta.properties").exists():
            self._format()
        with ExitStack() as undo:
            undo.callback(self.kill)
            self._child = spawn([*self._java, "kafka.Kafka", settings.FILE], self.folder, self.folder / LOG)
            self._await(time.monotonic() + ready_seconds)
            undo.pop_all()

    def tail(self) -> str:
        """Give the last lines of its log."""
        try:
            text = (self.folder / LOG).read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-TAIL:])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _format(self) -> None:
        """Give the data folder its cluster id, which Kafka wants done before the first start."""
        # Of the form of Kafka's own, but never one that looks like an option.
        cluster = "M" + secrets.token_urlsafe(16)[1:]
        tool = ["kafka.tools.StorageTool", "format", "--standalone", "--cluster-id", cluster]
        with (self.folder / LOG).open("ab") as output:
            done = subprocess.run(
                [*self._java, *tool, "--config", settings.FILE],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise self._failed(f"its data folder could not be made ({_ended(done.returncode)})")

    def _await(self, deadline: float) -> None:
        """Wait until the port answers as our cluster, serving at our address, out of our own process."""
        while True:
            assert self._child is not None
            if self._child.poll() is not None:
                raise self._failed(f"it {_ended(self._child.returncode)}")
            try:
                cluster = ask_cluster(self.port)
            except OSError:
                cluster = Cluster(None, ())
            if cluster.id not in (None, self._cluster_id()):
                raise self._failed(f"another Kafka answers on port {self.port}")
            if (LOOPBACK, self.port) in cluster.brokers:
                break
            if time.monotonic() > deadline:
                raise self._failed("it did not serve in time")
            time.sleep(PAUSE)
        if listens(self.pid, self.port) is False:
            raise self._failed(f"port {self.port} belongs to another process")

    def _cluster_id(self) -> str | None:
        lines = (self.folder / settings.DATA / "meta.properties").read_text("ascii").splitlines()
        return dict(line.partition("=")[::2] for line in lines).get("cluster.id")

    def _failed(self, why: str) -> BrokerError:
        return BrokerError(f"Kafka did not start: {why}. The last lines of {self.folder / LOG}:\n{self.tail()}")


def boot(folder: Path, java: tuple[str, ...], port: int | None, ready_seconds: float) -> Broker:
    """Start a broker in `folder` by the command line `java`, on `port` or a free one.

    Raises:
        BrokerError: the port is in use, the folder cannot be written to, or Kafka does not serve in time.
    """
    try:
        folder = folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        broker = Broker(folder, java, port or free_port())
        broker.launch(ready_seconds)
    except OSError as error:
        raise BrokerError(f"Kafka could not be started in {folder}: {error}") from error
    return broker


def _ended(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
