"""Bytes to events and back, and the one canonical form of bytes.

Decoding refuses what the contract's bounds refuse and says why without repeating the value, so that a
reason can travel in a header and shows no card. It never raises: a record that can't be read is a `Refusal`.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from operator import attrgetter, ne
from typing import Any, Final, get_args, get_type_hints

import msgspec
import orjson

from stream.deal import events as ev
from stream.deal import words as w

LARGEST: Final = 64 * 1024
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST_YEAR: Final = 2000
_LAST_YEAR: Final = 2099
_FIRST: Final = (datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
_PAST: Final = (datetime(_LAST_YEAR + 1, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
_KNOWN_IDS_KEPT: Final = 100_000  # tables and devices of the largest operator, several times over


class Refusal(msgspec.Struct, frozen=True):
    """Why a record could not be read: a stable code, and the place in words without its value."""

    code: str
    detail: str


def micros(at: datetime) -> int:
    """Microseconds from 1970-01-01T00:00Z to an aware time, exact."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_micros(us: int) -> str:
    """RFC 3339 in UTC with six digits of the second, for a number of microseconds since 1970."""
    return (EPOCH + us * _MICROSECOND).isoformat(timespec="microseconds").replace("+00:00", "Z")


def canonical(value: object) -> bytes:
    """The canonical JSON of builtins: sorted keys, no blanks, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def encode(event: ev.Event) -> bytes:
    """One event as a record's value or a line of a telemetry file (without the line end)."""
    return _encode(event)


def full(event: ev.Event) -> dict[str, Any]:
    """An event as builtins with every default written out and `at` in UTC microseconds, for digests."""
    out: dict[str, Any] = {"type": event.__struct_config__.tag}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name == "at":
            value = from_micros(micros(value))
        elif isinstance(value, ev.Event):
            value = full(value)
        else:
            value = msgspec.to_builtins(value)
        out[name] = value
    return out


class _Shape(msgspec.Struct, frozen=True):
    """What decoding must still check of one event type."""

    required: int  # keys that must be there, the type among them
    optional: Callable[[object], tuple[object, ...]]  # the other fields of an event
    defaults: tuple[object, ...]  # and their defaults
    ids: Callable[[object], tuple[str | None, ...]]  # the fields that hold one id
    one: tuple[str, ...]  # their names
    many: tuple[str, ...]  # the fields that hold several, or objects with ids
    inner: Callable[[ev.AnyEvent], int] | None  # keys of the objects within, where they can be counted
    fields: frozenset[str]


def _settled_on(event: ev.AnyEvent) -> int:
    return 2 * len(event.on or ()) if isinstance(event, ev.WagerSettled) else 0


def _shape(kind: type[ev.Event]) -> _Shape:
    hints = get_type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    optional = [f for f in fields if not f.required]
    one = [f.name for f in fields if hints[f.name] in (w.Id, w.Id | None)]
    return _Shape(
        required=len(fields) - len(optional),  # the tag counts as one more: see optional
        optional=attrgetter("table", *(f.name for f in optional)),  # always a tuple, whose first counts one
        defaults=(None, *(f.default for f in optional)),
        ids=attrgetter(*one),
        one=tuple(one),
        many=tuple(f.name for f in fields if f.name not in one and _has_id(hints[f.name])),
        inner=_settled_on if kind is ev.WagerSettled else None,
        fields=frozenset({"type", *(f.name for f in fields)}),
    )


def _has_id(hint: object) -> bool:
    return hint in (w.Id, ev.Identity, ev.Deck) or any(_has_id(a) for a in get_args(hint) if a is not Ellipsis)


_SHAPES: Final[dict[type, _Shape]] = {t: _shape(t) for t in ev.TYPES.values()}
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(ev.AnyEvent).decode
_QUOTED: Final = re.compile(r"'[^']*'")


