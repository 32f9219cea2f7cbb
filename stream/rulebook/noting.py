"""How each type of event changes the facts of a round: one function a type, nothing judged."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import JOKER, UNSEEN
from stream.deal.words import ButtonPlace, Position, Seat, Source
from stream.rulebook.heard import Heard
from stream.rulebook.marks import Up, Wager
from stream.rulebook.standing import DeckFacts, Load, Stubs, Tally

if TYPE_CHECKING:
    from stream.rulebook.facts import Facts


def is_call(heard: Heard) -> bool:
    """Whether this is a "No more bets"."""
    return isinstance(heard.event, ev.Announced) and heard.event.what == "no_more_bets"


def successor(place: ButtonPlace, seats: tuple[Seat, ...]) -> ButtonPlace:
    """Who has the button after this place: the next seat with a player, after the last of them the dealer."""
    if place == "D":
        return seats[0] if seats else "D"
    return next((s for s in seats if s > place), "D")


def _round_opened(f: "Facts", h: Heard[ev.RoundOpened], _e: ev.RoundOpened) -> None:
    f.round = h


def _round_closed(f: "Facts", h: Heard[ev.RoundClosed], _e: ev.RoundClosed) -> None:
    if f.round is None or f.closed is not None:
        return
    f.closed = h
    f.orders = tuple(o for o in f.orders if o.event.order != "play_first")
    deck = f.deck
    if deck is not None and isinstance(f.round.event, ev.RoundOpened):
        facts = f.decks.get(deck, DeckFacts())
        f.decks[deck] = replace(facts, tally=_tallied(f, facts.tally, f.round.event.round))


def _tallied(f: "Facts", before: Tally | None, rnd: str) -> Tally:
    hands = len({p for (p, _) in f.faces if p != "C"})
    amount = sum(w.amount for w in f.wagers.values())
    if before is None:
        return Tally(rnd, rnd, 1, hands, amount)
    return Tally(before.first, rnd, before.rounds + 1, before.hands + hands, before.amount + amount)


def _drawn(f: "Facts", h: Heard[ev.CardDrawn], e: ev.CardDrawn) -> None:
    if f.first_draw is None:
        f.first_draw = h
        f.stub_left, f.stub_out = f.stub_out, None
        f.dealt_from = f.loads.get(e.source)
        if f.chosen is None and f.holding is not None:
            f.chosen = f.holding.event.hand
        if not f.placements:
            _give_turn(f, h)
    if e.source != f.source:
        f.source = e.source
        _dealt_from(f, h, e.source)
    if e.face_up and not any(_is_seen(x, e) for x in f.boxed):
        f.boxed.append(h)
    if e.card != UNSEEN and (f.cards.setdefault(e.card, e.draw) != e.draw or e.card == JOKER):
        f.odd_card = True
    if e.draw == 1 and f.last_draw > 1:
        f.mingled = True
    f.draws.setdefault(e.draw, h)
    f.last_draw = max(f.last_draw, e.draw)


def _give_turn(f: "Facts", h: Heard) -> None:
    """Whose the button is in this round: where it stands, or once by fiction where it should."""
    button = f.button
    if button is None:
        return
    f.button_then = button
    f.turn_before, f.turn_given = f.turn_given, h.when
    due = successor(f.turn, f.staked("ante")) if f.turn is not None else button
    if button == due or f.missed:
        f.turn, f.missed = button, False
    else:
        f.turn, f.missed, f.astray = due, True, due


def _dealt_from(f: "Facts", h: Heard, source: Source) -> None:
    """From here on the deck in this source is a used one."""
    load = f.loads.get(source)
    if load is None:
        return
    f.sources.append((h, load.deck))
    deck = f.decks.get(load.deck)
    if deck is not None and not deck.dealt:
        f.decks[load.deck] = replace(deck, dealt=True)


def _placed(f: "Facts", h: Heard[ev.CardPlaced], e: ev.CardPlaced) -> None:
    if f.first_draw is None and not f.placements:
        _give_turn(f, h)  # the source was not seen, and the round is dealt all the same
    if e.draw is None or e.draw not in f.placed:
        f.placements.append(h)
    else:
        before = f.placed[e.draw].event
        f.faces.pop((before.position, before.index), None)
    if e.draw is not None:
        f.placed[e.draw] = h
    f.last_placed = h
    f.faces[e.position, e.index] = e.facing
    if e.facing == "up":
        f.ups.append(_up(e.position, e.index, h, e))
    if e.card != UNSEEN and e.draw is not None and f.cards.setdefault(e.card, e.draw) != e.draw:
        f.odd_card = True


def _up(
    position: Position, index: int, h: Heard[ev.CardPlaced | ev.CardTurned], e: ev.CardPlaced | ev.CardTurned
) -> Up:
    return Up(position, index, h, e.by if isinstance(e, ev.CardTurned) else "dealer", isinstance(e, ev.CardTurned))


def _turned(f: "Facts", h: Heard[ev.CardTurned], e: ev.CardTurned) -> None:
    f.turns.append(h)
    f.faces[e.position, e.index] = e.facing
    if e.facing == "up":
        f.ups.append(_up(e.position, e.index, h, e))
    if e.facing == "up" and e.by != "player" and e.position == "C" and (e.position, e.index) in f.hidden:
        f.reveal = f.reveal or h


def _announced(f: "Facts", h: Heard[ev.Announced], e: ev.Announced) -> None:
    if e.what == "no_more_bets":
        f.calls.append(h)
        return
    f.voids.append(h)
    facts = f.decks.get(f.deck) if f.deck is not None else None
    if facts is not None and f.deck is not None and e.what not in ("hand_dead", "hand_void"):
        f.decks[f.deck] = replace(facts, voided=True)


def _bets_closed(f: "Facts", h: Heard[ev.BettingClosed], e: ev.BettingClosed) -> None:
    f.bets.append(h)
    f.rounds_bet = max(f.rounds_bet + 1, e.street)


def _wagered(f: "Facts", h: Heard[ev.WagerPlaced], e: ev.WagerPlaced) -> None:
    f.chips.append(h)
    wager = f.wagers.get((e.seat, e.area))
    if wager is None:
        wager = f.wagers[e.seat, e.area] = Wager(h)
    elif wager.amount <= 0:
        wager.placed = h
    wager.amount += e.amount
    wager.touched = h


def _unwagered(f: "Facts", h: Heard[ev.WagerRemoved], e: ev.WagerRemoved) -> None:
    f.chips.append(h)
    wager = f.wagers.get((e.seat, e.area))
    if wager is not None:
        wager.amount -= e.amount
        wager.touched = h


def _settled(f: "Facts", h: Heard[ev.WagerSettled], e: ev.WagerSettled) -> None:
    f.settled.append(h)
    wager = f.wagers.get((e.seat, e.area))
    if wager is not None:
        wager.settled = True


def _requested(f: "Facts", h: Heard[ev.WagerRequested], e: ev.WagerRequested) -> None:
    f.requested.setdefault(e.seat, h)


def _decided(f: "Facts", h: Heard[ev.PlayerDecided], e: ev.PlayerDecided) -> None:
    f.decided.add(e.seat)
    f.decisions.append(h)
    _is_there(f, e.seat)
    if e.act == "fold":
        f.folded.setdefault(e.seat, f.rounds_bet)


def _touched(f: "Facts", h: Heard[ev.CardsTouched], _e: ev.CardsTouched) -> None:
    f.touches.append(h)


def _handled(f: "Facts", h: Heard[ev.CardsHandled], e: ev.CardsHandled) -> None:
    f.touches.append(h)
    f.handled.setdefault(e.seat, h)


def _viewed(f: "Facts", h: Heard[ev.CardsViewed], e: ev.CardsViewed) -> None:
    f.viewed.setdefault(e.seat, h)
    _is_there(f, e.seat)


def _is_there(f: "Facts", seat: Seat) -> None:
    """Who acts for himself has come back, though nobody told; who left in this round may be acted for."""
    if seat in f.absent and all(gone.event.seat != seat for gone in f.left):
        del f.absent[seat]


def _left(f: "Facts", h: Heard[ev.PlayerLeft], e: ev.PlayerLeft) -> None:
    f.absent[e.seat] = h
    f.left.append(h)


def _came_back(f: "Facts", h: Heard[ev.PlayerReturned], e: ev.PlayerReturned) -> None:
    f.back.append(h)
    f.absent.pop(e.seat, None)


def _seated(f: "Facts", _h: Heard[ev.SeatTaken], e: ev.SeatTaken) -> None:
    f.seated[e.seat] = e.player
    f.absent.pop(e.seat, None)


def _acknowledged(f: "Facts", h: Heard[ev.AlertAcknowledged], _e: ev.AlertAcknowledged) -> None:
    f.acks.append(h)


def _directed(f: "Facts", h: Heard[ev.SupervisorDirected], e: ev.SupervisorDirected) -> None:
    if f.strayed and e.order == "play_first":
        return  # of the round whose opening was lost
    if e.order == "lifted":
        f.orders = tuple(o for o in f.orders if e.seats and not set(e.seats) & set(o.event.seats))
    else:
        f.orders = (*f.orders, h)


def _burned(f: "Facts", h: Heard[ev.CardBurned], _e: ev.CardBurned) -> None:
    f.burned.append(h)


def _returned(f: "Facts", h: Heard[ev.CardReturned], e: ev.CardReturned) -> None:
    f.returned[e.draw] = h
    f.boxed = [b for b in f.boxed if b.event.draw != e.draw]  # it is drawn, and seen, once more


def _seen(f: "Facts", h: Heard[ev.CardSeen], e: ev.CardSeen) -> None:
    if e.place in ("source", "stub"):
        f.boxed.append(h)


def _is_seen(boxed: Heard[ev.CardDrawn | ev.CardSeen], e: ev.CardDrawn) -> bool:
    """Whether a card drawn face up is one that was found so before: by its draw, else by its face."""
    found = boxed.event
    return found.draw == e.draw if found.draw is not None else found.card in (e.card, UNSEEN)


def _discarded(f: "Facts", h: Heard[ev.CardsDiscarded], e: ev.CardsDiscarded) -> None:
    if e.draw is not None:
        f.discarded[e.draw] = h


def _collected(f: "Facts", h: Heard[ev.CardsCollected], e: ev.CardsCollected) -> None:
    f.taken.setdefault(e.position, h)
    f.takes.append(h)
    f.collected[e.position] = max(f.collected.get(e.position, 0), e.count)


def _stub_removed(f: "Facts", h: Heard[ev.StubRemoved], _e: ev.StubRemoved) -> None:
    f.stubs.append(h)


def _stub_counted(f: "Facts", h: Heard[ev.StubCounted], _e: ev.StubCounted) -> None:
    f.stubs.append(h)
    f.counts.append(h)
    f.stub_out = (h, f.deck)
    f.uncounted = counted = Stubs(device=h.device)
    if f.deck is not None:
        f.decks[f.deck] = replace(f.decks.get(f.deck, DeckFacts()), stubs=counted)


def _stub_discarded(f: "Facts", h: Heard[ev.StubDiscarded], _e: ev.StubDiscarded) -> None:
    f.stubs.append(h)
    f.stub_out = None
    deck = f.deck
    facts = f.decks.get(deck, DeckFacts()) if deck is not None else DeckFacts()
    done = facts.state == "completed" and facts.method == "device"
    whole = bool(f.counts) or (done and deck is not None and facts.count == f.size_of(deck))
    unheard = done and facts.count is None and f.sees("shuffler_count")
    since = f.round.when if f.round else h.when
    f.uncounted = _another(f.uncounted, h.device, since, whole=whole, unheard=unheard)
    if deck is not None:
        f.decks[deck] = replace(facts, stubs=_another(facts.stubs, h.device, since, whole=whole, unheard=unheard))


def _another(before: Stubs, device: str, since: int, *, whole: bool, unheard: bool) -> Stubs:
    """One more stub in the rack."""
    if whole:
        return Stubs(device=device)
    since = before.since if before.row else since
    return Stubs(
        before.row + 1, before.unheard + unheard, 0 if unheard else before.known + 1, since, device, before.holed
    )


def _button_moved(f: "Facts", _h: Heard[ev.ButtonMoved], e: ev.ButtonMoved) -> None:
    f.button = e.to


def _deck_loaded(f: "Facts", h: Heard[ev.DeckLoaded], e: ev.DeckLoaded) -> None:
    for where in [w for w, load in f.loads.items() if load.deck == e.deck]:
        del f.loads[where]  # a load elsewhere implies that it was taken out
    deck = f.decks.get(e.deck, DeckFacts())
    state = "none" if deck.dealt else deck.state
    f.loads[e.into] = Load(e.deck, h, state, deck.mode == "sort", deck.method == "hand", deck.voided)
    if e.asset is not None:
        f.assets[e.into] = e.asset


def _deck_unloaded(f: "Facts", _h: Heard[ev.DeckUnloaded], e: ev.DeckUnloaded) -> None:
    f.loads.pop(e.source, None)


def _deck_removed(f: "Facts", _h: Heard[ev.DeckRemoved], e: ev.DeckRemoved) -> None:
    for where in [w for w, load in f.loads.items() if load.deck == e.deck]:
        del f.loads[where]


def _deck_held(f: "Facts", h: Heard[ev.DeckHeld], e: ev.DeckHeld) -> None:
    if f.round is not None and f.chosen is None and f.first_draw is None:
        f.chosen = e.hand
    f.holding = h


def _shuffle_started(f: "Facts", h: Heard[ev.ShuffleStarted], e: ev.ShuffleStarted) -> None:
    before = f.decks.get(e.deck, DeckFacts())
    f.decks[e.deck] = DeckFacts(
        "started", e.method, e.mode, None, h, troubled=before.troubled, tally=before.tally, stubs=before.stubs
    )


def _shuffle_completed(f: "Facts", h: Heard[ev.ShuffleCompleted], e: ev.ShuffleCompleted) -> None:
    before = f.decks.get(e.deck, DeckFacts())
    good = e.count is not None and e.count == f.size_of(e.deck)
    f.decks[e.deck] = DeckFacts(
        "completed", before.method, before.mode, e.count, before.begun, h,
        tally=None if good else before.tally, stubs=before.stubs,
    )  # fmt: skip


def _shuffle_failed(
    f: "Facts",
    h: Heard[ev.ShuffleJammed | ev.ShuffleStopped | ev.ShuffleAborted],
    e: ev.ShuffleJammed | ev.ShuffleStopped | ev.ShuffleAborted,
) -> None:
    before = f.decks.get(e.deck, DeckFacts())
    f.decks[e.deck] = DeckFacts(
        "failed", before.method, before.mode, None, before.begun, h, before.dealt,
        troubled=before.troubled or h, tally=before.tally, stubs=before.stubs,
    )  # fmt: skip


def _installed(f: "Facts", h: Heard[ev.DeviceInstalled], e: ev.DeviceInstalled) -> None:
    f.installed[e.kind] = h
    f.doubted -= {e.kind}
    if e.asset is not None:
        f.assets[e.kind] = e.asset
    if e.kind == "manual_shoe" and e.side is not None:
        f.side = e.side


def _removed(f: "Facts", _h: Heard[ev.DeviceRemoved], e: ev.DeviceRemoved) -> None:
    f.installed.pop(e.kind, None)


NOTES: Final[dict[type, Callable[["Facts", Any, Any], None]]] = {
    ev.RoundOpened: _round_opened,
    ev.RoundClosed: _round_closed,
    ev.CardDrawn: _drawn,
    ev.CardPlaced: _placed,
    ev.CardTurned: _turned,
    ev.Announced: _announced,
    ev.BettingClosed: _bets_closed,
    ev.WagerPlaced: _wagered,
    ev.WagerRemoved: _unwagered,
    ev.WagerSettled: _settled,
    ev.WagerRequested: _requested,
    ev.PlayerDecided: _decided,
    ev.PlayerLeft: _left,
    ev.PlayerReturned: _came_back,
    ev.SeatTaken: _seated,
    ev.CardsTouched: _touched,
    ev.CardsHandled: _handled,
    ev.CardsViewed: _viewed,
    ev.AlertAcknowledged: _acknowledged,
    ev.SupervisorDirected: _directed,
    ev.CardBurned: _burned,
    ev.CardReturned: _returned,
    ev.CardSeen: _seen,
    ev.CardsDiscarded: _discarded,
    ev.CardsCollected: _collected,
    ev.StubRemoved: _stub_removed,
    ev.StubCounted: _stub_counted,
    ev.StubDiscarded: _stub_discarded,
    ev.ButtonMoved: _button_moved,
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
    ev.DeviceRemoved: _removed,
}
