"""One thing that the telemetry does not do as the contract says, or that somebody should know of."""

from dataclasses import dataclass
from typing import Literal

About = Literal["schema", "fields", "seq", "clocks", "table", "senses", "rounds", "keys"]
Grade = Literal["wrong", "remark"]


@dataclass(frozen=True)
class Finding:
    """What was found, where first and how often, and what to do.

    `grade` tells an error from a mere remark; `first` is file:line; `count` is how many events (or numbers, or
    rounds) it holds of. No text here repeats a card.
    """

    about: About
    code: str
    grade: Grade
    what: str
    remedy: str
    table: str | None = None
    device: str | None = None
    count: int = 1
    first: str | None = None