class Reader:
    """Decodes records of one stream; counts the unknown fields it was given and ignored."""

    def __init__(self) -> None:
        self.unknown_fields = 0
        self._known_ids: set[str | None] = {None}

    def read(self, value: bytes) -> ev.AnyEvent | Refusal:
        """The event in a record's value, or why there is none; never raises.

        Checks what a JSON decoder lets pass: size, UTF-8 also where a field is skipped, repeated keys,
        ids with blanks or control characters, years outside 2000..2099.
        """
        if len(value) > LARGEST:
            return Refusal("too_large", f"{len(value)} bytes; at most {LARGEST} are allowed")
        try:
            event = _decode(value)
        except msgspec.ValidationError as error:
            return Refusal("not_an_event", _QUOTED.sub("…", str(error)))
        except msgspec.DecodeError as error:
            return Refusal("not_json", _QUOTED.sub("…", str(error)))
        except RecursionError:
            return Refusal("too_deep", "nested too deeply")
        except (OverflowError, ValueError):
            return Refusal("not_an_event", "a time or a number is out of range")
        shape = _SHAPES[type(event)]
        # Each key ends in `":`. A blank may stand between the two, so what holds one is looked at closely as well.
        keys = shape.required + sum(map(ne, shape.optional(event), shape.defaults))
        if shape.inner is not None:
            keys += shape.inner(event)
        if value.count(b'":') != keys or not value.isascii() or len(value.split(None, 1)) > 1:
            refusal = self._inspect(value, shape)
            if refusal is not None:
                return refusal
        known = self._known_ids
        if shape.many or not known.issuperset(shape.ids(event)):
            refusal = self._check_ids(event, shape)
            if refusal is not None:
                return refusal
        # the year is the sender's own: within a day of the bounds only the exact time tells
        if not _FIRST_YEAR < event.at.year < _LAST_YEAR and not _FIRST <= micros(event.at) < _PAST:
            return Refusal("bad_time", f"at: years {_FIRST_YEAR} to {_LAST_YEAR} are allowed")
        return event

    def _check_ids(self, event: ev.AnyEvent, shape: _Shape) -> Refusal | None:
        ids: list[str] = []
        for name in (*shape.one, *shape.many):
            here = list(_strings(getattr(event, name)))
            if not all(text.isascii() and text.isprintable() and " " not in text for text in here):
                return Refusal("bad_id", f"{name}: an id holds a character that no id may have")
            ids += here
        if isinstance(event, ev.EventCorrected):
            refusal = self._check_correction(event)
            if refusal is not None:
                return refusal
        if len(self._known_ids) < _KNOWN_IDS_KEPT:
            self._known_ids.update(ids)
        return None

    def _check_correction(self, outer: ev.EventCorrected) -> Refusal | None:
        """The right event has the identity of the wrong one, and the bounds of any."""
        event, wrong = outer.event, outer.corrects
        if (event.device, event.boot, event.seq) != (wrong.device, wrong.boot, wrong.seq):
            return Refusal("bad_correction", "event: its identity is not the one that it corrects")
        if event.table != outer.table or wrong == ev.Identity(outer.device, outer.boot, outer.seq):
            return Refusal("bad_correction", "event: it is of another table, or corrects its own correction")
        if not _FIRST <= micros(event.at) < _PAST:
            return Refusal("bad_time", f"event.at: years {_FIRST_YEAR} to {_LAST_YEAR} are allowed")
        return self._check_ids(event, _SHAPES[type(event)])

    def _inspect(self, value: bytes, shape: _Shape) -> Refusal | None:
        """The slow look at a record whose keys don't add up: bytes, repeated keys, unknown fields."""
        try:
            value.decode()
            plain = orjson.loads(value)
        except (UnicodeDecodeError, orjson.JSONDecodeError):
            return Refusal("not_json", "not UTF-8, or not JSON where a field is skipped")
        keys = value.count(b'":')
        blank = len(value.split(None, 1)) > 1
        if blank or (len(plain) != keys and sum(1 for _ in _keys(plain)) != keys):
            try:
                json.loads(value, object_pairs_hook=_no_repeats)
            except (ValueError, RecursionError):
                return Refusal("repeated_key", "a key stands twice in one object")
        self.unknown_fields += len(plain.keys() - shape.fields)
        return None


def _strings(value: object) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, ev.Identity | ev.Deck):
        yield value.device if isinstance(value, ev.Identity) else value.id
    elif isinstance(value, dict):
        yield from value


def _keys(plain: object) -> Iterator[str]:
    todo = [plain]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            yield from item
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("repeated key")
    return out
