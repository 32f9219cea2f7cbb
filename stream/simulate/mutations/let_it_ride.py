"""What can go wrong at Let It Ride, and what is done about it."""

from collections.abc import Iterator

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Scope, identify
from stream.deal.words import SEATS, Seat
from stream.rulebook.steps import Close, Deal, Turn
from stream.simulate import dealer
from stream.simulate.mutations.registry import changed
from stream.simulate.mutations.steps import a_seat, is_deal, nth
from stream.simulate.play import decided, look
from stream.simulate.round import Round, Step


def _dealt_wrong(r: Round, wrong: Iterator[Step]) -> Iterator[Step]:
    """The deal is wrong; the dealer realises it in time, and declares a misdeal or does not."""
    for step in wrong:
        if isinstance(step, Close):
            _realise(r)
            if r.over:
                continue
        yield step


def _realise(r: Round) -> None:
    if r.form == "remedied":
        dealer.end_round(r)
        return
    name = identify(r.felt.table, r.name, r.rules, "12.1", Scope("round"))
    r.add("floor", ev.AlertAcknowledged, "ack", r.pause(900, 2000), verdict=name, role="dealer")


def _short(steps: Iterator[Step], seat: Seat) -> Iterator[Step]:
    """A player gets two cards."""
    return (s for s in steps if not is_deal(s, seat, 3))


def _surplus(steps: Iterator[Step], seat: Seat) -> Iterator[Step]:
    """A player gets four cards."""
    for step in steps:
        yield step
        if is_deal(step, seat, 3):
            assert isinstance(step, Deal)
            yield replace(step, index=4)


def _unbet(steps: Iterator[Step], seat: Seat) -> Iterator[Step]:
    """A hand is dealt where there is no wager."""
    for step in steps:
        if is_deal(step, "C", 1):
            for index in (1, 2, 3):
                yield Deal(seat, index, "down", "player")
        yield step


def _free(r: Round) -> Seat:
    return r.random.choice([s for s in SEATS[: r.felt.seats] if s not in r.seats])


def _misdeal(r: Round) -> None:
    """A misdeal is declared and the wagers given back; or one is kept, or the round goes on."""
    if r.form == "remedied":
        dealer.end_round(r)
    elif r.random.random() < 0.3:
        dealer.end_round(r, lost=a_seat(r))


# --- 12.1 a wrong deal, realised in time


@changed("breached", "remedied")
def short_hand(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets two cards, and the dealer sees it before anybody handles cards."""
    yield from _dealt_wrong(r, _short(steps, a_seat(r)))


@changed("breached", "remedied")
def surplus_hand(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets four cards, and the dealer sees it before anybody handles cards."""
    yield from _dealt_wrong(r, _surplus(steps, a_seat(r)))


@changed("breached", "remedied")
def hand_passed_over(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets no cards, and the dealer sees it before anybody handles cards."""
    seat = a_seat(r)
    r.away.add(seat)
    yield from _dealt_wrong(r, (s for s in steps if not is_deal(s, seat)))


@changed("breached", "remedied", needs="free_seat")
def hand_unbet(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A hand is dealt where there is no wager, and the dealer sees it before anybody handles cards."""
    seat = _free(r)
    for step in _unbet(steps, seat):
        if isinstance(step, Close):
            if r.form == "remedied":
                dealer.end_round(r)
                continue
            dealer.take(r, seat)
        yield step


# --- 12.2 to 12.4 misdeals


@changed("breached", "remedied")
def community_extra(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A third card is dealt to the dealer."""
    for step in steps:
        yield step
        if is_deal(step, "C", 2):
            assert isinstance(step, Deal)
            yield replace(step, index=3)
            _misdeal(r)


@changed("breached", "remedied")
def community_short(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The dealer gets one card only, which shows when the second is to be turned."""
    for step in steps:
        if is_deal(step, "C", 2):
            continue
        if isinstance(step, Turn) and (step.position, step.index) == ("C", 2):
            _misdeal(r)
            if r.over:
                continue
        yield step


@changed("breached", "remedied")
def two_cards_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Two cards of players are dealt face up."""
    total = 3 * len(r.seats)
    first, second = sorted(r.random.sample(range(1, total + 1), 2))
    n = 0
    for step in steps:
        n += isinstance(step, Deal)
        if isinstance(step, Deal) and n in (first, second):
            yield replace(step, facing="up")
            if n == second:
                _misdeal(r)
        else:
            yield step


@changed("breached", "remedied")
def misdeal_uncaused(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A misdeal is declared for no cause; the wagers are given back, or some collected."""

    def declared(step: Step) -> Iterator[Step]:
        yield step
        dealer.end_round(r, lost=a_seat(r) if r.form == "breached" else None)

    yield from nth(steps, r.random.randint(1, 3 * len(r.seats) + 2), (Deal,), declared)


# --- 12.5, 12.6 cards exposed


@changed("breached", "remedied", "over")
def card_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """One card of a player is dealt face up."""
    seat, index = a_seat(r), r.random.randint(1, 3)
    r.tell(f"card:{seat}.{index}", seat)
    for step in steps:
        if not is_deal(step, seat, index):
            yield step
            continue
        assert isinstance(step, Deal)
        yield replace(step, facing="up")
        if r.form == "remedied":
            dealer.turn(r, seat, index, "down")
        elif r.form == "over":
            dealer.end_round(r)


@changed("breached", "remedied")
def community_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A community card is dealt face up."""
    index = r.random.randint(1, 2)
    for step in steps:
        if not is_deal(step, "C", index):
            yield step
            continue
        assert isinstance(step, Deal)
        yield replace(step, facing="up")
        _misdeal(r)
        if r.random.random() < 0.5:
            dealer.turn(r, "C", index, "down")


@changed("remedied", "over")
def community_early(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A community card is turned when all have handled their cards and not yet decided."""
    index = r.random.randint(1, 2)
    for step in steps:
        yield step
        if isinstance(step, Close):
            dealer.turn(r, "C", index)
            if r.form == "over":
                dealer.end_round(r)
            elif r.random.random() < 0.5:
                dealer.turn(r, "C", index, "down")


# --- 12.7, 12.8 wrong hands, found when cards are handled


def _found(r: Round, wrong: Iterator[Step], seat: Seat) -> Iterator[Step]:
    r.tell(f"hand:{seat}", seat)
    for step in wrong:
        yield step
        if isinstance(step, Close) and r.form == "remedied":
            dealer.end_hand(r, seat, "hand_void")


@changed("breached", "remedied")
def short_hand_handled(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets two cards, which shows when cards are handled."""
    seat = a_seat(r)
    yield from _found(r, _short(steps, seat), seat)


@changed("breached", "remedied")
def surplus_hand_handled(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets four cards, which shows when cards are handled."""
    seat = a_seat(r)
    yield from _found(r, _surplus(steps, seat), seat)


@changed("breached", "remedied", needs="free_seat")
def hand_unbet_handled(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A hand is dealt where there is no wager, which shows when cards are handled."""
    seat = _free(r)
    r.tell(f"hand:{seat}", seat)
    for step in _unbet(steps, seat):
        yield step
        if isinstance(step, Close) and r.form == "remedied":
            dealer.take(r, seat)
        elif isinstance(step, Close) and r.random.random() < 0.5:
            look(r, seat)
            decided(r, seat, "ride", "1")
