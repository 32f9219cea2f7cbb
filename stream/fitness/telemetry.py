"""Lines of telemetry taken in: of each event a note, and all that could not be read or was not known.

A note is about 200 bytes, so a million events need some 200 MB; the events themselves are not kept.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import orjson
from msgspec import Struct
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import UNSEEN
from stream.deal.wire import Reader, Refusal, canonical, encode, full, micros
from stream.deal.words import Sense

_LINE_BITS: Final = 40
_LONGEST_NAME: Final = 40
_TYPE: Final = re.compile(r"[a-z_.]{1,40}")


class Note(Struct, frozen=True, gc=False):
    """What is kept of an event: identity, clock, where it stands, what it shows; `at` in microseconds since 1970."""

    device: str
    boot: int
    seq: int
    at: int
    clock_ms: int
    place: int  # number of the file and of the line
    same: int  # equal for events that are equal after decoding
    kind: type[ev.AnyEvent]
    senses: tuple[Sense, ...]  # that it carries
    about: int | str | None = None  # draw of a draw or a placement, id of a round

    @property
    def key(self) -> tuple[str, int, int]:
        """Its identity."""
        return self.device, self.boot, self.seq


class Unreadable(Struct, frozen=True):
    """A line that is no event: where, of which type as far as that can be told, and why."""

    place: str
    type: str | None
    code: str
    detail: str


class Unknown(Struct):
    """How often an unknown field came, and where first."""

    count: int
    first: str


class Telemetry:
    """Everything that the lines said, by table."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.lines = 0
        self.unreadable: list[Unreadable] = []
        self.unknown: dict[tuple[str, str], Unknown] = {}  # type, field
        self.types: Counter[str] = Counter()
        self.notes: dict[str, list[Note]] = {}  # table -> in order of arrival
        self.corrected: dict[str, dict[tuple[str, int, int], Note]] = {}
        self.opened: dict[tuple[str, int], ev.TableOpened] = {}  # table, place
        self.named: dict[tuple[str, str], tuple[str, tuple[Sense, ...]]] = {}  # table, device -> where, what it carries
        self._reader = Reader()

    def hear(self, path: str, number: int, line: bytes) -> None:
        """Take one line in; the lines of a file come together."""
        if not self.paths or self.paths[-1] != path:
            self.paths.append(path)
        self.lines += 1
        place = (len(self.paths) - 1 << _LINE_BITS) | number
        event = self._reader.read(line)
        if isinstance(event, Refusal):
            self.unreadable.append(Unreadable(self.where(place), _type_of(line), event.code, event.detail))
            return
        self._note_unknown(line, type(event), place)
        self._keep(event, place)

    def where(self, place: int) -> str:
        """A place as file:line."""
        return f"{self.paths[place >> _LINE_BITS]}:{place & ((1 << _LINE_BITS) - 1)}"

    def _keep(self, event: ev.AnyEvent, place: int) -> None:
        kind = type(event)
        self.types[str(kind.__struct_config__.tag)] += 1
        self.notes.setdefault(event.table, []).append(_note(event, place))
        if isinstance(event, ev.TableOpened):
            self.opened[event.table, place] = event
        elif isinstance(event, ev.DeviceOnline) and event.sense is None and event.senses is not None:
            self.named[event.table, event.device] = (self.where(place), event.senses)
        elif isinstance(event, ev.EventCorrected):
            right = _note(event.event, place, event.corrects)
            self.corrected.setdefault(event.table, {})[right.key] = right
            if isinstance(event.event, ev.TableOpened):
                self.opened[event.table, place] = event.event

    def _note_unknown(self, line: bytes, kind: type[ev.AnyEvent], place: int) -> None:
        try:
            plain = orjson.loads(line)
        except orjson.JSONDecodeError:  # it refuses more than the decoder of events: half a surrogate pair
            return
        tag = str(kind.__struct_config__.tag)
        for name in _unknown(plain, kind):
            seen = self.unknown.setdefault((tag, name), Unknown(0, self.where(place)))
            seen.count += 1


def _note(event: ev.AnyEvent, place: int, key: ev.Identity | None = None) -> Note:
    about: int | str | None = None
    if isinstance(event, ev.CardDrawn | ev.CardPlaced):
        about = event.draw
    elif isinstance(event, ev.RoundOpened):
        about = event.round
    key = key or ev.Identity(event.device, event.boot, event.seq)
    return Note(
        key.device, key.boot, key.seq, micros(event.at), event.clock_ms, place, _same(event), type(event),
        carried(event), about,
    )  # fmt: skip


def _same(event: ev.AnyEvent) -> int:
    """Equal for events that are equal after decoding, whatever their offsets from UTC."""
    if isinstance(event, ev.TableOpened | ev.EventCorrected):  # a mapping, or a time within
        return hash(canonical(full(event)))
    return hash(encode(replace(event, at=event.at.astimezone(UTC)) if event.at.utcoffset() else event))


def carried(event: ev.AnyEvent) -> tuple[Sense, ...]:
    """The senses that an event shows at work: those of its type, and what its fields tell."""
    senses = event.carries
    if isinstance(event, ev.CardDrawn | ev.CardPlaced | ev.CardTurned | ev.CardSeen) and event.card != UNSEEN:
        senses = (*senses, "identity")
    if isinstance(event, ev.CardDrawn | ev.CardPlaced) and event.hand is not None:
        senses = (*senses, "dealer_hands")
    if isinstance(event, ev.ShuffleCompleted) and event.count is None:
        senses = ("shuffler",)
    return senses


def _type_of(line: bytes) -> str | None:
    """The type that an unreadable line claims, if it has the look of one."""
    try:
        plain = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    name = plain.get("type") if isinstance(plain, dict) else None
    return name if isinstance(name, str) and _TYPE.fullmatch(name) else None


def _unknown(plain: dict[str, Any], kind: type[Struct], above: str = "") -> Iterator[str]:
    """The fields of a decoded object, and of the objects in it, that its type does not have."""
    hints = _hints(kind)
    for name, value in plain.items():
        if name not in hints:
            yield above + ascii(name)[1:-1][:_LONGEST_NAME]
            continue
        for item in value if isinstance(value, list) else (value,):
            inner = _struct_in(hints[name], item) if isinstance(item, dict) else None
            if inner is not None:
                yield from _unknown(item, inner, f"{above}{name}.")


@cache
def _hints(kind: type[Struct]) -> dict[str, Any]:
    """The fields of a type as they are called on the wire, the tag among them."""
    hints = get_type_hints(kind)
    tag = {"type": str} if issubclass(kind, ev.Event) else {}
    return tag | {name: hints[name] for name in kind.__struct_fields__}


def _struct_in(hint: Any, item: dict[str, Any]) -> type[Struct] | None:
    """The type of object that a field's value is; None for a mapping with free names."""
    if isinstance(hint, type) and issubclass(hint, ev.Event):
        return ev.TYPES.get(str(item.get("type")))
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    return next((found for a in get_args(hint) if (found := _struct_in(a, item)) is not None), None)
