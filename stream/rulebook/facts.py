"""What rules may read: wagers, draws, placements, calls, decks, hands. Kept by the engine, read by checks.

The persistent part (decks, what is loaded where, who holds the deck) goes from round to round as `Standing`;
the rest begins anew with each round.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import Facing, Hand, Into, Position, Seat, Sense, Setting, Source
from stream.rulebook.findings import Finding
from stream.rulebook.heard import Heard, unsure

ShuffleState = Literal["none", "started", "completed", "failed"]


class DeckFacts(Struct, frozen=True):
    """What is known of a deck: its latest shuffle."""

    state: ShuffleState = "none"
    method: Literal["device", "hand"] | None = None
    mode: Literal["shuffle", "sort"] | None = None
    count: int | None = None
    begun: Heard | None = None
    ended: Heard | None = None  # completed, jammed, stopped or aborted
    dealt: bool = False  # cards were drawn from it since that shuffle


class Load(Struct, frozen=True):
    """A deck in a machine, a shoe or a hand, and how its shuffle stood when it was put there."""

    deck: str
    heard: Heard
    shuffle: ShuffleState
    sorted: bool = False  # its last cycle put it in order instead of shuffling it


class Standing(Struct, frozen=True):
    """The facts that outlive a round."""

    decks: dict[str, DeckFacts] = {}
    loads: dict[Into, Load] = {}
    assets: dict[str, str] = {}  # kind of machine -> asset id, as last loaded or installed
    holding: Heard | None = None  # the last deck.held


class Wager:
    """Chips on one area, in minor units."""

    __slots__ = ("amount", "placed", "settled", "touched")

    def __init__(self, placed: Heard) -> None:
        self.amount = 0
        self.placed = placed
        self.touched = placed  # the last event that changed it
        self.settled = False


WAIT: Final = object()


class Facts:
    """The facts of one round, as they stand after the last event noted."""

    __slots__ = (
        "_later", "assets", "burned", "calls", "chosen", "closed", "collected", "complete_at", "completes",
        "dealt_from", "decided", "decks", "discarded", "draws", "explained", "faces", "first_draw", "folding",
        "hidden", "holding", "last_draw",
        "last_placed", "loads", "opened", "placed", "placements", "returned", "reveal", "round", "settings",
        "settled", "source", "touches", "turns", "voids", "wagers",
    )  # fmt: skip

    def __init__(self, opened: ev.TableOpened, standing: Standing, settings: Mapping[str, Setting]) -> None:
        self.opened = opened
        self.settings = settings
        self.decks = dict(standing.decks)
        self.loads = dict(standing.loads)
        self.assets = dict(standing.assets)
        self.holding = standing.holding
        self.round: Heard | None = None
        self.closed: Heard | None = None
        self.first_draw: Heard | None = None
        self.dealt_from: Load | None = None  # what the first card was drawn from
        self.last_draw = 0
        self.source: Source | None = None
        self.draws: dict[int, Heard] = {}
        self.placements: list[Heard] = []
        self.placed: dict[int, Heard] = {}  # draw -> its latest placement
        self.last_placed: Heard | None = None
        self.faces: dict[tuple[Position, int], Facing] = {}
        self.calls: list[Heard] = []
        self.voids: list[Heard] = []
        self.turns: list[Heard] = []
        self.settled: list[Heard] = []
        self.wagers: dict[tuple[Seat, str], Wager] = {}
        self.decided: set[Seat] = set()
        self.burned: list[Heard] = []
        self.returned: set[int] = set()
        self.discarded: set[int] = set()
        self.collected: dict[Position, int] = {}
        self.touches: list[Heard] = []
        self.chosen: Hand | None = None
        # What the explained plan says: kept by the engine beside each matching act.
        self.hidden: set[tuple[Position, int]] = set()  # cards that lie face down and shall
        self.complete_at: Heard | None = None  # the act that completed the deal, once it has come
        self.completes: Heard | None = None  # the same, known ahead when a whole round is judged
        self.reveal: Heard | None = None  # the first lawfully hidden common card turned up, not by a player
        self.explained: dict[tuple[str, int, int], Any] = {}
        self.folding = True
        self._later: list[Heard] | None = None

    def standing(self) -> Standing:
        """What of these facts outlives the round."""
        return Standing(dict(self.decks), dict(self.loads), dict(self.assets), self.holding)

    def setting(self, name: str) -> Setting:
        """A setting of the table: its own, else the rule set's default."""
        return self.settings[name]

    # --- looking ahead

    def look(self, events: list[Heard] | None) -> None:
        """Let checks see the events that follow (the whole round is judged), or not (it is being folded)."""
        self._later = events
        self.folding = events is None

    def later(self, after: Heard, kind: type[ev.Event] = ev.Event) -> Iterator[Heard]:
        """Events of a type after one, in order; none while folding."""
        for heard in self._later or ():
            if heard > after and isinstance(heard.event, kind):
                yield heard

    def wait(self) -> tuple[Finding, ...]:
        """Only later events can tell: makes the engine judge the round as a whole."""
        return (WAIT,) if self.folding else ()  # type: ignore[return-value]  # a mark, never read as a finding

    # --- questions that several rule sets ask

    def call_after(self, moment: Heard | None) -> Heard | None:
        """The last "No more bets" heard so far in this round that was heard after a moment."""
        call = self.calls[-1] if self.calls else None
        return call if call is not None and (moment is None or call > moment) else None

    def maybe_after(self, moment: Heard) -> Heard | None:
        """A "No more bets" heard before a moment that the clocks allow to have come after it."""
        return next((c for c in reversed(self.calls) if c < moment and unsure(c, moment)), None)

    def maybe_call(self, moment: Heard) -> Heard | None:
        """A "No more bets" heard after a moment that the clocks allow to have come before it."""
        return next(
            (c for c in self.later(moment, ev.Announced) if _is_call(c) and unsure(c, moment)),
            None,
        )

    def sees(self, *senses: Sense) -> bool:
        """Whether the table can see all of these."""
        return set(senses) <= set(self.opened.senses)

    def load_of(self, into: Into) -> Load | None:
        """The deck in a shoe or a hand, if its loading was seen."""
        return self.loads.get(into)

    def staked(self, area: str) -> tuple[Seat, ...]:
        """The seats with chips on an area now, S1 first."""
        return tuple(sorted(s for (s, a), w in self.wagers.items() if a == area and w.amount > 0))

    def all_settled(self) -> bool:
        """Whether every wager placed has ended, and at least one was settled."""
        return bool(self.settled) and all(w.settled or w.amount <= 0 for w in self.wagers.values())

    def accounted(self) -> set[int]:
        """The draws that are known to have gone elsewhere than to the layout."""
        return self.returned | self.discarded

    # --- noting

    def note(self, heard: Heard) -> None:
        """Take an event in."""
        noted = _NOTES.get(type(heard.event))
        if noted is not None:
            noted(self, heard, heard.event)


