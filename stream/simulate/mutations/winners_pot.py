"""What can go wrong at Winner's Pot Poker, and what is done about it."""

from collections.abc import Iterator

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.words import Call, Position
from stream.rulebook.steps import Bet, Burn, Close, Deal, Settle, Turn
from stream.simulate import dealer
from stream.simulate.mutations.registry import changed
from stream.simulate.mutations.steps import a_seat, is_deal, nth, planned, someone
from stream.simulate.play import wager
from stream.simulate.round import Round, Step

_ENDS: tuple[Call, ...] = ("misdeal", "all_void", "round_void")


def end(r: Round) -> None:
    """Give the whole round up, by one call or another."""
    dealer.end_round(r, r.random.choice(_ENDS))


def half_ended(r: Round, what: Call) -> bool:
    """What is ordered is done by half, or not at all: a wager is kept, or the deck not shuffled."""
    kind = r.random.choice(("nothing", "kept", "unshuffled"))
    if kind == "nothing":
        return False
    dealer.end_round(r, what, lost=a_seat(r) if kind == "kept" else None)
    if kind == "unshuffled":
        r.felt.unshuffled = r.deck
    return True


# --- (a), (h) cards exposed


@changed("breached", "remedied", "over")
def hole_card_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """One hole card of a hand is dealt face up, or turned by the dealer before the hand's third card."""
    hand, index, knocked = someone(r, "D"), r.random.choice((1, 2)), r.random.random() < 0.3
    r.tell(f"hand:{hand}", hand)
    for step in steps:
        if is_deal(step, hand, index):
            assert isinstance(step, Deal)
            yield step if knocked else replace(step, facing="up")
            if knocked:
                dealer.turn(r, hand, index)
            if r.form == "over":
                _give_up(r, hand)
        elif is_deal(step, hand, 3) and r.form == "remedied":
            assert isinstance(step, Deal)
            yield replace(step, facing="down")
        else:
            yield step
            if isinstance(step, Turn) and step.position == hand:
                dealer.turn(r, hand, 3)


def _give_up(r: Round, hand: Position) -> None:
    if hand == "D" or r.random.random() < 0.5:
        end(r)
    else:
        dealer.end_hand(r, hand, "hand_dead")


@changed("breached", "remedied")
def both_hole_cards_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Both hole cards of a hand are dealt face up."""
    hand = someone(r, "D")
    r.tell(f"hand:{hand}", hand)
    yield from _dead(r, steps, hand)


def _dead(r: Round, steps: Iterator[Step], hand: Position) -> Iterator[Step]:
    """Both hole cards show; the hand is called dead when the street is dealt, unless that is what is done wrong."""
    kept = r.form == "breached" and hand != "D" and r.random.random() < 0.5  # dead, but its wagers are collected
    for step in steps:
        if is_deal(step, hand, 1, 2):
            assert isinstance(step, Deal)
            yield replace(step, facing="up")
            continue
        if isinstance(step, Deal) and step.index == 3 and hand not in r.held:
            if kept:
                dealer.end_hand(r, hand, "hand_dead", outcome="collected")
            elif r.form == "remedied":
                dealer.end_hand(r, hand, "hand_dead")
        if not (is_deal(step, hand) and hand in r.held):
            yield step


@changed("breached", "remedied")
def dead_hand_with_bonus(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Both hole cards of a hand show and win its bonus, which is paid, given back or collected."""
    seat = a_seat(r)
    r.tell(f"wager:{seat}/bonus", seat)
    rank = r.random.choice("JQKA")
    r.wanted = {(seat, 1): rank, (seat, 2): rank}
    for step in steps:
        if is_deal(step, seat, 1, 2):
            assert isinstance(step, Deal)
            yield replace(step, facing="up")
            continue
        if isinstance(step, Deal) and step.index == 3 and seat not in r.held:
            stake = r.stakes.pop((seat, "bonus"))
            dealer.end_hand(r, seat, "hand_dead")
            r.stakes[seat, "bonus"] = stake
            outcome = "paid" if r.form == "remedied" else r.random.choice(("returned", "collected"))
            dealer.pay(r, seat, "bonus", outcome)
        if not (is_deal(step, seat) and seat in r.held):
            yield step
        if step == "wagers" and (seat, "bonus") not in r.stakes:
            wager(r, seat, "bonus", 5)


