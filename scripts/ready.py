"""Says before anything is installed what this machine lacks, and what to do about it."""

import importlib.util
import platform
import shutil
import socket
import sys


def complaints() -> list[str]:
    """What is missing, each with its remedy; empty where the set-up can begin."""
    out = []
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        out.append(
            f"Python 3.11 to 3.13 is needed, this is {platform.python_version()}: call make PYTHON=/path/to/python3.12"
        )
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        out.append("Python's venv module is missing: install it (Debian and Ubuntu: the package python3-venv)")
    if sys.platform == "win32":
        out.append("Windows is not supported: use WSL, or a Linux or macOS machine")
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
    except OSError as error:
        out.append(f"no port can be opened on 127.0.0.1 ({error}): a broker is started there")
    if shutil.disk_usage(".").free < 2_000_000_000:
        out.append("less than 2 GB are free here: the environment takes 0.6 GB and a test broker more")
    return out


if __name__ == "__main__":
    found = complaints()
    for complaint in found:
        sys.stderr.write(f"not ready: {complaint}\n")
    sys.exit(bool(found))