def _is_call(heard: Heard) -> bool:
    return isinstance(heard.event, ev.Announced) and heard.event.what == "no_more_bets"


def _round_opened(f: Facts, h: Heard, _e: ev.RoundOpened) -> None:
    f.round = h


def _round_closed(f: Facts, h: Heard, _e: ev.RoundClosed) -> None:
    if f.round is not None and f.closed is None:
        f.closed = h


def _drawn(f: Facts, h: Heard, e: ev.CardDrawn) -> None:
    if f.first_draw is None:
        f.first_draw = h
        f.dealt_from = f.loads.get(e.source)
        if f.chosen is None and f.holding is not None:
            f.chosen = f.holding.event.hand  # type: ignore[union-attr]  # holding is a deck.held
    if e.source != f.source:
        f.source = e.source
        _dealt_from(f, e.source)
    f.draws.setdefault(e.draw, h)
    f.last_draw = max(f.last_draw, e.draw)


def _dealt_from(f: Facts, source: Source) -> None:
    """From here on the deck in this source is a used one."""
    load = f.loads.get(source)
    deck = f.decks.get(load.deck) if load else None
    if load is not None and deck is not None and not deck.dealt:
        f.decks[load.deck] = replace(deck, dealt=True)


def _placed(f: Facts, h: Heard, e: ev.CardPlaced) -> None:
    if e.draw is None or e.draw not in f.placed:
        f.placements.append(h)
    else:
        before = f.placed[e.draw].event
        assert isinstance(before, ev.CardPlaced)
        f.faces.pop((before.position, before.index), None)
    if e.draw is not None:
        f.placed[e.draw] = h
    f.last_placed = h
    f.faces[e.position, e.index] = e.facing


def _turned(f: Facts, h: Heard, e: ev.CardTurned) -> None:
    f.turns.append(h)
    f.faces[e.position, e.index] = e.facing
    if e.facing == "up" and e.by != "player" and e.position == "C" and (e.position, e.index) in f.hidden:
        f.reveal = f.reveal or h


def _announced(f: Facts, h: Heard, e: ev.Announced) -> None:
    if e.what == "no_more_bets":
        f.calls.append(h)
    else:
        f.voids.append(h)


def _wagered(f: Facts, h: Heard, e: ev.WagerPlaced) -> None:
    wager = f.wagers.get((e.seat, e.area))
    if wager is None:
        wager = f.wagers[e.seat, e.area] = Wager(h)
    elif wager.amount <= 0:
        wager.placed = h
    wager.amount += e.amount
    wager.touched = h


