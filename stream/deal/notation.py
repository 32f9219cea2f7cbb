"""The notation: a round in one line of text, for tests, logs, issues and the `deal` of a verdict.

`parse` and `show` are inverse. The grammar is in docs/notation.md; the tokens in `stream.deal.tokens`. What a
line does not say takes its default: one second passes before each token (`~800`: 800 ms), a device counts
its own events, a card goes to the next place of its position and takes the next draw.
"""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import orjson

from stream.deal import events as ev
from stream.deal.tokens import DEFAULTS, DEVICES, FORMS, PATTERNS, WORDS
from stream.deal.words import Hand, Source

START: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
STEP_MS: Final = 1000
PLACED_AFTER_MS: Final = 300  # in a token that says draw and placement in one
CLOCK_MS: Final = 5
TABLE: Final = "T1"

_DEALT: Final = re.compile(
    rf"(?P<position>{PATTERNS['position']})(?:\.(?P<index>\d+)|(?<=C)(?P<common>\d+))?"
    rf"=(?P<card>{PATTERNS['card']})(?P<facing>[\^v])"
)
_PAUSE: Final = re.compile(r"~(-?\d+(?:\.\d{1,3})?)")
_HANDS: Final[dict[str, Hand | None]] = {"L": "left", "R": "right", "-": None}
_ENVELOPE: Final = ("table", "device", "boot", "seq", "at", "clock_ms", "confidence")


class NotationError(ValueError):
    """A line that is not in the notation: the token, its place, and what to do."""


@dataclass
class _Context:
    """What the tokens so far imply for the next one."""

    table: str = TABLE
    at: datetime = START
    step: timedelta = timedelta(milliseconds=STEP_MS)
    source: Source = "manual_shoe"
    hands: tuple[Hand | None, Hand | None] = (None, None)
    draw: int = 0
    street: int = 0
    placed: dict[str, int] = field(default_factory=dict)
    last: dict[str, tuple[int, int]] = field(default_factory=dict)  # device -> boot, seq

    def defaults(self, kind: type[ev.Event], given: dict[str, Any]) -> dict[str, Any]:
        """Every field of a type that has a default here."""
        device = given.get("device", DEVICES[kind])
        boot, seq = self.last.get(device, (0, -1))
        if given.get("boot", boot) != boot:
            seq = -1
        out: dict[str, Any] = {
            f.name: {} if f.default is msgspec.NODEFAULT else f.default
            for f in msgspec.structs.fields(kind)
            if not f.required
        }
        out |= DEFAULTS.get(kind, {})
        out |= {"table": self.table, "device": device, "boot": boot, "seq": seq + 1, "clock_ms": CLOCK_MS}
        out["at"] = self.at + self.step
        if kind is ev.CardDrawn:
            out |= {"source": self.source, "hand": self.hands[0], "draw": self.draw + 1}
        elif kind is ev.CardPlaced:
            out |= {"index": self.placed.get(given.get("position", ""), 0) + 1, "hand": self.hands[1]}
        elif kind is ev.BettingClosed:
            out["street"] = self.street + 1
        return out

    def heard(self, event: ev.Event) -> None:
        """Count an event in."""
        self.at, self.step = event.at, timedelta(milliseconds=STEP_MS)
        self.last[event.device] = (event.boot, event.seq)
        if isinstance(event, ev.RoundOpened):
            self.draw, self.street, self.placed = 0, 0, {}
        elif isinstance(event, ev.CardDrawn):
            self.draw = max(self.draw, event.draw)
        elif isinstance(event, ev.CardPlaced):
            self.placed[event.position] = max(self.placed.get(event.position, 0), event.index)
        elif isinstance(event, ev.BettingClosed):
            self.street = event.street

    def make(self, kind: type[ev.Event], given: dict[str, Any]) -> ev.Event:
        """The event with its defaults filled in, checked like one from the wire."""
        fields = {k: msgspec.to_builtins(v) for k, v in (self.defaults(kind, given) | given).items()}
        if any(v is None for v in fields.values()):
            fields = {k: v for k, v in fields.items() if v is not None}
        tag = kind.__struct_config__.tag
        event: ev.Event = msgspec.convert(fields | {"type": tag}, ev.AnyEvent)
        self.heard(event)
        return event


