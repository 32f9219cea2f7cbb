"""The table of all tokens in docs/notation.md, made from the forms and the defaults of the notation."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import orjson

from stream.deal import events as ev
from stream.deal.tokens import DEFAULTS, FORMS, Form
from stream.deal.words import SENSES

BEGIN: Final = "<!-- tokens: begin (generated) -->"
END: Final = "<!-- tokens: end -->"

# What follows from the tokens before.
_FOLLOWS: Final[dict[type[ev.Event], dict[str, str]]] = {
    ev.BettingClosed: {"street": "the next"},
    ev.CardDrawn: {"draw": "the next", "source": "as `from:` says", "hand": "as `hands:` says"},
    ev.CardPlaced: {"index": "the next", "hand": "as `hands:` says"},
}
_ENVELOPE: Final = frozenset(ev.Event.__struct_fields__)


def put_into(page: str) -> str:
    """The page with the table between its two marks. Raises ValueError where a mark is missing."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"docs/notation.md lacks {BEGIN if not begin else END}")
    return f"{before}{BEGIN}\n{table()}{END}{after}"


def table() -> str:
    """One row an event type: its forms in the order of the notation, and what is not written means."""
    rows = [(f"`{tag}`", ", ".join(_forms(kind)), "; ".join(_unwritten(kind))) for tag, kind in ev.TYPES.items()]
    head = [("event", "tokens", "not written"), ("---", "---", "---")]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [*head, *rows])


def defaults(kind: type[ev.Event]) -> dict[str, Any]:
    """What fields beside the envelope are where a token does not say them; not those that follow from others."""
    of_type = {f.name: {} if f.default is msgspec.NODEFAULT else f.default for f in _fields(kind) if not f.required}
    return {k: v for k, v in (of_type | DEFAULTS.get(kind, {})).items() if k not in _FOLLOWS.get(kind, {})}


def _fields(kind: type[ev.Event]) -> Iterator[msgspec.structs.FieldInfo]:
    return (f for f in msgspec.structs.fields(kind) if f.name not in _ENVELOPE)


def _forms(kind: type[ev.Event]) -> Iterator[str]:
    known = defaults(kind)
    for form in FORMS:
        if form.kind is kind:
            yield f"`{form.template}`{_fixed(form, known)}"


def _fixed(form: Form, known: dict[str, Any]) -> str:
    """What a form says without writing it, unless that is the default."""
    said = [f"`{name}={value}`" for name, value in form.fixed if name not in known or known[name] != value]
    return f" ({', '.join(said)})" if said else ""


def _unwritten(kind: type[ev.Event]) -> Iterator[str]:
    known = {name: _shown(name, value) for name, value in defaults(kind).items()}
    known |= {name: f"`{name}` {words}" for name, words in _FOLLOWS.get(kind, {}).items()}
    forms = [f for f in FORMS if f.kind is kind]
    for field in _fields(kind):
        if field.name in known:
            yield known[field.name]
        elif not all(field.name in {*f.fields, *(name for name, _ in f.fixed)} for f in forms):
            yield f"`{field.name}` must be written"


def _shown(name: str, value: object) -> str:
    """A default as a block behind the token would say it."""
    if value is None:
        return f"`{name}` absent"
    if value == SENSES:
        return f"`{name}` all"
    text = value if isinstance(value, str) else orjson.dumps(msgspec.to_builtins(value)).decode()
    return f"`{name}={text}`"
