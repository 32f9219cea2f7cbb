"""`table.opened` from a TOML file, for tables without a console; and what is wrong with one that reads well."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, get_type_hints

import msgspec
from msgspec import Struct

from stream.deal import events as ev
from stream.deal.wire import Reader, Refusal, encode
from stream.deal.words import SENSES, Sense, Setting
from stream.replay.fold import ENGINE_SETTINGS
from stream.rulebook.paragraphs import ids, load

CLOCK_MS: Final = 500  # of the machine that runs the command, where the file does not say better

_HINTS: Final = get_type_hints(ev.TableOpened, include_extras=True)
_FIELDS: Final = {f.name: f for f in msgspec.structs.fields(ev.TableOpened)}
_GIVEN: Final = frozenset({*_FIELDS, "senses_except"} - {"boot", "seq", "at", "confidence"})
_ID: Final = "1 to 64 printable ASCII characters without blanks"
_REMEDIES: Final[Mapping[str, str]] = {
    "table": f'name the table by its id: table = "T1"; {_ID}',
    "device": f"name the reporting device, or leave it out for console-<table>; {_ID}",
    "clock_ms": f"give the bound of this machine's clock error in whole milliseconds, or leave it out for {CLOCK_MS}",
    "rules": "name a rule set of `misdeal rules list`",
    "seats": "say how many seats the table has: seats = 7; 1 to 9",
    "shoe_side": 'say on which side of the dealer the shoe stands: shoe_side = "left" or "right"',
    "decks": 'list every deck: decks = [{ id = "A", cards = 52 }]; cards is 52 or 53',
    "limits": "give the least and the greatest wager in minor units: limits = { min = 1000, max = 50000 }",
    "currency": 'give the three capital letters of ISO 4217: currency = "USD"; or leave it out',
    "approved": 'list the asset ids of the approved shoes: approved = ["SH1"]; or leave it out',
    "senses": f"list what the table can see, of {', '.join(SENSES)}; or give senses_except instead",
    "senses_except": f"list what the table can not see, of {', '.join(SENSES)}; all others are then declared",
    "options": "give settings by name: [table.options], then a line for each; `misdeal rules show` names them",
}


@dataclass(frozen=True)
class Wrong:
    """What is wrong with one field of one table, and the remedy."""

    table: str  # its id, or which [[table]] it is where it has none
    field: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """One line: the place, what is wrong there, what to do."""
        place = ", ".join(p for p in (self.table, f"field {self.field}" if self.field else "") if p)
        return f"{place}: {self.what}. Remedy: {self.remedy}."


class Complaint(Struct, frozen=True):
    """What is wrong with a field of a `table.opened` that decodes, and the remedy."""

    field: str
    code: str
    what: str
    remedy: str


def openings(text: str, at: datetime, boot: int) -> tuple[list[ev.TableOpened], list[Wrong]]:
    """The `table.opened` of every `[[table]]` of a TOML text, and all that is wrong with it; never raises.

    `at` is aware; `boot` is that of every device, and each sends its event as `seq` 0.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [], [Wrong("the file", "", f"this is no TOML: {error}", "mend it at that place")]
    entries = data.pop("table", None)
    wrong = [
        Wrong("the file", name, "this stands outside of any table", "move it below a line [[table]]") for name in data
    ]
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        remedy = "begin each table with a line [[table]]"
        return [], [*wrong, Wrong("the file", "table", "it lists no tables", remedy)]
    made: dict[str, ev.TableOpened] = {}
    for number, entry in enumerate(entries, 1):
        name = entry.get("table")
        label = f"table {name}" if isinstance(name, str) and name else f"[[table]] number {number}"
        opened, complaints = _opening(entry, at, boot)
        wrong += [Wrong(label, c.field, c.what, c.remedy) for c in complaints]
        if opened is None:
            continue
        if opened.table in made:
            wrong.append(Wrong(label, "table", "it stands twice in the file", "keep one of the two"))
        made[opened.table] = opened
    return list(made.values()), wrong


