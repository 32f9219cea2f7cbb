"""The tokens of the notation: for every event type the short forms in which it is written.

A form is one template that serves both ways: `{seat}${area}:{amount}` prints a wager and reads it back. A
field that a form leaves out has a default; one that differs stands behind the token as `{name=value}`.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.words import SENSES

_FIELD: Final = re.compile(r"\{(\w+)\}")
_ID: Final = r"[A-Za-z0-9_.\-]+"
_SEAT: Final = r"S[1-9]"
_NUMBER: Final = r"\d+"

_FACING: Final = {"up": "^", "down": "v"}
_BY: Final = {"dealer": "", "player": "p", "shuffler": "s", "unknown": "u"}
_FACE_UP: Final = {True: "!", False: ""}

PATTERNS: Final[dict[str, str]] = {
    "seat": _SEAT,
    "position": r"S[1-9]|D|C",
    "to": r"S[1-9]|D",
    "index": _NUMBER,
    "draw": _NUMBER,
    "amount": _NUMBER,
    "count": _NUMBER,
    "street": _NUMBER,
    "area": r"[A-Za-z0-9_$]+",
    "card": r"[2-9TJQKA][cdhs]|Jk|\?\?",
    "facing": r"[\^v]",
    "by": r"[psu]?",
    "face_up": r"!?",
}
WORDS: Final[dict[str, dict[Any, str]]] = {"facing": _FACING, "by": _BY, "face_up": _FACE_UP}
NUMBERS: Final = frozenset({"index", "draw", "amount", "count", "street", "seq", "boot"})


class Form(Struct, frozen=True):
    """One way to write one event type: its template, the fields in it, and those it fixes."""

    kind: type[ev.Event]
    template: str
    fields: tuple[str, ...]
    fixed: tuple[tuple[str, object], ...]
    reads: re.Pattern[str]

    def write(self, values: dict[str, Any]) -> str | None:
        """The token for these field values, or None where this form can't say them."""
        if any(values.get(name) != want for name, want in self.fixed):
            return None
        parts = {}
        for name in self.fields:
            value = values.get(name)
            text = WORDS[name].get(value) if name in WORDS else None if value is None else str(value)
            if text is None or not re.fullmatch(PATTERNS.get(name, _ID), text):
                return None
            parts[name] = text
        return _FIELD.sub(lambda m: parts[m[1]], self.template)

    def read(self, token: str) -> dict[str, Any] | None:
        """The field values in a token, or None where it is not of this form."""
        found = self.reads.fullmatch(token)
        if found is None:
            return None
        values = dict(self.fixed)
        for name, text in found.groupdict().items():
            if name in WORDS:
                values[name] = next(k for k, v in WORDS[name].items() if v == text)
            else:
                values[name] = int(text) if name in NUMBERS else text
        return values


def _form(kind: type[ev.Event], template: str, **fixed: object) -> Form:
    fields = tuple(_FIELD.findall(template))
    pieces = _FIELD.split(template)
    pattern = "".join(
        f"(?P<{piece}>{PATTERNS.get(piece, _ID)})" if i % 2 else re.escape(piece) for i, piece in enumerate(pieces)
    )
    return Form(kind, template, fields, tuple(fixed.items()), re.compile(pattern))


