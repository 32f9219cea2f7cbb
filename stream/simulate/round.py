"""One round as it is dealt: what happens when, seen by which device, before anything is numbered or sent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from stream.deal import events as ev
from stream.deal.cards import Card
from stream.deal.words import ButtonPlace, Facing, Method, Position, Seat, Setting, Source
from stream.rulebook.noting import successor
from stream.rulebook.paragraphs import Law
from stream.rulebook.steps import Due, Terms
from stream.simulate.house import House

SHOE: Final = "SH1"
AUTO_SHOE: Final = "AS1"
SHUFFLER: Final = "SF1"


@dataclass
class Drawn:
    """A card on its way; its draw number is given when the round is done, in the order of removal."""

    card: Card
    draw: int = 0


@dataclass
class Happening:
    """One event to be: when (ms from the round's begin), who sees it, its type and fields, and what it is of."""

    ms: int
    device: str
    kind: type[ev.Event]
    fields: dict[str, Any]
    tag: str
    card: Drawn | None = None


@dataclass
class Felt:
    """What one round at a table hands on to the next."""

    table: str
    law: Law
    house: House
    seats: int
    decks: list[str]
    spare: Iterator[str]  # decks that can be brought in for one taken off the table
    button: ButtonPlace | None = None  # where it stands
    turn: ButtonPlace | None = None  # whose it is
    machines: set[str] = field(default_factory=set)  # installed: auto_shoe, shuffler
    uncounted: int = 0  # stubs in a row
    uncounted_of: dict[str, int] = field(default_factory=dict)  # the same, deck by deck
    away: set[Seat] = field(default_factory=set)
    people: int = 0  # who have sat down, or dealt, so far
    unshuffled: str = ""  # a deck that is not shuffled when it is its turn
    keep: tuple[Seat, ...] = ()  # who stays for the next round
    again: "Change | None" = None  # what goes on being done wrong in the next round


@dataclass
class Round:
    """A round being dealt: its happenings in order, and what the dealer needs to know."""

    random: Random
    felt: Felt
    name: str
    seats: tuple[Seat, ...]
    source: Source
    deck: str
    method: Method = "device"  # by which it is shuffled
    happenings: list[Happening] = field(default_factory=list)
    ms: int = 0
    cards: list[Card] = field(default_factory=list)  # in the source
    wanted: dict[tuple[Position, int], str] = field(default_factory=dict)  # ranks that are to be dealt
    hands: dict[Position, list[tuple[int, Drawn]]] = field(default_factory=dict)
    faces: dict[tuple[Position, int], Facing] = field(default_factory=dict)
    stakes: dict[tuple[Seat, str], int] = field(default_factory=dict)
    held: dict[Position, int] = field(default_factory=dict)  # hands out of play, and how many cards they had
    taken: set[Position] = field(default_factory=set)  # hands cleared away
    away: set[Seat] = field(default_factory=set)
    ahead: Seat | None = None  # who was directed to play first
    decided: set[tuple[Seat, str]] = field(default_factory=set)  # on which areas
    bets: int = 0  # betting rounds begun
    over: bool = False
    count: bool | None = None  # whether the stub is counted; None: as the rule asks, and now and then
    missing: int = 0  # cards that the deck lacks
    stub: bool = False  # out of the source
    loyal: set[Seat] = field(default_factory=set)  # who do not fold
    form: str = ""  # of what is done wrong: breached, remedied, over
    told: bool = True  # whether it is done in this round
    scope: str | Drawn = "round"
    kind: str = ""  # of the verdict, where it is not that of its atom
    positions: tuple[str, ...] = ()

    @property
    def by_hand(self) -> bool:
        """Whether the cards are dealt from the hand."""
        return self.source == "hand"

    @property
    def rules(self) -> str:
        """The id of the rule set."""
        return self.felt.law.rules.id

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings of the plan at this table."""
        return dict(self.felt.law.rules.settings) | self.felt.house.options

    @property
    def terms(self) -> Terms:
        """Who is dealt to, as the round stands."""
        first: Position | None = None
        if self.felt.turn is not None and self.settings.get("deal_start") == "button":
            first = successor(self.felt.turn, self.seats)
        return Terms(self.seats, first, tuple(sorted(self.held.items())))

    @property
    def playing(self) -> tuple[Seat, ...]:
        """The seats whose hands are in play."""
        return tuple(s for s in self.seats if s not in self.held)

    def add(self, device: str, kind: type[ev.Event], tag: str, wait: int = 0, /, **fields: Any) -> Happening:
        """Let something happen, some milliseconds after the last."""
        self.ms += wait
        happening = Happening(self.ms, device, kind, fields, tag)
        self.happenings.append(happening)
        return happening

    def of(self, tag: str) -> list[Happening]:
        """What happened of a kind, in order."""
        return [h for h in self.happenings if h.tag == tag]

    def pause(self, low: int, high: int) -> int:
        """A human pause in milliseconds."""
        return self.random.randint(low, high)

    def tell(self, scope: str | Drawn, *positions: str) -> None:
        """Write down what what is done wrong is about."""
        self.scope, self.positions = scope, positions


Step = Due | str
"""What is done next: something the procedure says is due, or a chore around the deal by its name."""

Change = Callable[[Round, Iterator[Step]], Iterator[Step]]
"""Something done wrong in the dealing: what is done next, given what ought to be."""
