"""Ports on loopback: a free one, and who listens on one."""

import errno
import secrets
import socket
from pathlib import Path

from stream.broker.fault import BrokerError

LOOPBACK = "127.0.0.1"
# Below Linux's ephemeral range, out of which the kernel could give the port away to any outgoing connection.
LOWEST, HIGHEST = 20_000, 32_767
LISTEN = "0A"  # the state's code in /proc/net/tcp


def free_port(taken: frozenset[int] = frozenset()) -> int:
    """Choose a port of loopback that nobody listens on, at random, so that two starts at once seldom meet.

    Raises:
        BrokerError: a hundred tries found none.
    """
    for _ in range(100):
        # Not `random`: programs seed that, and then choose alike.
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST + 1)
        if port not in taken and _binds(port):
            return port
    raise BrokerError(f"no free port between {LOWEST} and {HIGHEST}")


def claim_port(port: int) -> None:
    """Make sure that a port asked for is free.

    Raises:
        BrokerError: somebody listens on it, or it may not be bound.
    """
    if not _binds(port):
        raise BrokerError(
            f"port {port} of {LOOPBACK} is in use by another program: name another, or leave it out to get a free one"
        )


def listens(pid: int, port: int) -> bool | None:
    """Say whether the socket that listens on `port` is that process's; None where /proc cannot tell."""
    tables = [table for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if table.exists()]
    if not tables:
        return None
    sockets = set()
    for table in tables:
        for line in table.read_text("ascii").splitlines()[1:]:
            # sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
            row = line.split()
            if row[3] == LISTEN and int(row[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{row[9]}]")
    return any(str(link) in sockets for link in _links(Path("/proc", str(pid), "fd")))


def _links(folder: Path) -> list[Path]:
    links = []
    try:
        for handle in folder.iterdir():
            try:
                links.append(handle.readlink())
            except FileNotFoundError:  # closed since it was listed
                continue
    except OSError:  # the process is gone
        return []
    return links


def _binds(port: int) -> bool:
    with socket.socket() as probe:
        # As Kafka does: a port whose last connections are still being forgotten is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen()
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True
