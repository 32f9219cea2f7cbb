"""One question in Kafka's own protocol: which cluster answers on this port, and with which brokers?

Written out, because aiokafka would need an event loop here, and could not be told how long one try may take.
"""

import socket
import struct
from dataclasses import dataclass
from io import BytesIO

from stream.broker.port import LOOPBACK

METADATA = 3
VERSION = 4  # old enough for its plain encoding, new enough to tell the cluster's id and to create no topic
NO_TOPICS = struct.pack(">ib", 0, 0)  # ask about none, create none
LARGEST = 1 << 16


@dataclass(frozen=True)
class Cluster:
    """What a broker says of its cluster: its id, and the addresses of the brokers that serve."""

    id: str | None
    brokers: tuple[tuple[str, int], ...]


def ask_cluster(port: int, seconds: float = 2) -> Cluster:
    """Send a Metadata request to loopback and read the answer.

    Raises:
        OSError: nobody listens, no answer within `seconds`, or not the answer of a Kafka.
    """
    head = struct.pack(">hhih", METADATA, VERSION, 1, 7) + b"misdeal"
    request = head + NO_TOPICS
    with socket.create_connection((LOOPBACK, port), timeout=seconds) as link:
        link.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", _exactly(link, 4))
        if not 0 < length < LARGEST:
            raise ConnectionError(f"port {port} does not answer as Kafka does")
        answer = BytesIO(_exactly(link, length))
    try:
        return _cluster(answer)
    except (struct.error, UnicodeDecodeError) as error:
        raise ConnectionError(f"port {port} does not answer as Kafka does") from error


def _cluster(answer: BytesIO) -> Cluster:
    _correlation, _throttle, count = _numbers(answer, ">iii")
    brokers = []
    for _ in range(count):
        _numbers(answer, ">i")  # node id
        host = _text(answer)
        brokers.append((host or "", _numbers(answer, ">i")[0]))
        _text(answer)  # rack
    return Cluster(_text(answer), tuple(brokers))


def _numbers(answer: BytesIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, answer.read(struct.calcsize(form)))


def _text(answer: BytesIO) -> str | None:
    (length,) = _numbers(answer, ">h")
    return None if length < 0 else answer.read(length).decode()


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = link.recv(count - len(data))
        if not more:
            raise ConnectionError("closed before the answer was whole")
        data += more
    return data
