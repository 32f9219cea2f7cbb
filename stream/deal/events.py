"""What devices report: one frozen type for each event, one tagged union of them all.

Events are facts as a device saw them, never judgements. The fields and bounds are those of the contract;
`stream.deal.wire` turns bytes into these and back; the words of the fields stand in `stream.deal.words`.
"""

from typing import Annotated, ClassVar, Final, Literal, get_args

from msgspec import Meta, Struct

from stream.deal import words as w
from stream.deal.cards import Card

Topic = Literal["card-reader", "shuffler", "floor"]


class Event(Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """The envelope of every event; (`device`, `boot`, `seq`) is its identity.

    `at` is the device's own clock; `clock_ms` bounds that clock's error in milliseconds either way;
    `confidence` is the reader's own confidence in what it read, in permille.
    """

    table: w.Id
    device: w.Id
    boot: w.Count
    seq: w.Count
    at: w.When
    clock_ms: w.Count
    confidence: w.Permille = 1000

    topic: ClassVar[Topic | None] = "floor"  # None: whichever topic its device writes to
    carries: ClassVar[tuple[w.Sense, ...]] = ()  # what a device that sends this type is able to see


class Deck(Struct, frozen=True, gc=False):
    """A deck of the table: its id and how many cards it has when whole."""

    id: w.Id
    cards: Literal[52, 53]


class Limits(Struct, frozen=True, gc=False):
    """The table's least and greatest wager, in minor units."""

    min: w.Amount
    max: w.Amount


class CardAt(Struct, frozen=True, gc=False):
    """The place of one card on the layout."""

    position: w.Position
    index: w.Ordinal


class Identity(Struct, frozen=True, order=True):
    """The identity of an event."""

    device: w.Id
    boot: w.Count
    seq: w.Count


# --- floor: dealer's console, bet sensors, player zone, supervisor


class TableOpened(Event, frozen=True, kw_only=True, tag="table.opened"):
    """The table opens under one rule set, with what it can see and how its texts are read."""

    rules: w.Id
    seats: Annotated[int, Meta(ge=1, le=9)]
    shoe_side: w.Side
    decks: Annotated[tuple[Deck, ...], Meta(min_length=1, max_length=16)]
    limits: Limits
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")] | None = None
    approved: tuple[w.Id, ...] | None = None
    senses: tuple[w.Sense, ...]
    options: dict[w.Id, w.Setting] = {}


class TableClosed(Event, frozen=True, kw_only=True, tag="table.closed"):
    """The table closes."""


class RoundOpened(Event, frozen=True, kw_only=True, tag="round.opened"):
    """A round opens, before its first wager; its id is never used again at that table."""

    round: w.Id
    day: w.Id | None = None


class RoundClosed(Event, frozen=True, kw_only=True, tag="round.closed"):
    """The round closes."""


class Announced(Event, frozen=True, kw_only=True, tag="announced"):
    """The dealer announced something."""

    what: w.Call
    position: w.Position | None = None
    carries = ("announcements",)


class BettingClosed(Event, frozen=True, kw_only=True, tag="betting.closed"):
    """A betting round ended; the first is street 1."""

    street: w.Ordinal
    carries = ("announcements",)


class WagerPlaced(Event, frozen=True, kw_only=True, tag="wager.placed"):
    """Chips were put on a wager area; `amount` is of this act, not the total."""

    seat: w.Seat
    area: w.Id
    amount: w.Amount
    carries = ("wagers",)


class WagerRemoved(Event, frozen=True, kw_only=True, tag="wager.removed"):
    """Chips were taken off a wager area; `amount` is of this act."""

    seat: w.Seat
    area: w.Id
    amount: w.Amount
    carries = ("wagers",)


class WagerSettled(Event, frozen=True, kw_only=True, tag="wager.settled"):
    """A wager ended; of a paid one `amount` is what was added to the stake."""

    seat: w.Seat
    area: w.Id
    outcome: w.Outcome
    amount: w.Amount
    on: tuple[CardAt, ...] | None = None
    carries = ("settlement",)


class WagerRequested(Event, frozen=True, kw_only=True, tag="wager.requested"):
    """The dealer asked a player to correct a wager."""

    seat: w.Seat
    carries = ("wagers",)


class CardsTouched(Event, frozen=True, kw_only=True, tag="cards.touched"):
    """A player touched cards."""

    seat: w.Seat
    carries = ("touches",)


class CardsHandled(Event, frozen=True, kw_only=True, tag="cards.handled"):
    """A player took cards in hand."""

    seat: w.Seat
    carries = ("handling",)


class CardsViewed(Event, frozen=True, kw_only=True, tag="cards.viewed"):
    """A player looked at the faces of cards."""

    seat: w.Seat
    carries = ("viewing",)


class PlayerLeft(Event, frozen=True, kw_only=True, tag="player.left"):
    """A player went away from the seat."""

    seat: w.Seat
    carries = ("presence",)


class PlayerReturned(Event, frozen=True, kw_only=True, tag="player.returned"):
    """A player came back to the seat."""

    seat: w.Seat
    carries = ("presence",)


class PlayerDecided(Event, frozen=True, kw_only=True, tag="player.decided"):
    """A player decided on a hand, or on one wager area of it."""

    seat: w.Seat
    act: w.Decision
    area: w.Id | None = None
    carries = ("decisions",)


class SeatTaken(Event, frozen=True, kw_only=True, tag="seat.taken"):
    """A player, named by a pseudonym, sat down."""

    seat: w.Seat
    player: w.Id
    carries = ("seating",)


class DealerChanged(Event, frozen=True, kw_only=True, tag="dealer.changed"):
    """Another dealer, named by a pseudonym, took the table."""

    dealer: w.Id


class AlertAcknowledged(Event, frozen=True, kw_only=True, tag="alert.acknowledged"):
    """A person acknowledged a verdict at the table."""

    verdict: w.Id
    role: w.Role
    carries = ("supervisor",)


class SupervisorDirected(Event, frozen=True, kw_only=True, tag="supervisor.directed"):
    """A person gave an order that holds for seats or players."""

    order: w.Order
    seats: tuple[w.Seat, ...]
    players: tuple[w.Id, ...] | None = None
    role: w.Role
    carries = ("supervisor",)


class SupervisorNoted(Event, frozen=True, kw_only=True, tag="supervisor.noted"):
    """A person reported what no device can see."""

    what: w.Note
    seats: tuple[w.Seat, ...]
    role: w.Role
    carries = ("supervisor",)


class SupervisorRuled(Event, frozen=True, kw_only=True, tag="supervisor.ruled"):
    """A person upheld or overruled a verdict."""

    verdict: w.Id
    outcome: w.Ruling
    role: w.Role
    carries = ("supervisor",)


# --- card reader: shoe, layout, discard rack and deck readers


class CardReaderEvent(Event, frozen=True, kw_only=True):
    """An event of the card readers' topic."""

    topic = "card-reader"


class DeckLoaded(CardReaderEvent, frozen=True, kw_only=True, tag="deck.loaded"):
    """A deck was put into a machine, a shoe or the dealer's hand."""

    deck: w.Id
    into: w.Into
    by: w.By
    asset: w.Id | None = None
    carries = ("decks",)


class DeckUnloaded(CardReaderEvent, frozen=True, kw_only=True, tag="deck.unloaded"):
    """A deck was taken out of what it was in."""

    deck: w.Id
    source: w.Into
    carries = ("decks",)


class DeckRemoved(CardReaderEvent, frozen=True, kw_only=True, tag="deck.removed"):
    """A deck left the table."""

    deck: w.Id
    carries = ("decks",)


class CardDrawn(CardReaderEvent, frozen=True, kw_only=True, tag="card.drawn"):
    """A card left its source; `draw` counts removals in the round from 1."""

    draw: w.Ordinal
    card: Card
    source: w.Source
    hand: w.Hand | None = None
    face_up: bool = False
    top: bool = True
    carries = ("draws",)


class CardPlaced(CardReaderEvent, frozen=True, kw_only=True, tag="card.placed"):
    """A card was put on the layout; a second placement of a draw moves it."""

    draw: w.Ordinal | None = None
    position: w.Position
    index: w.Ordinal
    facing: w.Facing
    card: Card
    hand: w.Hand | None = None
    carries = ("placements", "facing")


class CardTurned(CardReaderEvent, frozen=True, kw_only=True, tag="card.turned"):
    """A card on the layout was turned; `facing` is the new one."""

    position: w.Position
    index: w.Ordinal
    facing: w.Facing
    by: w.By
    card: Card
    carries = ("turns",)


class CardBurned(CardReaderEvent, frozen=True, kw_only=True, tag="card.burned"):
    """A card was put away unseen before the next was dealt."""

    draw: w.Ordinal | None = None
    carries = ("burns",)


class CardReturned(CardReaderEvent, frozen=True, kw_only=True, tag="card.returned"):
    """A drawn card was put back into its source."""

    draw: w.Ordinal
    carries = ("draws",)


class CardSeen(CardReaderEvent, frozen=True, kw_only=True, tag="card.seen"):
    """A face became visible off the layout."""

    place: w.Place
    draw: w.Ordinal | None = None
    card: Card
    carries = ("facing",)


class CardsCollected(CardReaderEvent, frozen=True, kw_only=True, tag="cards.collected"):
    """The dealer took up and counted the cards of a position."""

    position: w.Position
    count: w.Count
    carries = ("placements",)


class CardsDiscarded(CardReaderEvent, frozen=True, kw_only=True, tag="cards.discarded"):
    """Cards went into the discard rack."""

    position: w.Position | None = None
    draw: w.Ordinal | None = None
    count: w.Count
    carries = ("discards",)


class DeckHeld(CardReaderEvent, frozen=True, kw_only=True, tag="deck.held"):
    """The deck is held in a hand, over the container or away from it."""

    hand: w.Hand
    zone: w.Zone
    carries = ("deck_zone",)


class StubRemoved(CardReaderEvent, frozen=True, kw_only=True, tag="stub.removed"):
    """The stub was taken out of the shoe."""

    carries = ("stub",)


class StubCounted(CardReaderEvent, frozen=True, kw_only=True, tag="stub.counted"):
    """The stub was counted on the layout."""

    count: w.Count
    facing: w.Facing
    carries = ("stub",)


class StubDiscarded(CardReaderEvent, frozen=True, kw_only=True, tag="stub.discarded"):
    """The stub went into the discard rack."""

    facing: w.Facing
    carries = ("stub",)


class ButtonMoved(CardReaderEvent, frozen=True, kw_only=True, tag="button.moved"):
    """The button was moved."""

    to: w.ButtonPlace
    carries = ("button",)


class ShoeJammed(CardReaderEvent, frozen=True, kw_only=True, tag="shoe.jammed"):
    """A shoe jammed."""

    source: w.Source
    carries = ("shoe_status",)


class ShoeStopped(CardReaderEvent, frozen=True, kw_only=True, tag="shoe.stopped"):
    """A shoe stopped, or did not deal when it should."""

    source: w.Source
    carries = ("shoe_status",)


class ShoeCleared(CardReaderEvent, frozen=True, kw_only=True, tag="shoe.cleared"):
    """A jam was cleared."""

    source: w.Source
    carries = ("shoe_status",)


# --- shuffler


class ShufflerEvent(Event, frozen=True, kw_only=True):
    """An event of the shufflers' topic."""

    topic = "shuffler"


class ShuffleStarted(ShufflerEvent, frozen=True, kw_only=True, tag="shuffle.started"):
    """A shuffle began."""

    deck: w.Id
    mode: w.Mode
    method: w.Method
    carries = ("shuffler",)


class ShuffleCompleted(ShufflerEvent, frozen=True, kw_only=True, tag="shuffle.completed"):
    """A shuffle ended as it should; no `count`: none was received."""

    deck: w.Id
    count: w.Count | None = None
    carries = ("shuffler", "shuffler_count")


class ShuffleJammed(ShufflerEvent, frozen=True, kw_only=True, tag="shuffle.jammed"):
    """The shuffler jammed."""

    deck: w.Id
    carries = ("shuffler",)


class ShuffleStopped(ShufflerEvent, frozen=True, kw_only=True, tag="shuffle.stopped"):
    """The shuffler stopped during a shuffle."""

    deck: w.Id
    carries = ("shuffler",)


class ShuffleAborted(ShufflerEvent, frozen=True, kw_only=True, tag="shuffle.aborted"):
    """A shuffle was given up."""

    deck: w.Id
    carries = ("shuffler",)


class DeviceInstalled(ShufflerEvent, frozen=True, kw_only=True, tag="device.installed"):
    """A machine was put on the table."""

    kind: w.Kind
    asset: w.Id | None = None
    side: w.Side | None = None
    carries = ("installations",)


class DeviceRemoved(ShufflerEvent, frozen=True, kw_only=True, tag="device.removed"):
    """A machine was taken off the table."""

    kind: w.Kind
    asset: w.Id | None = None
    side: w.Side | None = None
    carries = ("installations",)


# --- any device, on its own topic


class DeviceEvent(Event, frozen=True, kw_only=True):
    """What a device says of itself, on the topic it always writes to."""

    topic = None


class DeviceOnline(DeviceEvent, frozen=True, kw_only=True, tag="device.online"):
    """A device, or one sense of it, works; `senses` names all that it carries."""

    sense: w.Sense | None = None
    senses: tuple[w.Sense, ...] | None = None


class DeviceOffline(DeviceEvent, frozen=True, kw_only=True, tag="device.offline"):
    """A device, or one sense of it, stopped working."""

    sense: w.Sense | None = None


class DeviceHeartbeat(DeviceEvent, frozen=True, kw_only=True, tag="device.heartbeat"):
    """A device is alive."""

    sense: w.Sense | None = None


Uncorrected = (
    TableOpened | TableClosed | RoundOpened | RoundClosed | Announced | BettingClosed
    | WagerPlaced | WagerRemoved | WagerSettled | WagerRequested | CardsTouched | CardsHandled | CardsViewed
    | PlayerLeft | PlayerReturned | PlayerDecided | SeatTaken | DealerChanged | AlertAcknowledged
    | SupervisorDirected | SupervisorNoted | SupervisorRuled
    | DeckLoaded | DeckUnloaded | DeckRemoved | CardDrawn | CardPlaced | CardTurned | CardBurned
    | CardReturned | CardSeen | CardsCollected | CardsDiscarded | DeckHeld | StubRemoved | StubCounted
    | StubDiscarded | ButtonMoved | ShoeJammed | ShoeStopped | ShoeCleared
    | ShuffleStarted | ShuffleCompleted | ShuffleJammed | ShuffleStopped | ShuffleAborted
    | DeviceInstalled | DeviceRemoved | DeviceOnline | DeviceOffline | DeviceHeartbeat
)  # fmt: skip


class EventCorrected(DeviceEvent, frozen=True, kw_only=True, tag="event.corrected"):
    """An event was wrong: `event` is the right one, whole, with the identity of the one it corrects."""

    corrects: Identity
    event: Uncorrected


AnyEvent = Uncorrected | EventCorrected
TYPES: Final[dict[str, type[Event]]] = {str(t.__struct_config__.tag): t for t in get_args(AnyEvent)}
