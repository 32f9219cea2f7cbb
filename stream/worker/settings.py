"""The worker's settings, from the environment; a wrong one is refused with its name and the remedy.

None of them changes a verdict's body: what does is in `table.opened` or in the rule set's data.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class SettingError(ValueError):
    """A setting that can't be used: the variable, what is wrong, what to do."""


@dataclass(frozen=True)
class Settings:
    """See `VARIABLES` for what each is."""

    broker: str
    group: str
    prefix: str
    member: str
    hold_s: float
    urgent_hold_s: float
    devices_hold_s: float
    session_s: float
    commit_s: float
    http: tuple[str, int] | None
    log: str


def _broker(text: str) -> str:
    hosts = text.split(",")
    if not all(re.fullmatch(r"[^\s:,]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}", h) for h in hosts):
        raise ValueError("is not host:port, or several parted by commas")
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,80}", text):
        raise ValueError("may hold letters, digits, dot, dash and underscore only")
    return text


def _name_or_empty(text: str) -> str:
    return text and _name(text)


def _seconds(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise ValueError(f"is not between {least:g} and {most:g}")
        return value

    return read


def _milliseconds(text: str) -> float:
    return _seconds(0, 600_000)(text) / 1000


def _address(text: str) -> tuple[str, int] | None:
    if text == "off":
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("is not address:port, or off")
    return host, int(port)


def _level(text: str) -> str:
    if text not in ("debug", "info", "warning", "error"):
        raise ValueError("is none of debug, info, warning, error")
    return text


VARIABLES: Mapping[str, tuple[str, str, Callable[[str], object], str]] = {
    "MISDEAL_BROKER": ("broker", "127.0.0.1:9092", _broker, "Kafka, host:port, several parted by commas"),
    "MISDEAL_GROUP": (
        "group",
        "misdeal-judge",
        _name,
        "consumer group; its name is also that of the state topic",
    ),
    "MISDEAL_PREFIX": ("prefix", "", _name_or_empty, "what all topics of this site begin with"),
    "MISDEAL_MEMBER": (
        "member",
        "",
        _name_or_empty,
        "static member id, only where a supervisor restarts the same id at once",
    ),
    "MISDEAL_HOLD_MS": (
        "hold_s",
        "2000",
        _milliseconds,
        "how long a new or changed verdict waits, milliseconds",
    ),
    "MISDEAL_HOLD_URGENT_MS": ("urgent_hold_s", "200", _milliseconds, "the same for urgent paragraphs"),
    "MISDEAL_HOLD_DEVICES_MS": (
        "devices_hold_s",
        "45000",
        _milliseconds,
        "how long an accusation that rests on something not seen waits, at most, for the devices that could show it",
    ),
    "MISDEAL_SESSION_S": (
        "session_s",
        "10",
        _seconds(6, 120),
        "group session: how long a dead worker's tables wait, seconds",
    ),
    "MISDEAL_COMMIT_S": ("commit_s", "1", _seconds(0.2, 60), "between commits, seconds"),
    "MISDEAL_HTTP": (
        "http",
        "127.0.0.1:9170",
        _address,
        "where /healthz and /metrics are served; off for nowhere",
    ),
    "MISDEAL_LOG": ("log", "info", _level, "debug, info, warning or error"),
}
"""Variable -> field, default, how it is read, what it is."""


def read(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment. Raises `SettingError`."""
    unknown = sorted(k for k in environment if k.startswith("MISDEAL_") and k not in VARIABLES and k not in _OTHERS)
    if unknown:
        raise SettingError(f"{unknown[0]} is no setting of the worker; there are {', '.join(VARIABLES)}")
    values: dict[str, object] = {}
    for name, (field, default, convert, what) in VARIABLES.items():
        text = environment.get(name, default)
        try:
            values[field] = convert(text)
        except ValueError as error:
            raise SettingError(f"{name}={text!r} {error}. It is: {what}; default {default!r}.") from error
    return Settings(**values)  # type: ignore[arg-type]  # each converter gives its field's type


_OTHERS = frozenset({"MISDEAL_KAFKA_JARS", "MISDEAL_CRASH", "MISDEAL_SLOW_MS"})  # of the broker, and of crash tests