def _unwagered(f: Facts, h: Heard, e: ev.WagerRemoved) -> None:
    wager = f.wagers.get((e.seat, e.area))
    if wager is not None:
        wager.amount -= e.amount
        wager.touched = h


def _settled(f: Facts, h: Heard, e: ev.WagerSettled) -> None:
    f.settled.append(h)
    wager = f.wagers.get((e.seat, e.area))
    if wager is not None:
        wager.settled = True


def _decided(f: Facts, _h: Heard, e: ev.PlayerDecided) -> None:
    f.decided.add(e.seat)


def _touched(f: Facts, h: Heard, _e: ev.Event) -> None:
    f.touches.append(h)


def _burned(f: Facts, h: Heard, _e: ev.CardBurned) -> None:
    f.burned.append(h)


def _returned(f: Facts, _h: Heard, e: ev.CardReturned) -> None:
    f.returned.add(e.draw)


def _discarded(f: Facts, _h: Heard, e: ev.CardsDiscarded) -> None:
    if e.draw is not None:
        f.discarded.add(e.draw)


def _collected(f: Facts, _h: Heard, e: ev.CardsCollected) -> None:
    f.collected[e.position] = max(f.collected.get(e.position, 0), e.count)


def _deck_loaded(f: Facts, h: Heard, e: ev.DeckLoaded) -> None:
    for where in [w for w, load in f.loads.items() if load.deck == e.deck]:
        del f.loads[where]  # a load elsewhere implies that it was taken out
    deck = f.decks.get(e.deck, DeckFacts())
    f.loads[e.into] = Load(e.deck, h, "none" if deck.dealt else deck.state, deck.mode == "sort")
    if e.asset is not None:
        f.assets[e.into] = e.asset


def _deck_unloaded(f: Facts, _h: Heard, e: ev.DeckUnloaded) -> None:
    f.loads.pop(e.source, None)


def _deck_removed(f: Facts, _h: Heard, e: ev.DeckRemoved) -> None:
    for where in [w for w, load in f.loads.items() if load.deck == e.deck]:
        del f.loads[where]


def _deck_held(f: Facts, h: Heard, e: ev.DeckHeld) -> None:
    if f.round is not None and f.chosen is None and f.first_draw is None:
        f.chosen = e.hand
    f.holding = h


def _shuffle_started(f: Facts, h: Heard, e: ev.ShuffleStarted) -> None:
    f.decks[e.deck] = DeckFacts("started", e.method, e.mode, None, h)


def _shuffle_completed(f: Facts, h: Heard, e: ev.ShuffleCompleted) -> None:
    before = f.decks.get(e.deck, DeckFacts())
    f.decks[e.deck] = DeckFacts("completed", before.method, before.mode, e.count, before.begun, h)


def _shuffle_failed(f: Facts, h: Heard, e: ev.ShuffleJammed | ev.ShuffleStopped | ev.ShuffleAborted) -> None:
    before = f.decks.get(e.deck, DeckFacts())
    f.decks[e.deck] = DeckFacts("failed", before.method, before.mode, None, before.begun, h)


def _installed(f: Facts, _h: Heard, e: ev.DeviceInstalled) -> None:
    if e.asset is not None:
        f.assets[e.kind] = e.asset


_NOTES: Final[dict[type, Callable[[Facts, Heard, Any], None]]] = {
    ev.RoundOpened: _round_opened,
    ev.RoundClosed: _round_closed,
    ev.CardDrawn: _drawn,
    ev.CardPlaced: _placed,
    ev.CardTurned: _turned,
    ev.Announced: _announced,
    ev.WagerPlaced: _wagered,
    ev.WagerRemoved: _unwagered,
    ev.WagerSettled: _settled,
    ev.PlayerDecided: _decided,
    ev.CardsTouched: _touched,
    ev.CardsHandled: _touched,
    ev.CardBurned: _burned,
    ev.CardReturned: _returned,
    ev.CardsDiscarded: _discarded,
    ev.CardsCollected: _collected,
    ev.DeckLoaded: _deck_loaded,
    ev.DeckUnloaded: _deck_unloaded,
    ev.DeckRemoved: _deck_removed,
    ev.DeckHeld: _deck_held,
    ev.ShuffleStarted: _shuffle_started,
    ev.ShuffleCompleted: _shuffle_completed,
    ev.ShuffleJammed: _shuffle_failed,
    ev.ShuffleStopped: _shuffle_failed,
    ev.ShuffleAborted: _shuffle_failed,
    ev.DeviceInstalled: _installed,
}