# The order decides which form is printed where several could; reading tries them all.
FORMS: Final[tuple[Form, ...]] = (
    _form(ev.RoundOpened, "@{round}"),
    _form(ev.RoundClosed, "."),
    _form(ev.TableOpened, "open:{rules}"),
    _form(ev.TableClosed, "shut"),
    _form(ev.Announced, "nmb", what="no_more_bets", position=None),
    _form(ev.Announced, "misdeal", what="misdeal", position=None),
    _form(ev.Announced, "all_void", what="all_void", position=None),
    _form(ev.Announced, "round_void", what="round_void", position=None),
    _form(ev.Announced, "dead:{position}", what="hand_dead"),
    _form(ev.Announced, "void:{position}", what="hand_void"),
    _form(ev.Announced, "say:{what}"),
    _form(ev.BettingClosed, "bet"),
    _form(ev.BettingClosed, "bet{street}"),
    _form(ev.WagerPlaced, "{seat}${area}:{amount}"),
    _form(ev.WagerRemoved, "{seat}${area}-{amount}"),
    _form(ev.WagerSettled, "{seat}${area}={outcome}:{amount}"),
    _form(ev.WagerRequested, "{seat}$?"),
    _form(ev.CardsTouched, "{seat}!touch"),
    _form(ev.CardsHandled, "{seat}!handle"),
    _form(ev.CardsViewed, "{seat}!view"),
    _form(ev.PlayerLeft, "{seat}!left"),
    _form(ev.PlayerReturned, "{seat}!back"),
    _form(ev.SeatTaken, "{seat}!sits={player}"),
    _form(ev.PlayerDecided, "{seat}:{act}/{area}"),
    _form(ev.PlayerDecided, "{seat}:{act}"),
    _form(ev.DealerChanged, "dealer:{dealer}"),
    _form(ev.AlertAcknowledged, "ack:{verdict}/{role}"),
    _form(ev.SupervisorDirected, "order:{order}/{role}"),
    _form(ev.SupervisorNoted, "note:{what}/{role}"),
    _form(ev.SupervisorRuled, "rule:{verdict}={outcome}/{role}"),
    _form(ev.DeckLoaded, "load:{deck}>{into}#{asset}"),
    _form(ev.DeckLoaded, "load:{deck}>{into}"),
    _form(ev.DeckUnloaded, "unload:{deck}<{source}"),
    _form(ev.DeckRemoved, "off:{deck}"),
    _form(ev.CardDrawn, "+{draw}{face_up}", card="??"),
    _form(ev.CardDrawn, "+{draw}{face_up}={card}"),
    _form(ev.CardPlaced, "C{index}<{draw}={card}{facing}", position="C"),
    _form(ev.CardPlaced, "C{index}<={card}{facing}", position="C", draw=None),
    _form(ev.CardPlaced, "{position}<{draw}={card}{facing}"),
    _form(ev.CardPlaced, "{position}<={card}{facing}", draw=None),
    _form(ev.CardPlaced, "{position}.{index}<{draw}={card}{facing}"),
    _form(ev.CardPlaced, "{position}.{index}<={card}{facing}", draw=None),
    _form(ev.CardTurned, "C{index}{facing}{by}", position="C", card="??"),
    _form(ev.CardTurned, "C{index}{facing}{by}={card}", position="C"),
    _form(ev.CardTurned, "{position}.{index}{facing}{by}", card="??"),
    _form(ev.CardTurned, "{position}.{index}{facing}{by}={card}"),
    _form(ev.CardBurned, "burn{draw}"),
    _form(ev.CardBurned, "burn", draw=None),
    _form(ev.CardReturned, "back{draw}"),
    _form(ev.CardSeen, "seen:{place}/{draw}={card}"),
    _form(ev.CardSeen, "seen:{place}={card}", draw=None),
    _form(ev.CardsCollected, "take:{position}={count}"),
    _form(ev.CardsDiscarded, "#{draw}", count=1, position=None),
    _form(ev.CardsDiscarded, "#{position}={count}", draw=None),
    _form(ev.CardsDiscarded, "#={count}", draw=None, position=None),
    _form(ev.DeckHeld, "hold:{hand}", zone="container"),
    _form(ev.DeckHeld, "hold:{hand}/{zone}"),
    _form(ev.StubRemoved, "stub-"),
    _form(ev.StubCounted, "stub:{count}", facing="down"),
    _form(ev.StubCounted, "stub:{count}{facing}"),
    _form(ev.StubDiscarded, "stub#", facing="down"),
    _form(ev.StubDiscarded, "stub#{facing}"),
    _form(ev.ButtonMoved, "btn:{to}"),
    _form(ev.ShoeJammed, "jam:{source}"),
    _form(ev.ShoeStopped, "stop:{source}"),
    _form(ev.ShoeCleared, "clear:{source}"),
    _form(ev.ShuffleStarted, "shuffle:{deck}", mode="shuffle", method="device"),
    _form(ev.ShuffleStarted, "shuffle:{deck}/{mode}/{method}"),
    _form(ev.ShuffleCompleted, "shuffled:{deck}={count}"),
    _form(ev.ShuffleCompleted, "shuffled:{deck}", count=None),
    _form(ev.ShuffleJammed, "shuffle_jam:{deck}"),
    _form(ev.ShuffleStopped, "shuffle_stop:{deck}"),
    _form(ev.ShuffleAborted, "shuffle_end:{deck}"),
    _form(ev.DeviceInstalled, "install:{kind}#{asset}"),
    _form(ev.DeviceInstalled, "install:{kind}"),
    _form(ev.DeviceRemoved, "remove:{kind}#{asset}"),
    _form(ev.DeviceRemoved, "remove:{kind}"),
    _form(ev.DeviceOnline, "online:{device}"),
    _form(ev.DeviceOffline, "offline:{device}"),
    _form(ev.DeviceHeartbeat, "beat:{device}"),
    _form(ev.EventCorrected, "fix"),
)

DEFAULTS: Final[dict[type[ev.Event], dict[str, object]]] = {
    ev.TableOpened: {
        "seats": 7,
        "shoe_side": "left",
        "decks": (ev.Deck("A", 52), ev.Deck("B", 52)),
        "limits": ev.Limits(10, 1000),
        "senses": SENSES,
    },
    ev.SupervisorDirected: {"seats": ()},
    ev.SupervisorNoted: {"seats": ()},
    ev.DeckLoaded: {"by": "dealer"},
    ev.CardDrawn: {"card": "??"},
    ev.CardTurned: {"by": "dealer", "card": "??"},
    ev.DeckHeld: {"zone": "container"},
    ev.StubCounted: {"facing": "down"},
    ev.StubDiscarded: {"facing": "down"},
    ev.ShuffleStarted: {"mode": "shuffle", "method": "device"},
    ev.CardsDiscarded: {"count": 1},
}


def _devices() -> Iterable[tuple[type[ev.Event], str]]:
    layout = {ev.CardPlaced, ev.CardTurned, ev.CardSeen, ev.CardsCollected, ev.ButtonMoved}
    rack = {ev.CardsDiscarded, ev.StubCounted, ev.StubDiscarded, ev.StubRemoved}
    for kind in ev.TYPES.values():
        if kind in layout:
            yield kind, "layout"
        elif kind in rack:
            yield kind, "rack"
        else:
            yield kind, {"card-reader": "shoe", "shuffler": "shuffler"}.get(kind.topic or "", "floor")


DEVICES: Final[dict[type[ev.Event], str]] = dict(_devices())
"""The device that reports a type where none is written."""