def parse(text: str, *, table: str = TABLE, start: datetime = START) -> list[ev.Event]:
    """The events that lines of notation say, in the order written.

    A line that opens no round and does not begin with `-` opens the next one (`r1`, `r2`, ...); `-` begins a
    line between rounds. Raises `NotationError` with line, column and token.
    """
    context = _Context(table=table, at=start - timedelta(milliseconds=STEP_MS))
    out: list[ev.Event] = []
    rounds = 0
    for number, line in enumerate(text.splitlines(), 1):
        tokens = list(_tokens(line))
        if not tokens:
            continue
        if tokens[0][1] == "-":
            tokens = tokens[1:]
        elif not any(token.startswith(("@", "round.opened")) for _, token in tokens):
            rounds += 1
            tokens.insert(0, (0, f"@r{rounds}"))
        else:
            rounds += 1
        for column, token in tokens:
            try:
                out.extend(_read(token, context))
            except (ValueError, orjson.JSONDecodeError) as error:
                raise NotationError(f"line {number}, column {column + 1}: {token!r}: {error}") from error
    return out


def _tokens(line: str) -> Iterator[tuple[int, str]]:
    """Words of a line up to a comment, each with its column."""
    for found in re.finditer(r"\S+", line):
        if found[0].startswith("//"):
            return
        yield found.start(), found[0]


def _read(token: str, context: _Context) -> Iterator[ev.Event]:
    if pause := _PAUSE.fullmatch(token):
        context.step = timedelta(milliseconds=float(pause[1]))
        return
    if token.startswith("from:"):
        context.source = msgspec.convert(token[5:], Source)
        return
    if token.startswith("hands:") and len(token) == 8 and set(token[6:]) <= _HANDS.keys():
        context.hands = (_HANDS[token[6]], _HANDS[token[7]])
        return
    if token == "*":
        yield context.make(ev.CardDrawn, {})
        context.step = timedelta(milliseconds=PLACED_AFTER_MS)
        yield context.make(ev.CardBurned, {"draw": context.draw})
        return
    if dealt := _DEALT.fullmatch(token):
        yield from _read_dealt(dealt, context)
        return
    yield _read_form(token, context)


def _read_dealt(dealt: re.Match[str], context: _Context) -> Iterator[ev.Event]:
    facing = next(k for k, v in WORDS["facing"].items() if v == dealt["facing"])
    given: dict[str, Any] = {"position": dealt["position"], "card": dealt["card"], "facing": facing}
    if index := dealt["index"] or dealt["common"]:
        given["index"] = int(index)
    yield context.make(ev.CardDrawn, {"card": dealt["card"]})
    context.step = timedelta(milliseconds=PLACED_AFTER_MS)
    yield context.make(ev.CardPlaced, {"draw": context.draw, **given})


def _read_form(token: str, context: _Context) -> ev.Event:
    short, brace, rest = token.partition("{")
    extra = _read_block(rest) if brace else {}
    for form in FORMS:
        values = form.read(short)
        if values is not None:
            try:
                return context.make(form.kind, {**values, **extra})
            except msgspec.ValidationError:
                if form is FORMS[-1]:
                    raise
    kind = ev.TYPES.get(short)
    if kind is None:
        raise ValueError("no such token; docs/notation.md lists them")
    return context.make(kind, extra)


