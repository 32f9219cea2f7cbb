"""What is done around the deal: who comes and goes, the button, machines, shuffle and load, and the clearing."""

from collections.abc import Callable
from typing import Final

from stream.deal import events as ev
from stream.deal.cards import DECK_52
from stream.deal.words import Seat
from stream.rulebook.noting import successor
from stream.simulate.play import wagers
from stream.simulate.round import AUTO_SHOE, SHOE, SHUFFLER, Round

_ROUNDS: Final = 5  # a stub is counted at least once in so many


def _people(r: Round) -> None:
    """Who was away and plays again is back; now and then somebody new sits down."""
    for seat in sorted(r.felt.away & set(r.seats)):
        r.add("floor", ev.PlayerReturned, "back", r.pause(500, 900), seat=seat)
        r.felt.away.discard(seat)
    if not r.felt.house.lively:
        return
    for seat in r.seats:
        if r.random.random() < 0.05:
            sit(r, seat)
    if r.random.random() < 0.05:
        r.felt.people += 1
        r.add("floor", ev.DealerChanged, "dealer", r.pause(2000, 5000), dealer=f"{r.felt.table}-d{r.felt.people}")


def sit(r: Round, seat: Seat) -> str:
    """Somebody new takes a seat; returns the pseudonym."""
    r.felt.people += 1
    player = f"{r.felt.table}-p{r.felt.people}"
    r.add("floor", ev.SeatTaken, "sit", r.pause(500, 900), seat=seat, player=player)
    return player


def _button(r: Round) -> None:
    """The button moves on to the next who plays."""
    if r.rules != "nj-winners-pot-33":
        return
    felt = r.felt
    felt.turn = felt.button = successor(felt.turn, r.seats) if felt.turn else r.random.choice((*r.seats, "D"))
    r.add("layout", ev.ButtonMoved, "button", r.pause(500, 900), to=felt.button)


def _machines(r: Round) -> None:
    """Machines that are used stand on the table, and an automated shoe that is not used leaves it."""
    if r.felt.house.machine and "shuffler" not in r.felt.machines:
        install(r, "shuffler", SHUFFLER)
    if r.source == "auto_shoe" and "auto_shoe" not in r.felt.machines:
        install(r, "auto_shoe", AUTO_SHOE)
    elif r.source != "auto_shoe" and "auto_shoe" in r.felt.machines:
        remove(r, "auto_shoe", AUTO_SHOE)
    if r.method == "hand" and "shuffler" in r.felt.machines:
        remove(r, "shuffler", SHUFFLER)


def install(r: Round, kind: str, asset: str) -> None:
    """A machine is set up on the table."""
    r.felt.machines.add(kind)
    r.add("shuffler", ev.DeviceInstalled, "install", r.pause(800, 1500), kind=kind, asset=asset)


def remove(r: Round, kind: str, asset: str) -> None:
    """A machine is taken off the table."""
    r.felt.machines.discard(kind)
    r.add("shuffler", ev.DeviceRemoved, "remove", r.pause(800, 1500), kind=kind, asset=asset)


def shuffle(r: Round, count: int | None = 52) -> None:
    """The deck is shuffled; a counting shuffler tells how many cards it has."""
    if r.felt.unshuffled == r.deck:
        r.felt.unshuffled = ""
        return
    counts = r.method == "device" and r.felt.house.counting and count is not None
    told = {"count": count} if counts else {}
    r.add("shuffler", ev.ShuffleStarted, "shuffle", 500, deck=r.deck, mode="shuffle", method=r.method)
    r.add("shuffler", ev.ShuffleCompleted, "shuffled", r.pause(20_000, 30_000), deck=r.deck, **told)
    if told.get("count") == 52:
        r.felt.uncounted, r.felt.uncounted_of[r.deck] = -1, -1  # the stub of this round need not be counted


def _load(r: Round) -> None:
    asset = {"manual_shoe": {"asset": SHOE}, "auto_shoe": {"asset": AUTO_SHOE}}.get(r.source, {})
    r.add("shoe", ev.DeckLoaded, "load", r.pause(1500, 3000), deck=r.deck, into=r.source, by="dealer", **asset)


def _open(r: Round) -> None:
    r.add("floor", ev.RoundOpened, "open", r.pause(1500, 3000), round=r.name)


def direct(r: Round, order: str, *seats: Seat, role: str = "supervisor", players: tuple[str, ...] = ()) -> None:
    """Somebody gives a direction, a supervisor if anybody may."""
    who = {"players": players} if players else {}
    r.add("floor", ev.SupervisorDirected, "direct", r.pause(900, 1600), order=order, seats=seats, role=role, **who)


def _supervise(r: Round) -> None:
    """Now and then a supervisor at Let It Ride notes a suspicion, or has a player play first, who does."""
    if r.rules != "nsw-let-it-ride" or r.form or r.random.random() > 0.04:
        return
    seat = r.random.choice(r.seats)
    seats = (seat,)
    r.add("floor", ev.SupervisorNoted, "note", r.pause(900, 1600), what="suspicion", seats=seats, role="supervisor")
    if r.random.random() < 0.5:
        direct(r, "play_first", seat)
        r.ahead = seat


def _hold(r: Round) -> None:
    """A deck that is dealt from the hand is taken into the left."""
    if r.by_hand:
        r.add("shoe", ev.DeckHeld, "hold", r.pause(600, 900), hand="left", zone="container")
    r.cards = r.random.sample(DECK_52, len(DECK_52))


def clear_stub(r: Round) -> None:
    """The stub leaves the source, is counted where the rule asks for it, and goes to the rack."""
    if r.stub:
        return
    felt, r.stub = r.felt, True
    if r.source == "auto_shoe":
        r.add("shoe", ev.DeckUnloaded, "unload", r.pause(500, 900), deck=r.deck, source="auto_shoe")
    elif not r.by_hand:
        r.add("rack", ev.StubRemoved, "stub", r.pause(500, 900))
    if r.rules == "nj-double-cross-25":
        row, mine = felt.uncounted + 1, felt.uncounted_of.get(r.deck, 0) + 1
        asked = max(row, mine) >= _ROUNDS or r.random.random() < 0.2
        if asked if r.count is None else r.count:
            row = mine = 0
            left = 52 - r.missing - len(r.of("draw"))
            r.add("rack", ev.StubCounted, "count", r.pause(8000, 15_000), count=left, facing="down")
        felt.uncounted, felt.uncounted_of[r.deck] = row, mine
    r.add("rack", ev.StubDiscarded, "stub", r.pause(300, 600), facing="down")


def _rack(r: Round) -> None:
    """What still lies there goes to the rack."""
    for position in r.hands:
        if position not in r.taken:
            count = len(r.hands[position])
            r.add("rack", ev.CardsDiscarded, "rack", r.pause(300, 700), position=position, count=count)


def _close(r: Round) -> None:
    r.add("floor", ev.RoundClosed, "close", r.pause(800, 1500))


BEFORE: Final[dict[str, Callable[[Round], None]]] = {
    "people": _people, "button": _button, "machines": _machines, "shuffle": shuffle, "load": _load, "open": _open,
    "wagers": wagers, "supervise": _supervise, "hold": _hold,
}  # fmt: skip
AFTER: Final[dict[str, Callable[[Round], None]]] = {"rack": _rack, "stub": clear_stub, "close": _close}
CHORES: Final = BEFORE | AFTER
