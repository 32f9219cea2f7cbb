"""What could not be read, and what was read and ignored."""

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from stream.deal import events as ev
from stream.fitness.findings import Finding
from stream.fitness.telemetry import Telemetry

_REMEDIES: Final = {
    "too_large": "send one event a record; 64 KiB is the most",
    "not_json": "send one JSON object a line, in UTF-8, and nothing else",
    "too_deep": "send the fields of the contract; none is nested deeply",
    "not_an_event": "compare with the event's schema; a missing type, field or bound is named",
    "bad_time": "send `at` as RFC 3339 with an offset, of the years 2000 to 2099",
    "bad_id": "use printable ASCII without blanks in ids",
    "repeated_key": "write each key once",
}


def schema(telemetry: Telemetry) -> Iterator[Finding]:
    """Unreadable lines, grouped by reason and type; then unknown fields, which are no error."""
    if not telemetry.lines:
        yield Finding("schema", "nothing_read", "wrong", "there is no line at all", "look where the events go", count=0)
    groups = Counter((u.code, u.type, u.detail) for u in telemetry.unreadable)
    places = {(u.code, u.type, u.detail): u.place for u in reversed(telemetry.unreadable)}
    for (code, kind, detail), count in sorted(groups.items(), key=lambda g: (-g[1], repr(g[0]))):
        first = places[code, kind, detail]
        what = f"{kind or 'lines of no known type'} can't be read: {detail}"
        yield Finding("schema", code, "wrong", what, _remedy(code, kind), count=count, first=first)
    for (kind, name), seen in sorted(telemetry.unknown.items()):
        known = {f for f in ev.TYPES[kind].__struct_fields__ if f not in ("table", "device")}
        close = get_close_matches(name, known, 1)
        remedy = f"did you mean {close[0]}" if close else "nothing; it is accepted, counted and ignored"
        what = f"{kind} has no field {name}"
        yield Finding("fields", "unknown_field", "remark", what, remedy, count=seen.count, first=seen.first)


def _remedy(code: str, kind: str | None) -> str:
    if code == "not_an_event" and kind is not None and kind not in ev.TYPES:
        close = get_close_matches(kind, ev.TYPES, 1)
        return f"there is no type {kind}; " + (f"did you mean {close[0]}" if close else "leave such events out")
    return _REMEDIES.get(code, "compare with the contract")
