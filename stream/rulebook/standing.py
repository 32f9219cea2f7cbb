"""The facts that outlive a round: decks, machines, the button, what is counted across rounds, who sits where."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Affected
from stream.deal.words import ButtonPlace, Into, Kind, Seat, Side
from stream.rulebook.heard import Heard

ShuffleState = Literal["none", "started", "completed", "failed"]

DeckDoubt = Literal["sorted", "incomplete", "unshuffled", "miscounted"]
"""What can be wrong with a deck that is dealt, as its shuffler tells it."""


class Tally(Struct, frozen=True):
    """What was dealt from a deck since it was last known to be whole: rounds, hands, and wagers in minor units."""

    first: str
    last: str
    rounds: int
    hands: int
    amount: int


class Stubs(Struct, frozen=True):
    """Stubs in a row that went to the rack uncounted, since one was counted or its deck by the shuffler."""

    row: int = 0
    unheard: int = 0  # of them, whose deck a counting shuffler had done, and no count came
    known: int = 0  # in a row of which not even that can be said
    since: int = 0  # when the first of them was dealt (microseconds)
    device: str = ""  # which told of the last of them
    holed: bool = False  # some were not seen, or not of which deck: one may have been counted


class DeckFacts(Struct, frozen=True):
    """What is known of a deck: its latest shuffle."""

    state: ShuffleState = "none"
    method: Literal["device", "hand"] | None = None
    mode: Literal["shuffle", "sort"] | None = None
    count: int | None = None
    begun: Heard | None = None
    ended: Heard | None = None  # completed, jammed, stopped or aborted
    dealt: bool = False  # cards were drawn from it since that shuffle
    troubled: Heard | None = None  # when a cycle of it first failed; none has been completed since
    voided: bool = False  # a round of it was declared void, and it has not been shuffled since
    tally: Tally | None = None  # since the last good count
    stubs: Stubs = Stubs()


def affected_by(tally: Tally | None) -> Affected | None:
    """The rounds, hands and wagers dealt from a deck since it was last known to be whole."""
    if tally is None:
        return None
    return Affected(
        amount=tally.amount, first_round=tally.first, last_round=tally.last, rounds=tally.rounds, hands=tally.hands
    )


class Load(Struct, frozen=True):
    """A deck in a machine, a shoe or a hand, and how its shuffle stood when it was put there."""

    deck: str
    heard: Heard[ev.DeckLoaded]
    shuffle: ShuffleState
    sorted: bool = False  # its last cycle put it in order instead of shuffling it
    by_hand: bool = False  # its last shuffle was by hand
    owed: bool = False  # a round of it had been void, and it had not been shuffled since


class Standing(Struct, frozen=True):
    """The facts that outlive a round."""

    decks: dict[str, DeckFacts] = {}
    loads: dict[Into, Load] = {}
    assets: dict[str, str] = {}  # kind of machine -> asset id, as last loaded or installed
    holding: Heard[ev.DeckHeld] | None = None  # the last deck.held
    installed: dict[Kind, Heard[ev.DeviceInstalled]] = {}  # machines on the table
    side: Side | None = None  # of the shoe, where an installation said it
    stubs: Stubs = Stubs()
    stub_out: tuple[Heard, str | None] | None = None  # a counted stub that is not in the rack, and its deck
    button: ButtonPlace | None = None  # where it was last put
    turn: ButtonPlace | None = None  # whose it was, in truth or by the rule's fiction, in the last round
    turn_given: int = 0  # when that was dealt, microseconds
    missed: bool = False  # it was not moved for the last round, so that was a fiction
    absent: dict[Seat, Heard[ev.PlayerLeft]] = {}
    seated: dict[Seat, str] = {}  # pseudonyms
    orders: tuple[Heard[ev.SupervisorDirected], ...] = ()  # a supervisor's directions in force
    doubted: frozenset[Kind] = frozenset()  # machines whose removal may have gone unread


def doubting(s: Standing, devices: Collection[str]) -> Standing:
    """What stands after some devices were not heard for a while: what they told of may have ended unread."""
    doubted = {kind for kind, told in s.installed.items() if told.device in devices}
    absent = {seat: told for seat, told in s.absent.items() if told.device not in devices}
    stubs = replace(s.stubs, holed=True) if s.stubs.device in devices else s.stubs
    out = s.stub_out if s.stub_out is not None and s.stub_out[0].device not in devices else None
    loading = any(load.heard.device in devices for load in s.loads.values())  # which deck it was may have gone unread
    decks = {}
    for name, deck in s.decks.items():
        shuffling = any(told is not None and told.device in devices for told in (deck.begun, deck.ended))
        lost = loading or shuffling or deck.stubs.device in devices
        decks[name] = replace(deck, stubs=replace(deck.stubs, holed=True)) if lost else deck
    return replace(s, doubted=s.doubted | doubted, absent=absent, decks=decks, stubs=stubs, stub_out=out)