def _read_block(text: str) -> dict[str, Any]:
    if not text.endswith("}"):
        raise ValueError("a block begins with { and must end the token with }")
    out: dict[str, Any] = {}
    for part in _split(text[:-1]):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError("a block holds name=value, parted by commas")
        try:
            out[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            out[name] = value
    return out


def _split(text: str) -> Iterator[str]:
    """Split at commas outside of brackets and quotes."""
    depth, quoted, escaped, begin = 0, False, False, 0
    for i, char in enumerate(text):
        if char == '"' and not escaped:
            quoted = not quoted
        escaped = quoted and char == "\\" and not escaped
        if not quoted:
            depth += (char in "[{") - (char in "]}")
            if char == "," and depth == 0:
                yield text[begin:i]
                begin = i + 1
    if text:
        yield text[begin:]


def show(events: Iterable[ev.Event], *, start: datetime = START) -> str:
    """Lines of notation that `parse` reads back into equal events (with `table` of the first event)."""
    events = list(events)
    context = _Context(table=events[0].table if events else TABLE, at=start - timedelta(milliseconds=STEP_MS))
    lines: list[list[str]] = []
    i = 0
    while i < len(events):
        if isinstance(events[i], ev.RoundOpened) or not lines:
            lines.append([] if isinstance(events[i], ev.RoundOpened) else ["-"])
        elif i and isinstance(events[i - 1], ev.RoundClosed):
            lines.append(["-"])
        tokens, used = _write(events, i, context)
        lines[-1].extend(tokens)
        i += used
    return "\n".join(" ".join(line) for line in lines)


def _write(events: list[ev.Event], i: int, context: _Context) -> tuple[list[str], int]:
    """The tokens for the event at i, and how many events they say."""
    event = events[i]
    out: list[str] = []
    if event.at != context.at + context.step:
        pause = (event.at - context.at) / timedelta(milliseconds=1)
        out.append(f"~{pause:.3f}".rstrip("0").rstrip("."))
    if isinstance(event, ev.CardDrawn) and event.source != context.source:
        context.source = event.source
        out.append(f"from:{event.source}")
    if isinstance(event, ev.CardDrawn) and i + 1 < len(events):
        pair = _pair(event, events[i + 1], context)
        if pair is not None:
            return out + pair, 2
    context.step = event.at - context.at
    out.append(_write_form(event, context))
    context.heard(event)
    return out, 1


def _pair(drawn: ev.CardDrawn, after: ev.Event, context: _Context) -> list[str] | None:
    """One token for a draw and what became of the card, if it reads back into both."""
    if isinstance(after, ev.CardPlaced):
        place = f"C{after.index}" if after.position == "C" else after.position
        if after.position != "C" and after.index != context.placed.get(after.position, 0) + 1:
            place += f".{after.index}"
        token = f"{place}={after.card}{WORDS['facing'][after.facing]}"
        hands = (drawn.hand, after.hand)
    elif isinstance(after, ev.CardBurned):
        token, hands = "*", (drawn.hand, context.hands[1])
    else:
        return None
    trial = deepcopy(context)
    trial.step, trial.hands = drawn.at - trial.at, hands
    if list(_read(token, trial)) != [drawn, after]:
        return None
    out = [token] if hands == context.hands else ["hands:" + "".join(_letter(h) for h in hands), token]
    context.__dict__.update(trial.__dict__)
    return out


def _letter(hand: Hand | None) -> str:
    return next(k for k, v in _HANDS.items() if v == hand)


def _write_form(event: ev.Event, context: _Context) -> str:
    values = {name: getattr(event, name) for name in event.__struct_fields__}
    best: tuple[int, str, list[str]] | None = None
    for form in FORMS:
        if form.kind is not type(event):
            continue
        token = form.write(values)
        if token is None:
            continue
        said = {*form.fields, *(name for name, _ in form.fixed)}
        rest = _rest(event, values, said, context)
        if best is None or len(rest) < best[0]:
            best = (len(rest), token, rest)
    tag = str(event.__struct_config__.tag)
    _, token, rest = best or (0, tag, _rest(event, values, set(), context))
    return token + ("{" + ",".join(rest) + "}" if rest else "")


def _rest(event: ev.Event, values: dict[str, Any], said: set[str], context: _Context) -> list[str]:
    """What a token leaves unsaid and its default does not say: name=value."""
    defaults = context.defaults(type(event), values)
    if "device" not in said and event.device != DEVICES[type(event)]:
        defaults["device"] = None
    return [
        f"{name}={_value(value)}"
        for name, value in values.items()
        if name not in said and name != "at" and (name not in defaults or defaults[name] != value)
    ]


def _value(value: object) -> str:
    text = orjson.dumps(msgspec.to_builtins(value)).decode()
    text = re.sub(r"\s", lambda m: f"\\u{ord(m[0]):04x}", text)  # blanks part tokens
    bare = value if isinstance(value, str) else ""
    return bare if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]*", bare) and bare not in _LITERALS else text


_LITERALS: Final = {"true", "false", "null", "NaN", "Infinity"}


def brief(events: Iterable[ev.Event]) -> str:
    """The acts of a round in one line, without times, devices and envelope: the `deal` of a verdict.

    A placement speaks for its draw; heartbeats and device reports are left out.
    """
    events = [e for e in events if not isinstance(e, ev.DeviceEvent)]
    placed = {e.draw for e in events if isinstance(e, ev.CardPlaced | ev.CardBurned)}
    context = _Context()
    out: list[str] = []
    for event in events:
        if isinstance(event, ev.CardDrawn):
            if event.source != context.source:
                context.source = event.source
                out.append(f"from:{event.source}")
            if event.draw in placed and not event.face_up:
                continue
        out.append(_brief_token(event))
    return " ".join(out)


def _brief_token(event: ev.Event) -> str:
    if isinstance(event, ev.CardPlaced):
        place = f"C{event.index}" if event.position == "C" else f"{event.position}.{event.index}"
        return f"{place}={event.card}{WORDS['facing'][event.facing]}"
    if isinstance(event, ev.CardBurned):
        return "*"
    values = {name: getattr(event, name) for name in event.__struct_fields__}
    return next(
        (t for f in FORMS if f.kind is type(event) and (t := f.write(values)) is not None),
        str(event.__struct_config__.tag),
    )