@changed("breached", "remedied", "over")
def player_shows(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player turns up an own down card before the showdown."""
    seat = a_seat(r)
    r.tell(f"hand:{seat}", seat)
    last = max(s.street for s in planned(r) if isinstance(s, Bet))
    when = r.random.randint(1, last)
    for step in steps:
        yield step
        if isinstance(step, Bet) and step.street == when:
            down = [i for i, _ in r.hands[seat] if r.faces[seat, i] == "down"]
            dealer.turn(r, seat, r.random.choice(down), by="player")
            if r.form == "breached":
                dealer.take(r, seat)
                dealer.out(r, seat)
                dealer.give_back(r, seat)
            elif r.form == "over" and r.random.random() < 0.5:
                dealer.end_hand(r, seat, r.random.choice(("hand_dead", "hand_void")))
            elif r.form == "over":
                end(r)


# --- (b), (c) cards in the source


def _boxed(r: Round, *, used: Position | None = None, index: int = 0) -> None:
    """A card comes face up out of the source, and goes to the rack, or is used after all."""
    drawn = dealer.draw(r, face_up=True)
    if used is None:
        dealer.discard(r, drawn)
    else:
        dealer.place(r, drawn, used, index, "up")


@changed("breached", "remedied", "over")
def boxed_card(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """One card is face up in the source while the cards are dealt."""
    upward = [n for n, s in enumerate(planned(r)) if isinstance(s, Deal) and s.facing == "up"]

    def found(step: Step) -> Iterator[Step]:
        if r.form == "breached" and isinstance(step, Burn):
            dealer.burn(r, dealer.draw(r, face_up=True))
        elif r.form == "breached":
            assert isinstance(step, Deal)
            _boxed(r, used=step.position, index=len(r.hands.get(step.position, ())) + 1)
        else:
            _boxed(r)
            if r.form == "over":
                end(r)
            else:
                yield step

    if r.form == "breached":
        first = sum(isinstance(s, Deal | Burn) for s in planned(r)[: upward[0] + 1])
        yield from nth(steps, r.random.randint(first, first + len(r.seats)), (Deal, Burn), found)
    else:
        yield from nth(steps, r.random.randint(1, 2 * len(r.seats) + 5), (Deal, Burn), found)


@changed("breached", "remedied")
def two_boxed_cards(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Two cards are face up in the source while the cards are dealt."""
    first = r.random.randint(1, len(r.seats) + 1)
    second = r.random.randint(first, 2 * len(r.seats) + 5)
    n = 0
    for step in steps:
        if isinstance(step, Deal | Burn):
            n += 1
            for _ in range((n == first) + (n == second)):
                _boxed(r)
            if n == second and r.form == "remedied":
                dealer.end_round(r, "all_void")
            elif n == second:
                half_ended(r, "all_void")
            if r.over:
                continue
        yield step


@changed("breached", "remedied", "over")
def boxed_in_stub(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Cards are face up in the stub when all cards are dealt."""
    last = max(s.street for s in planned(r) if isinstance(s, Bet))
    for step in steps:
        if isinstance(step, Settle) and r.form == "breached":
            dealer.give_back(r)
        yield step
        if isinstance(step, Bet) and step.street == last:
            for card in r.cards[: r.random.randint(1, 2)]:
                r.add("shoe", ev.CardSeen, "seen", r.pause(600, 1200), place="stub", card=card)
            if r.form == "over":
                end(r)


@changed("breached", "remedied", "over")
def drawn_early(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A card leaves the source in a betting round that a burn follows."""
    when = r.random.randint(1, 2)
    early = None
    for step in steps:
        if isinstance(step, Close) and step.index == when:
            early = dealer.draw(r)
            r.tell(early)
            if r.form == "over":
                end(r)
                dealer.discard(r, early)
                continue
            yield step
            if r.form == "breached" and r.random.random() < 0.5:
                r.add("shoe", ev.CardReturned, "return", r.pause(600, 1200)).card = early
                r.cards.insert(0, early.card)
                early = None
            elif r.form == "breached":
                dealer.discard(r, early)
                early = None
        elif isinstance(step, Burn) and early is not None:
            dealer.burn(r, early)
            early = None
        else:
            yield step


# --- (d), (e), (f) a wrong number of cards, a missed burn


@changed("breached", "remedied", "over")
def hand_extra(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets one card too many."""
    seat = a_seat(r)
    street = r.random.randint(1, max(s.street for s in planned(r) if isinstance(s, Deal)))
    r.tell(f"hand:{seat}", seat)
    for step in steps:
        yield step
        if is_deal(step, seat, street):
            assert isinstance(step, Deal)
            dealer.deal(r, seat, step.facing)
            if r.form == "remedied":
                dealer.end_hand(r, seat, "hand_void", cards=street)
            elif r.form == "breached" and r.random.random() < 0.5:
                dealer.end_hand(r, seat, "hand_void", cards=street, outcome="collected")
            elif r.form == "over":
                end(r)


@changed("breached", "remedied", "over")
def burn_missed(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The first burn is left out; before the next street two are due."""
    missed, burned = 0, 2 if r.form == "remedied" else r.random.choice((0, 1, 3))
    for step in steps:
        if isinstance(step, Burn):
            missed += 1
            if missed == 1 or (missed == 2 and burned == 0):
                continue
            for _ in range(burned - 1 if missed == 2 else 0):
                dealer.burn(r)
        yield step
        if missed == 1 and r.form == "over" and isinstance(step, Deal):
            end(r)


@changed("breached", "remedied")
def hand_left_out(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A hand gets no card in one street, and the next one gets its card."""
    street, hand, left_out = r.random.randint(1, 5), "", False
    for step in steps:
        if is_deal(step, hand, street):  # type: ignore[arg-type]  # a position, once the button has moved
            left_out = True
            continue
        yield step
        if left_out and isinstance(step, Deal):
            left_out = False
            if r.form == "remedied":
                dealer.end_round(r)
            else:
                half_ended(r, "misdeal")
        if step == "hold":
            order = [s.position for s in planned(r) if isinstance(s, Deal) and s.street == 1]
            hand = r.random.choice(order[:-1])
            r.loyal |= {s for s in r.seats if s in (hand, order[order.index(hand) + 1])}
