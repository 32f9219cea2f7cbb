"""Telemetry files: one event a line, plain, gzip or zstandard, or standard input."""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import zstandard
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LONG = 20_000_000  # bytes from which a file gets a progress bar


def _open(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    if path.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.endswith(".zst"):
        return cast("IO[bytes]", zstandard.open(path, "rb"))
    return Path(path).open("rb")


def lines(paths: tuple[str, ...]) -> Iterator[tuple[str, int, bytes]]:
    """Every line with its file and number; a bar on stderr for long files at a terminal. Raises OSError."""
    console = Console(stderr=True)
    for path in paths:
        size = Path(path).stat().st_size if path != "-" else 0
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        with bar, _open(path) as file:
            task = bar.add_task(path, total=None, visible=size >= LONG and console.is_terminal)
            for number, line in enumerate(file, 1):
                if number % 20_000 == 0:
                    bar.update(task, completed=number)
                yield path, number, line.rstrip(b"\r\n")
