"""What players can do wrong at Let It Ride: wagers that do not comply, directions not followed, and absence."""

from collections.abc import Callable, Iterator

from stream.deal import events as ev
from stream.deal.words import Seat
from stream.rulebook.steps import Close, Decide
from stream.simulate import dealer
from stream.simulate.chores import direct, sit
from stream.simulate.mutations.registry import changed
from stream.simulate.mutations.steps import a_seat
from stream.simulate.play import decided, leave, wager
from stream.simulate.round import Round, Step

_AREAS = ("1", "2", "$")


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


def _asked(r: Round, steps: Iterator[Step], seat: Seat, answer: Callable[[], None] = lambda: None) -> Iterator[Step]:
    """A player whose wager is short is asked to correct it before the cards are handled, and answers."""
    for step in _one_short(r, steps, seat):
        if isinstance(step, Close):
            _request(r, seat)
            answer()
        yield step


@changed()
def wager_short_ignored(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager does nothing."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    yield from _asked(r, steps, seat)


@changed("breached", "remedied")
def wager_corrected(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager does so, rightly or not."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    yield from _asked(r, steps, seat, lambda: _correct(r, seat))


@changed("breached", "remedied")
def wager_folded(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is asked to correct a wager folds; the wager is given back, or kept."""
    seat = a_seat(r)
    r.tell(f"hand:{seat}", seat)

    def fold() -> None:
        decided(r, seat, "fold")
        dealer.out(r, seat)
        dealer.take(r, seat)
        for area in _AREAS:
            dealer.pay(r, seat, area, "returned" if r.form == "remedied" else "collected")

    yield from _asked(r, steps, seat, fold)


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


@changed()
def direction_by_dealer(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A direction is given by somebody who may not."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in steps:
        if step == "wagers":
            order = r.random.choice(("play_first", "preclude", "english_only"))
            direct(r, order, seat, role=r.random.choice(("dealer", "surveillance")))
        yield step


@changed()
def not_first(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player is directed to play first, and another handles cards before."""
    seat = r.random.choice(r.seats[1:])
    for step in steps:
        yield step
        if step == "wagers":
            direct(r, "play_first", seat)


@changed()
def pair_together(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """Two players who are directed apart play together."""
    two = tuple(sorted(r.random.sample(r.seats, 2)))
    r.tell("table", *two)
    for step in steps:
        if step == "wagers":
            direct(r, "separate", *two, players=tuple(sit(r, s) for s in two))
        elif step == "close":
            direct(r, "lifted")
        yield step


@changed()
def not_english(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A supervisor notes another language after the direction to speak English."""
    r.tell("table")
    for step in steps:
        if step == "wagers":
            direct(r, "english_only")
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
            direct(r, "lifted")
        yield step


@changed()
def precluded_bets(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A player who is precluded places a wager."""
    seat = a_seat(r)
    r.tell(f"player:{seat}", seat)
    for step in steps:
        if step == "wagers":
            direct(r, "preclude", seat, players=(sit(r, seat),))
        elif step == "close":
            direct(r, "lifted")
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
