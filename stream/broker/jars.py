"""Kafka's jars: fetched once into a cache folder, held against a committed list of checksums at every start.

Hashing all 44 MB takes a twentieth of a second, so every start does it: no stamp file that could lie, and
a cache that went bad is found when it matters. The list guards against a bad download, a false mirror and
a stale or edited cache; who can write to the user's files can also write to this package, and nothing here
is meant to stop that.
"""

import fcntl
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from stream.broker.fault import BrokerError

VERSION = "4.4.0"
# slf4j-simple must be of the line of Kafka's slf4j-api, 1.7: with 2.x, or none, Kafka logs nothing at all.
COORDINATES = f"org.apache.kafka:kafka_2.13:{VERSION}+org.slf4j:slf4j-simple:1.7.36"
PLACE = "MISDEAL_KAFKA_JARS"
TRIES = 3

log = logging.getLogger(__name__)


def jar_folder() -> Path:
    """Name the cache folder: MISDEAL_KAFKA_JARS, else `misdeal/kafka-4.4.0` in the user's cache."""
    if place := os.environ.get(PLACE):
        return Path(place).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "misdeal", f"kafka-{VERSION}").absolute()


def checksums() -> dict[str, str]:
    """Read the committed list: SHA-256 in hex by file name."""
    text = files("stream.broker").joinpath(f"kafka-{VERSION}.sha256").read_text("ascii")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def ready_jars(folder: Path) -> list[Path]:
    """Give all jars of Kafka in `folder`, in the order of the list, fetched first where they are missing.

    Raises:
        BrokerError: a jar is altered or not on the list, or they could not be fetched.
    """
    if _missing(folder):
        with locked(folder):
            if _missing(folder):  # another process may have fetched them while we waited for the lock
                _fetch(folder)
    verify(folder)
    return [folder / name for name in checksums()]


def verify(folder: Path) -> None:
    """Hold every jar in `folder` against the list.

    Raises:
        BrokerError: one is missing, altered or unknown.
    """
    known = checksums()
    present = {jar.name for jar in folder.glob("*.jar")}
    faults = [f"{name} is missing" for name in sorted(known.keys() - present)]
    faults += [f"{name} is not part of Kafka {VERSION}" for name in sorted(present - known.keys())]
    faults += [f"{name} is altered" for name in sorted(present & known.keys()) if _digest(folder / name) != known[name]]
    if faults:
        raise BrokerError(
            f"the jars in {folder} are not those of Kafka {VERSION}: {'; '.join(faults)}. "
            "Remove that folder, and the next start fetches them again"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that two first starts at the same time do not do the work twice."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / ".lock").open("ab")
    except OSError as error:
        raise BrokerError(
            f"cannot write to {folder}: {error}. Name another folder for Kafka's jars in {PLACE}"
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # the kernel gives it back however this process ends
        yield


def _missing(folder: Path) -> bool:
    return any(not (folder / name).exists() for name in checksums())


def _digest(jar: Path) -> str:
    with jar.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _fetch(folder: Path) -> None:
    """Fetch into a folder inside and move each jar out by renaming, so that no half a jar is ever seen."""
    if not find_spec("jgo"):
        raise BrokerError(
            f"Kafka's jars are not in {folder}, and jgo, which fetches them, is not installed: "
            "pip install 'misdeal[broker]'"
        )
    log.info("Fetching Apache Kafka %s into %s (44 MB, once)", VERSION, folder)
    known = checksums()
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as staging:
        # A repository of its own: the user's may hold anything, and other tools write to it meanwhile.
        fetched = _download(Path(staging))
        unknown = sorted({jar.name for jar in fetched} - known.keys())
        altered = sorted(jar.name for jar in fetched if jar.name in known and _digest(jar) != known[jar.name])
        if unknown or altered:
            raise BrokerError(
                f"what was fetched is not Kafka {VERSION} as this release knows it, and was thrown away: "
                f"unknown {unknown}, altered {altered}. "
                "Look at the proxy or mirror between here and Maven Central"
            )
        for jar in fetched:
            jar.replace(folder / jar.name)


def _download(repository: Path) -> list[Path]:
    # jgo comes with an optional extra, and whoever has the jars needs neither it nor the time of its import.
    from jgo.maven import MavenContext  # noqa: PLC0415  # see above
    from jgo.parse import Endpoint  # noqa: PLC0415  # see above

    context = MavenContext(repo_cache=repository, local_repos=[], timeout=30)
    for left in reversed(range(TRIES)):
        try:
            wanted = [context.create_dependency(c) for c in Endpoint.parse(COORDINATES).coordinates]
            named, implied = context.resolver.resolve(wanted)
            inside = [*named, *(d for d in implied if d.scope in ("compile", "runtime"))]
            return [Path(d.artifact.resolve()) for d in inside]
        except (OSError, RuntimeError, ValueError) as error:  # what requests and jgo raise
            if not left:
                raise BrokerError(
                    f"could not fetch Kafka {VERSION} from Maven Central: {error}. "
                    f"Where there is no network, fill a folder with its jars and name it in {PLACE}"
                ) from error
            log.info("Fetching again: %s", error)
    raise AssertionError("the last try returns or raises")
