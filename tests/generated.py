"""Events that nobody wrote: strategies for every event type, made from the types themselves."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any, Final

import msgspec
from hypothesis import strategies as st
from msgspec import inspect
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import Setting
from stream.replay.fold import ENGINE_SETTINGS
from stream.rulebook.paragraphs import ids, load

TABLE: Final = "T1"
BEGIN: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
KINDS: Final = tuple(ev.TYPES.values())

_printable = st.characters(min_codepoint=0x21, max_codepoint=0x7E)
_OFFSETS: Final = [timezone(timedelta(minutes=m)) for m in (0, 60, -300, 345, 840, -720)]
_FIRST, _LAST = datetime(2000, 1, 2), datetime(2099, 12, 30)  # noqa: DTZ001  # hypothesis adds the zone

GAMES: Final = ids()


def _settings_of(rules: str) -> list[tuple[str, Setting]]:
    """Each setting and interpretation of a rule set with each of its values, and with values that it has not."""
    law = load(rules).rules
    known: dict[str, tuple[Setting, ...]] = {k: (v,) for k, v in law.settings.items()}
    known |= {k: (*known.get(k, ()), *v) for k, v in law.allowed.items() if not isinstance(v, str)}
    known |= {k: (i.default, *i.values) for k, i in law.interpretation.items()}
    known |= {k: (v, 0, 1) for k, v in ENGINE_SETTINGS.items() if k not in KEPT}
    known |= {"streets": ("ddu bet * u bet * d bet", "d", "u * * bet du", "bet", "ddd")} if "streets" in known else {}
    junk: tuple[Setting, ...] = (-1, True, "", 2**53 - 1)
    return [(name, value) for name, values in sorted(known.items()) for value in (*values, *junk)]


KEPT: Final = ("rounds_kept", "minutes_kept")  # with these what is said of an old round depends on when it was said
_SETTINGS: Final[Mapping[str, list[tuple[str, Setting]]]] = {rules: _settings_of(rules) for rules in GAMES}


def options(rules: str) -> st.SearchStrategy[dict[str, Setting]]:
    """Some options of a table, mostly such as its rule set has."""
    return st.lists(st.sampled_from(_SETTINGS[rules]), max_size=4).map(dict)


# A small world, in which generated events meet: few devices, few seats, one hour, small numbers.
SMALL: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "table": st.just(TABLE),
    "device": st.sampled_from(["floor", "shoe", "layout"]),
    "boot": st.integers(0, 1),
    "seq": st.integers(0, 30),
    "at": st.integers(0, 3600).map(lambda s: BEGIN + timedelta(seconds=s)),
    "clock_ms": st.sampled_from([0, 5, 5000]),
    "rules": st.sampled_from([*GAMES, *GAMES, "no-such-rules"]),
    "options": st.sampled_from(GAMES).flatmap(options),
    "round": st.sampled_from(["r1", "r2", "r3"]),
    "deck": st.sampled_from(["A", "B"]),
    "asset": st.sampled_from(["SH1", "SH9"]),
    "area": st.sampled_from(["ante", "double", "bet", "bonus", "1", "2", "$"]),
    "draw": st.integers(1, 9),
    "index": st.integers(1, 5),
    "corrects": st.builds(
        ev.Identity, st.sampled_from(["floor", "shoe", "layout"]), st.integers(0, 1), st.integers(0, 30)
    ),
}


_made: Final[dict[tuple[type[ev.Event], int], st.SearchStrategy[Any]]] = {}  # building one takes longer than drawing


def event(kind: type[ev.Event], world: Mapping[str, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    """Any event of a type; `world` says for some fields what they may hold."""
    known = _made.get((kind, id(world)))
    if known is None:
        known = _made[kind, id(world)] = _event(kind, world or {})
    return known


def _event(kind: type[ev.Event], world: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    fields = {f.name: _field(f, world) for f in msgspec.structs.fields(kind)}
    built: st.SearchStrategy[Any] = st.builds(kind, **fields)
    return built.map(_coherent) if kind is ev.EventCorrected else built


def _coherent(made: ev.EventCorrected) -> ev.EventCorrected:
    """A correction as a device sends it: the right event has the identity of the wrong one, at the same table."""
    wrong = made.corrects
    if wrong == ev.Identity(made.device, made.boot, made.seq):
        wrong = replace(wrong, seq=(wrong.seq + 1) % 2**53)
    right = replace(made.event, table=made.table, device=wrong.device, boot=wrong.boot, seq=wrong.seq)
    return replace(made, corrects=wrong, event=right)


def events(world: Mapping[str, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    """Any event of any type."""
    return st.one_of([event(kind, world) for kind in KINDS])


def _field(field: msgspec.structs.FieldInfo, world: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    if field.name in world:
        known = world[field.name]
        return known if field.required or field.default is not None else st.none() | known
    if field.name == "event":
        return st.one_of([event(kind, world) for kind in KINDS if kind is not ev.EventCorrected])
    return of_type(field.type)


@cache
def of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Every value that a field's type admits."""
    return _values(inspect.type_info(hint))


def _values(info: inspect.Type) -> st.SearchStrategy[Any]:
    match info:
        case inspect.Metadata():
            inner = info.type
            assert isinstance(inner, inspect.StrType)
            return st.text(_printable, min_size=inner.min_length or 0, max_size=inner.max_length)
        case inspect.StrType() if info.pattern is not None:
            return st.from_regex(info.pattern, fullmatch=True)
        case inspect.StrType():
            return st.text(min_size=info.min_length or 0, max_size=min(info.max_length or 20, 20))
        case inspect.IntType():
            return st.integers(info.ge, info.le)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType():
            return st.sampled_from(info.values)
        case inspect.DateTimeType():
            return st.datetimes(_FIRST, _LAST, timezones=st.sampled_from(_OFFSETS))
        case inspect.UnionType():
            return st.one_of([_values(t) for t in info.types])
        case inspect.VarTupleType():
            low, high = info.min_length or 0, min(info.max_length or 3, 3)
            return st.lists(_values(info.item_type), min_size=low, max_size=high).map(tuple)
        case inspect.DictType():
            return st.dictionaries(_values(info.key_type), _values(info.value_type), max_size=3)
        case inspect.StructType():
            return st.builds(info.cls, **{f.name: _values(f.type) for f in info.fields})
        case _:
            raise TypeError(f"no values for {info}")
