"""A child process that ends when we do, however we end."""

import os
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

TETHER = Path(__file__).with_name("tether.py")


def spawn(command: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a program in `folder`, its output added to `log`, tied to this process.

    It is a session of its own: Ctrl-C on the terminal reaches us alone, and we decide what becomes of it.

    Raises:
        OSError: it could not be started.
    """
    born: SimpleQueue[subprocess.Popen[bytes] | OSError] = SimpleQueue()
    tied = [sys.executable, "-I", "-S", str(TETHER), str(os.getpid()), *command]

    def watch() -> None:
        try:
            with log.open("ab") as output:
                child = subprocess.Popen(
                    tied,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            born.put(error)
            return
        born.put(child)
        child.wait()

    # For the kernel the parent is the thread that forked: were it the caller's, a broker started in a worker
    # thread would be killed when that thread is done. This one lives as long as the child or the process.
    Thread(target=watch, name="broker", daemon=True).start()
    child = born.get()
    if isinstance(child, OSError):
        raise child
    return child
