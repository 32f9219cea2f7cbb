"""What can go wrong at Let It Ride, and what is done about it."""

from collections.abc import Iterator

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Scope, identify
from stream.deal.words import SEATS, Position, Seat
from stream.rulebook.steps import Close, Deal, Decide, Settle
from stream.simulate import dealer
from stream.simulate.chores import sit
from stream.simulate.mutations.registry import changed
from stream.simulate.mutations.steps import a_seat, cards, is_deal, nth, rearranged
from stream.simulate.play import come_back, decided, leave, look, wager
from stream.simulate.round import Round, Step

_AREAS = ("1", "2", "$")


def _dealt_wrong(r: Round, steps: Iterator[Step], wrong: Iterator[Step]) -> Iterator[Step]:
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


# --- 12.1 a wrong deal, realised in time


@changed("breached", "remedied")
def short_hand(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets two cards, and the dealer sees it before anybody handles cards."""
    yield from _dealt_wrong(r, steps, _short(steps, a_seat(r)))


@changed("breached", "remedied")
def surplus_hand(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets four cards, and the dealer sees it before anybody handles cards."""
    yield from _dealt_wrong(r, steps, _surplus(steps, a_seat(r)))


@changed("breached", "remedied")
def hand_passed_over(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player gets no cards, and the dealer sees it before anybody handles cards."""
    seat = a_seat(r)
    r.away.add(seat)
    yield from _dealt_wrong(r, steps, (s for s in steps if not is_deal(s, seat)))


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
            if r.form == "remedied":
                dealer.end_round(r)


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
            if n == second and r.form == "remedied":
                dealer.end_round(r)
        else:
            yield step


@changed("breached", "remedied")
def misdeal_uncaused(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A misdeal is declared for no cause; the wagers are given back, or some collected."""

    def declared(step: Step) -> Iterator[Step]:
        yield step
        if r.form == "remedied":
            dealer.end_round(r)
        else:
            dealer.say(r, "misdeal")
            lost = a_seat(r)
            for seat, area in list(r.stakes):
                dealer.pay(r, seat, area, "collected" if seat == lost else "returned")
            r.over = True

    yield from nth(steps, r.random.randint(1, cards(r)), (Deal,), declared)


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
        if r.form == "remedied":
            dealer.end_round(r)
        elif r.random.random() < 0.5:
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


# --- 12.9, 12.10 wagers that do not comply


def _one_short(r: Round, steps: Iterator[Step], seat: Seat) -> Iterator[Step]:
    """The wager of a player on $ is only half of the others."""
    for step in steps:
        yield step
        if step == "wagers":
            half = r.stakes[seat, "$"] // 2
            r.of("$")[r.seats.index(seat)].fields["amount"] = half
            r.stakes[seat, "$"] = half


def _request(r: Round, seat: Seat) -> None:
    r.add("floor", ev.WagerRequested, "request", r.pause(900, 1600), seat=seat)


def _correct(r: Round, seat: Seat) -> None:
    """Bring the wager on $ up to the others, or not quite."""
    lacks = r.stakes[seat, "1"] - r.stakes[seat, "$"]
    wager(r, seat, "$", lacks if r.form == "remedied" else lacks - 1)


@changed()
def wager_short_ignored(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager does nothing."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in _one_short(r, steps, seat):
        if isinstance(step, Close):
            _request(r, seat)
        yield step


@changed("breached", "remedied")
def wager_corrected(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager does so, rightly or not."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in _one_short(r, steps, seat):
        if isinstance(step, Close):
            _request(r, seat)
            _correct(r, seat)
        yield step


@changed("breached", "remedied")
def wager_folded(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager folds; the wager is given back, or kept."""
    seat = a_seat(r)
    r.tell(f"hand:{seat}", seat)
    for step in _one_short(r, steps, seat):
        if isinstance(step, Close):
            _request(r, seat)
            decided(r, seat, "fold")
            dealer.out(r, seat)
            dealer.take(r, seat)
            for area in _AREAS:
                dealer.pay(r, seat, area, "returned" if r.form == "remedied" else "collected")
        yield step


@changed("breached", "remedied")
def wager_short_handled(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player is asked to correct a wager with the cards in hand, and does so or not."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in _one_short(r, steps, seat):
        yield step
        if isinstance(step, Close):
            _request(r, seat)
            if r.form == "remedied":
                _correct(r, seat)


# --- 12.11 what a supervisor directs


def _direct(r: Round, order: str, *seats: Seat, role: str = "supervisor", players: tuple[str, ...] = ()) -> None:
    who = {"players": players} if players else {}
    r.add("floor", ev.SupervisorDirected, "direct", r.pause(900, 1600), order=order, seats=seats, role=role, **who)


@changed()
def direction_by_dealer(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A direction is given by somebody who may not."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in steps:
        if step == "wagers":
            order = r.random.choice(("play_first", "preclude", "english_only"))
            _direct(r, order, seat, role=r.random.choice(("dealer", "surveillance")))
        yield step


@changed()
def not_first(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player is directed to play first, and another handles cards before."""
    seat = r.random.choice(r.seats[1:])
    for step in steps:
        yield step
        if step == "wagers":
            _direct(r, "play_first", seat)


@changed()
def pair_together(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Two players who are directed apart play together."""
    two = tuple(sorted(r.random.sample(r.seats, 2)))
    r.tell("table", *two)
    for step in steps:
        if step == "wagers":
            _direct(r, "separate", *two, players=tuple(sit(r, s) for s in two))
        elif step == "close":
            _direct(r, "lifted")
        yield step


@changed()
def not_english(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A supervisor notes another language after the direction to speak English."""
    r.tell("table")
    for step in steps:
        if step == "wagers":
            _direct(r, "english_only")
        elif step == "close":
            seats = (a_seat(r),)
            r.add(
                "floor",
                ev.SupervisorNoted,
                "note",
                r.pause(900, 1600),
                what="not_english",
                seats=seats,
                role="supervisor",
            )
            _direct(r, "lifted")
        yield step


@changed()
def precluded_bets(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is precluded places a wager."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in steps:
        if step == "wagers":
            _direct(r, "preclude", seat, players=(sit(r, seat),))
        elif step == "close":
            _direct(r, "lifted")
        yield step


# --- 12.12, 12.13 players who are not there


@changed("breached", "remedied")
def away_unviewed(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who has not looked at the cards is away when the decision is due."""
    seat = a_seat(r)
    r.tell(f"hand:{seat}", seat)
    for step in steps:
        if isinstance(step, Close):
            _go(r, seat)
        yield step
        if isinstance(step, Decide) and step.area == "1" and r.form == "remedied":
            dealer.end_hand(r, seat, "hand_void")


@changed("breached", "remedied")
def away_viewed(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who has looked at the cards is away when a decision is due."""
    seat, area = a_seat(r), r.random.choice(("1", "2"))
    r.tell(f"hand:{seat}", seat)
    for step in steps:
        if isinstance(step, Decide) and step.area == area:
            _go(r, seat)
        yield step
        if isinstance(step, Decide) and step.area == area and r.form == "breached":
            dealer.pay(r, seat, area, "returned")


def _go(r: Round, seat: Seat) -> None:
    leave(r, seat)
    r.away.add(seat)
    r.felt.away.add(seat)
