"""What rules may read: wagers, draws, placements, calls, decks, hands. Kept by the engine, read by checks and duties.

The persistent part goes from round to round as `Standing`; the rest begins anew with each round.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast, overload

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import ButtonPlace, Facing, Hand, Into, Kind, Position, Seat, Sense, Setting, Side, Source
from stream.rulebook.findings import Absence, Finding
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.marks import Up, Wager
from stream.rulebook.noting import NOTES, is_call
from stream.rulebook.standing import DeckDoubt, DeckFacts, Load, Standing, Stubs, Tally
from stream.rulebook.steps import Plan, Step, Terms

A = TypeVar("A", bound=ev.AnyEvent)
B = TypeVar("B", bound=ev.AnyEvent)
C = TypeVar("C", bound=ev.AnyEvent)

WAIT: Final[Finding] = cast("Finding", object())  # a mark, never read as a finding


@dataclass(slots=True, eq=False)
class Facts:
    """The facts of one round, as they stand after the last event noted."""

    opened: ev.TableOpened
    settings: Mapping[str, Setting]
    # What the table hands on from round to round (see `Standing`).
    decks: dict[str, DeckFacts]
    loads: dict[Into, Load]
    assets: dict[str, str]
    holding: Heard[ev.DeckHeld] | None
    installed: dict[Kind, Heard[ev.DeviceInstalled]]
    side: Side | None
    uncounted: Stubs
    stub_out: tuple[Heard, str | None] | None
    button: ButtonPlace | None
    turn: ButtonPlace | None
    turn_given: int
    missed: bool
    absent: dict[Seat, Heard[ev.PlayerLeft]]
    seated: dict[Seat, str]
    orders: tuple[Heard[ev.SupervisorDirected], ...]
    doubted: frozenset[Kind]
    # What begins anew with each round.
    stub_left: tuple[Heard, str | None] | None = None  # out of the rack when this round was dealt
    astray: ButtonPlace | None = None  # where the button should have been put for this round, and was not
    turn_before: int = 0  # when the round before was dealt, microseconds
    button_then: ButtonPlace | None = None  # where it stood at the first draw
    round: Heard[ev.RoundOpened] | None = None
    closed: Heard | None = None
    over: bool = False  # no later event can be of this round
    first_draw: Heard[ev.CardDrawn] | None = None
    dealt_from: Load | None = None  # what the first card was drawn from
    deck_doubts: tuple[DeckDoubt, ...] = ()  # what was wrong with it, as its shuffler told
    bypassed: Heard[ev.DeviceInstalled] | None = None  # a machine on the table that this deal goes past
    sources: list[tuple[Heard, str]] = field(default_factory=list)  # the first draw from each deck
    last_draw: int = 0
    source: Source | None = None
    draws: dict[int, Heard[ev.CardDrawn]] = field(default_factory=dict)
    placements: list[Heard[ev.CardPlaced]] = field(default_factory=list)
    placed: dict[int, Heard[ev.CardPlaced]] = field(default_factory=dict)  # draw -> its latest placement
    last_placed: Heard[ev.CardPlaced] | None = None
    faces: dict[tuple[Position, int], Facing] = field(default_factory=dict)
    ups: list[Up] = field(default_factory=list)
    cards: dict[str, int] = field(default_factory=dict)  # identity read -> draw
    mingled: bool = False  # the first card of a round was drawn twice
    strayed: bool = False  # a card came when no round was open: what opened its round was lost
    odd_card: bool = False  # one identity was read of two draws, or a joker
    boxed: list[Heard[ev.CardDrawn | ev.CardSeen]] = field(
        default_factory=list
    )  # found face up in the source or in the stub
    calls: list[Heard[ev.Announced]] = field(default_factory=list)
    voids: list[Heard[ev.Announced]] = field(default_factory=list)
    rounds_bet: int = 0  # betting rounds closed, also those whose own report was lost
    bets: list[Heard[ev.BettingClosed]] = field(default_factory=list)
    turns: list[Heard[ev.CardTurned]] = field(default_factory=list)
    settled: list[Heard[ev.WagerSettled]] = field(default_factory=list)
    chips: list[Heard[ev.WagerPlaced | ev.WagerRemoved]] = field(default_factory=list)
    wagers: dict[tuple[Seat, str], Wager] = field(default_factory=dict)
    decided: set[Seat] = field(default_factory=set)
    decisions: list[Heard[ev.PlayerDecided]] = field(default_factory=list)
    folded: dict[Seat, int] = field(default_factory=dict)  # seat -> betting rounds closed before
    burned: list[Heard[ev.CardBurned]] = field(default_factory=list)
    returned: dict[int, Heard[ev.CardReturned]] = field(default_factory=dict)
    discarded: dict[int, Heard[ev.CardsDiscarded]] = field(default_factory=dict)
    collected: dict[Position, int] = field(default_factory=dict)
    takes: list[Heard[ev.CardsCollected]] = field(default_factory=list)  # cards taken up and counted
    taken: dict[Position, Heard[ev.CardsCollected]] = field(
        default_factory=dict
    )  # when a hand's cards were first taken up
    touches: list[Heard[ev.CardsTouched | ev.CardsHandled]] = field(default_factory=list)
    handled: dict[Seat, Heard[ev.CardsHandled]] = field(default_factory=dict)
    viewed: dict[Seat, Heard[ev.CardsViewed]] = field(default_factory=dict)
    requested: dict[Seat, Heard[ev.WagerRequested]] = field(default_factory=dict)
    left: list[Heard[ev.PlayerLeft]] = field(default_factory=list)  # players who went away in this round
    back: list[Heard[ev.PlayerReturned]] = field(default_factory=list)  # players who came back in this round
    acks: list[Heard[ev.AlertAcknowledged]] = field(default_factory=list)
    stubs: list[Heard] = field(default_factory=list)  # removed, counted, discarded
    counts: list[Heard[ev.StubCounted]] = field(default_factory=list)  # of the stub
    chosen: Hand | None = None
    # What the explained plan says: kept by the engine beside each matching act.
    terms: Terms | None = None
    due: Step | None = None  # while folding: the step that is due next
    ahead: Plan = ()  # a whole round: what is still to be dealt
    plan: Plan = ()  # a whole round: the deal as it was due
    endings: dict[str, Heard] = field(
        default_factory=dict
    )  # a whole round: the irregularities by which it had to end, by atom
    steps: dict[int, Step] = field(default_factory=dict)  # a whole round: draw -> what it was
    hidden: set[tuple[Position, int]] = field(default_factory=set)  # cards that lie face down and shall
    complete_at: Heard | None = None  # the act that completed the deal, once it has come
    completes: Heard | None = None  # the same, known ahead when a whole round is judged
    reveal: Heard[ev.CardTurned] | None = None  # the first lawfully hidden common card turned up, not by a player
    explained: dict[tuple[str, int, int], Step] = field(default_factory=dict)
    folding: bool = True
    beyond: Sequence[Heard] = ()
    _later: list[Heard] | None = None

    @classmethod
    def begin(cls, opened: ev.TableOpened, standing: Standing, settings: Mapping[str, Setting]) -> "Facts":
        """The facts before a round's first event, with what stands from the rounds before."""
        return cls(
            opened,
            settings,
            decks=dict(standing.decks),
            loads=dict(standing.loads),
            assets=dict(standing.assets),
            holding=standing.holding,
            installed=dict(standing.installed),
            side=standing.side,
            uncounted=standing.stubs,
            stub_out=standing.stub_out,
            button=standing.button,
            turn=standing.turn,
            turn_given=standing.turn_given,
            missed=standing.missed,
            absent=dict(standing.absent),
            seated=dict(standing.seated),
            orders=standing.orders,
            doubted=standing.doubted,
        )

    def standing(self) -> Standing:
        """What of these facts outlives the round.

        A machine whose removal may have gone unread, and past which the work was done, is taken to be gone.
        """
        gone = {kind for kind in self.doubted if self.passed_by(kind)}
        return Standing(
            dict(self.decks),
            dict(self.loads),
            dict(self.assets),
            self.holding,
            {kind: told for kind, told in self.installed.items() if kind not in gone},
            self.side,
            self.uncounted,
            self.stub_out,
            self.button,
            self.turn,
            self.turn_given,
            self.missed,
            dict(self.absent),
            dict(self.seated),
            self.orders,
            (self.doubted & self.installed.keys()) - gone,
        )

    def passed_by(self, kind: Kind) -> bool:
        """Whether cards were dealt, or a deck shuffled, past a machine of this kind."""
        if kind == "shuffler":
            return any(deck.method == "hand" for deck in self.decks.values())
        return self.source not in (None, kind)

    def setting(self, name: str) -> Setting:
        """A setting of the table: its own, else the rule set's default."""
        return self.settings[name]

    # --- looking ahead

    def look(self, events: list[Heard] | None, beyond: Sequence[Heard] = ()) -> None:
        """Let checks see the events that follow (the whole round is judged), or not (it is being folded).

        `beyond` are the events of later rounds that a duty of this one can end with.
        """
        self._later = events
        self.beyond = beyond
        self.folding = events is None

    @overload
    def later(self, after: Heard, kind: type[A], /) -> Iterator[Heard[A]]: ...
    @overload
    def later(self, after: Heard, kind: type[A], other: type[B], /) -> Iterator[Heard[A | B]]: ...
    @overload
    def later(self, after: Heard, kind: type[A], other: type[B], third: type[C], /) -> Iterator[Heard[A | B | C]]: ...
    @overload
    def later(self, after: Heard, *kinds: type[ev.AnyEvent]) -> Iterator[Heard]: ...
    def later(self, after: Heard, *kinds: type[Any]) -> Iterator[Heard[Any]]:
        """Events of some types after one, in order; none while folding."""
        for heard in self._later or ():
            if heard > after and isinstance(heard.event, kinds):
                yield heard

    def after(self, moment: Heard) -> Iterator[Heard]:
        """All events after a moment, in order; none while folding."""
        return (heard for heard in self._later or () if heard > moment)

    def wait(self) -> tuple[Finding, ...]:
        """Only later events can tell: makes the engine judge the round as a whole."""
        return (WAIT,) if self.folding else ()

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
        return next((c for c in self.later(moment, ev.Announced) if is_call(c) and unsure(c, moment)), None)

    def sees(self, *senses: Sense) -> bool:
        """Whether the table can see all of these."""
        return set(senses) <= set(self.opened.senses)

    def load_of(self, into: Into) -> Load | None:
        """The deck in a shoe or a hand, if its loading was seen."""
        return self.loads.get(into)

    def shuffle_of(self, load: Load) -> Absence:
        """Where the shuffle that a deck was loaded after would have been seen: since its cycle before that began."""
        deck = self.decks.get(load.deck)
        begun = deck.begun if deck is not None else None
        since = begun.when if begun is not None and begun < load.heard else 0
        return Absence("shuffler", since, load.heard.when)

    def size_of(self, deck: str) -> int:
        """How many cards a deck has when it is whole; 52 where the table does not say."""
        return next((d.cards for d in self.opened.decks if d.id == deck), 52)

    @property
    def deck(self) -> str | None:
        """The deck that this round is dealt from, if its loading was seen."""
        return self.dealt_from.deck if self.dealt_from else None

    @property
    def ending(self) -> Heard | None:
        """The first irregularity by which the round had to end."""
        return min(self.endings.values(), default=None)

    @property
    def tally(self) -> Tally | None:
        """What was dealt from this round's deck since it was last known to be whole."""
        deck = self.decks.get(self.deck) if self.deck else None
        return deck.tally if deck else None

    def staked(self, *areas: str) -> tuple[Seat, ...]:
        """The seats with chips on any of these areas now, S1 first."""
        return tuple(sorted({s for (s, a), w in self.wagers.items() if a in areas and w.amount > 0}))

    def unsettled(self, seat: Position | None = None) -> bool:
        """Whether a wager (of this seat) lies on the table and is not settled."""
        return any(seat in (None, s) and w.amount > 0 and not w.settled for (s, _), w in self.wagers.items())

    def all_settled(self) -> bool:
        """Whether every wager placed has ended, and at least one was settled."""
        return bool(self.settled) and not self.unsettled()

    def nothing_placed(self, moment: Heard) -> bool:
        """Whether no card was seen to be placed in this round, up to a moment or after it."""
        return not self.placements and next(self.later(moment, ev.CardPlaced), None) is None

    def accounted(self) -> set[int]:
        """The draws that are known to have gone elsewhere than to the layout."""
        return {*self.returned, *self.discarded}

    def step_of(self, draw: int) -> Step | None:
        """The step of the deal that a draw serves: as explained, or of a card not yet dealt the one that is due."""
        if self.folding:
            return self.due
        top = max(self.steps, default=0)
        if draw <= top:
            return self.steps.get(draw)
        away = self.accounted()
        place = sum(1 for d in range(top + 1, draw) if d not in away)
        return self.ahead[place] if draw not in away and place < len(self.ahead) else None

    def counted(self, position: Position) -> int:
        """How many cards lie at a position, each draw where it was last placed."""
        n = 0
        for h in self.placements:
            draw = h.event.draw
            last = self.placed[draw].event if draw is not None else h.event
            n += last.position == position
        return n

    # --- noting

    def stray(self) -> None:
        """A card came when no round was open: a whole round goes unseen, and with it whether its stub was counted."""
        if self.strayed:
            return
        self.strayed, self.uncounted, self.stub_out = True, Stubs(), None
        self.decks = {name: replace(deck, stubs=Stubs()) for name, deck in self.decks.items()}
        self.orders = tuple(o for o in self.orders if o.event.order != "play_first")  # of that round

    def note(self, heard: Heard) -> None:
        """Take an event in."""
        noted = NOTES.get(type(heard.event))
        if noted is not None:
            noted(self, heard, heard.event)