def _opening(entry: dict[str, Any], at: datetime, boot: int) -> tuple[ev.TableOpened | None, list[Complaint]]:
    found = [_unknown(name) for name in entry if name not in _GIVEN]
    given = {name: value for name, value in entry.items() if name in _GIVEN}
    given.setdefault("device", f"console-{given.get('table')}")
    given.setdefault("clock_ms", CLOCK_MS)
    found += _resolve_senses(given)
    fields: dict[str, Any] = {"at": at, "boot": boot, "seq": 0}
    for name, field in _FIELDS.items():
        if name in fields or name == "confidence":
            continue
        if name not in given:
            if field.required and not any(c.field == name for c in found):
                found.append(Complaint(name, "missing", "it is missing", _REMEDIES[name]))
            continue
        try:
            fields[name] = msgspec.convert(given[name], _HINTS[name])
        except msgspec.ValidationError as error:
            found.append(Complaint(name, "not_allowed", str(error), _REMEDIES[name]))
            continue
        if not all(_is_id(text) for text in _ids(name, fields[name])):
            found.append(Complaint(name, "bad_id", "it holds a blank or another character that no id may have", _ID))
    if found:
        found += _rules_complaint(str(fields["rules"])) if "rules" in fields else ()
        return None, found
    opened = ev.TableOpened(**fields)
    refusal = Reader().read(encode(opened))  # what the wire refuses beyond types and ids: size, and --at
    if isinstance(refusal, Refusal):
        remedy = "shorten it, or give --at a time of the years 2000 to 2099"
        return None, [Complaint("", refusal.code, refusal.detail, remedy)]
    return opened, list(complaints(opened))


def _ids(name: str, value: Any) -> tuple[str, ...]:
    """The ids in a field."""
    if name in ("table", "device", "rules"):
        return (value,)
    return tuple(d.id for d in value) if name == "decks" else value or () if name == "approved" else ()


def _is_id(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _unknown(name: str) -> Complaint:
    close = get_close_matches(name, _GIVEN, 1)
    remedy = f"did you mean {close[0]}" if close else f"leave it out; there are {', '.join(sorted(_GIVEN))}"
    return Complaint(name, "unknown", "there is no such field", remedy)


def _resolve_senses(given: dict[str, Any]) -> list[Complaint]:
    """Put the declared senses in place of the excepted ones."""
    if "senses_except" not in given:
        return []
    excepted = given.pop("senses_except")
    if "senses" in given:
        return [Complaint("senses_except", "twice", "senses is given too", "keep one of the two")]
    try:
        without = msgspec.convert(excepted, tuple[Sense, ...])
    except msgspec.ValidationError as error:
        given["senses"] = []
        return [Complaint("senses_except", "not_allowed", str(error), _REMEDIES["senses_except"])]
    given["senses"] = [s for s in SENSES if s not in without]
    return []


def complaints(opened: ev.TableOpened) -> Iterator[Complaint]:
    """What a table can not run by, though every field has its type: unknown rules or options, odd limits."""
    decks = [d.id for d in opened.decks]
    if len(set(decks)) != len(decks):
        yield Complaint("decks", "deck_twice", "two decks have the same id", "give each deck an id of its own")
    if opened.limits.min > opened.limits.max:
        yield Complaint("limits", "limits_crossed", "min is greater than max", "exchange the two")
    if opened.currency is not None and not (opened.currency.isalpha() and opened.currency.isupper()):
        yield Complaint("currency", "no_currency", "it is not an ISO 4217 code", _REMEDIES["currency"])
    unknown = _rules_complaint(opened.rules)
    yield from unknown or _option_complaints(opened)


def _rules_complaint(rules: str) -> list[Complaint]:
    if rules in ids():
        return []
    held = f"name one of {', '.join(ids())}"
    return [Complaint("rules", "rule_set_unknown", f"no rule set {rules} is held", held)]


def _option_complaints(opened: ev.TableOpened) -> Iterator[Complaint]:
    rules = load(opened.rules).rules
    known: dict[str, tuple[Setting, tuple[Setting, ...]]] = {
        **{name: (value, ()) for name, value in {**ENGINE_SETTINGS, **rules.settings}.items()},
        **{name: (i.default, i.values) for name, i in rules.interpretation.items()},
    }
    for name, value in opened.options.items():
        if name not in known:
            close = get_close_matches(name, known, 1)
            remedy = f"did you mean {close[0]}" if close else f"leave it out; there are {', '.join(sorted(known))}"
            yield Complaint("options", "option_unknown", f"{opened.rules} has no option {name!r}", remedy)
            continue
        default, values = known[name]
        if values and value not in values:
            among = " or ".join(_toml(v) for v in values)
            yield Complaint("options", "option_value", f"{name} can not be {_toml(value)}", f"set it to {among}")
        elif type(value) is not type(default) or (name in ENGINE_SETTINGS and int(value) < 0):
            kind = {bool: "true or false", int: "a whole number, 0 or more", str: "a text"}[type(default)]
            yield Complaint("options", "option_value", f"{name} can not be {_toml(value)}", f"set it to {kind}")


def _toml(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
