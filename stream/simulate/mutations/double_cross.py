"""What can go wrong at Double Cross Poker, and what is done about it."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from stream.deal import events as ev
from stream.rulebook.steps import ClearStub, Deal, Turn
from stream.simulate import dealer
from stream.simulate.chores import clear_stub, shuffle
from stream.simulate.mutations.registry import changed, edited
from stream.simulate.mutations.steps import a_seat, rearranged
from stream.simulate.round import Change, Round, Step

_COUNTED = 52
_ROUNDS = 5


def _reordered(change: Callable[[Round, list[Deal]], list[Step]]) -> Change:
    """A change of the order, the number or the faces of the cards dealt; the stub is not counted."""

    def dealing(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
        _uncounted(r)
        yield from rearranged(steps, lambda deals: change(r, deals))

    dealing.__name__, dealing.__doc__ = change.__name__, change.__doc__
    return changed()(dealing)


def _uncounted(r: Round) -> None:
    """The stub is not counted, and need not be: the shuffler has counted the deck."""
    r.method, r.count = "device", False


def _pairs(deals: list[Deal]) -> list[list[Deal]]:
    """The two cards of each player, then of the dealer."""
    return [deals[i : i + 2] for i in range(0, len(deals) - 5, 2)]


# --- (a), (b) the deck and the call


@changed()
def dealt_unshuffled(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The deck is loaded as it was last dealt."""
    r.tell(f"deck:{r.deck}")
    yield from (step for step in steps if step != "shuffle")


@edited()
def loaded_early(r: Round) -> None:
    """The deck is loaded before its shuffle is complete."""
    r.of("load")[0].ms = r.of("shuffled")[0].ms - 2000
    r.tell(f"deck:{r.deck}")


@edited()
def loaded_by_player(r: Round) -> None:
    """A player puts the deck into the shoe."""
    for h in r.of("load"):
        h.fields["by"] = "player"
    r.tell(f"deck:{r.deck}")


@edited()
def late_ante(r: Round) -> None:
    """One ante is placed between the call and the first card."""
    h = r.random.choice(r.of("ante"))
    h.ms = (r.of("call")[0].ms + r.of("draw")[0].ms) // 2
    r.tell("round", h.fields["seat"])


# --- (c) the deal


@_reordered
def pairs_swapped(r: Round, deals: list[Deal]) -> list[Step]:
    """Two players are served in each other's place."""
    pairs = _pairs(deals)
    i = r.random.randrange(len(r.seats) - 1)
    pairs[i], pairs[i + 1] = pairs[i + 1], pairs[i]
    return [*(d for pair in pairs for d in pair), *deals[-5:]]


@_reordered
def pair_alternating(_r: Round, deals: list[Deal]) -> list[Step]:
    """The players get one card each, twice around."""
    players = deals[:-7]
    return [*players[::2], *players[1::2], *deals[-7:]]


def _at_seat(r: Round, deals: list[Deal]) -> int:
    """Where the cards of some player stand."""
    seat = a_seat(r)
    r.tell(f"hand:{seat}", seat)
    return next(i for i, d in enumerate(deals) if d.position == seat)


@_reordered
def pair_short(r: Round, deals: list[Deal]) -> list[Step]:
    """A player gets one card only."""
    i = _at_seat(r, deals)
    return [*deals[:i], *deals[i + 1 :]]


@_reordered
def pair_extra(r: Round, deals: list[Deal]) -> list[Step]:
    """A player gets three cards."""
    i = _at_seat(r, deals)
    return [*deals[: i + 2], replace(deals[i], index=3), *deals[i + 2 :]]


@_reordered
def pair_face_up(r: Round, deals: list[Deal]) -> list[Step]:
    """A player's card is dealt face up."""
    i = _at_seat(r, deals) + r.random.randint(0, 1)
    return [*deals[:i], replace(deals[i], facing="up"), *deals[i + 1 :]]


@_reordered
def dealer_early(r: Round, deals: list[Deal]) -> list[Step]:
    """The dealer is served before the last players."""
    r.tell("hand:D", "D")
    pairs = _pairs(deals)
    pairs.insert(r.random.randrange(len(r.seats)), pairs.pop())
    return [*(d for pair in pairs for d in pair), *deals[-5:]]


@_reordered
def dealer_extra(r: Round, deals: list[Deal]) -> list[Step]:
    """The dealer gets three cards."""
    r.tell("hand:D", "D")
    return [*deals[:-5], replace(deals[-6], index=3), *deals[-5:]]


@_reordered
def dealer_face_up(r: Round, deals: list[Deal]) -> list[Step]:
    """A card of the dealer is dealt face up."""
    r.tell("hand:D", "D")
    i = len(deals) - r.random.choice((6, 7))
    return [*deals[:i], replace(deals[i], facing="up"), *deals[i + 1 :]]


@_reordered
def cross_order(r: Round, deals: list[Deal]) -> list[Step]:
    """Two cards of the cross are dealt in each other's place."""
    r.tell("hand:C", "C")
    cross = deals[-5:]
    i = r.random.randrange(4)
    cross[i], cross[i + 1] = cross[i + 1], cross[i]
    return [*deals[:-5], *cross]


@_reordered
def cross_extra(r: Round, deals: list[Deal]) -> list[Step]:
    """A sixth card is dealt to the cross."""
    r.tell("hand:C", "C")
    return [*deals, replace(deals[-1], index=6)]


@_reordered
def cross_face_up(r: Round, deals: list[Deal]) -> list[Step]:
    """A card of the cross is dealt face up."""
    r.tell("hand:C", "C")
    i = len(deals) - r.random.randint(1, 5)
    return [*deals[:i], replace(deals[i], facing="up"), *deals[i + 1 :]]


# --- (d), (e)1 the stub


@_reordered
def stub_early(r: Round, deals: list[Deal]) -> list[Step]:
    """The stub leaves the shoe before the cross is complete."""
    r.tell(f"deck:{r.deck}")
    i = len(deals) - r.random.randint(1, 4)
    return [*deals[:i], "stub", *deals[i:]]


@changed()
def stub_face_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The stub goes to the rack face up, uncounted."""
    _uncounted(r)
    yield from _shown(r, steps)


@changed()
def counted_stub_shown(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The stub is counted, and then goes to the rack face up."""
    r.count = True
    yield from _shown(r, steps)


def _shown(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    r.tell(f"deck:{r.deck}")
    for step in steps:
        yield step
        if isinstance(step, ClearStub):
            r.of("stub")[-1].fields["facing"] = "up"


@changed()
def counted_stub_kept(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The stub is counted, and not yet in the rack when the next round is dealt."""
    r.count, r.told = True, False
    deck = r.deck

    def told(following: Round, lawful: Iterator[Step]) -> Iterator[Step]:
        following.tell(f"deck:{deck}")
        return lawful

    for step in steps:
        yield step
        if isinstance(step, ClearStub):
            r.happenings.remove(r.of("stub")[-1])
    r.felt.again = told


@changed()
def stub_left_in(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The stub is still in the shoe when the first common card is turned."""
    _uncounted(r)
    r.tell(f"deck:{r.deck}")
    r.loyal |= set(r.seats[:1])
    late = r.random.random() < 0.5
    for step in steps:
        if isinstance(step, ClearStub):
            continue
        yield step
        if isinstance(step, Turn) and late:
            clear_stub(r)


# --- (e), (f) what is counted


@changed()
def counted_face_up(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The stub is counted with its faces up."""
    r.count = True
    r.tell("table")
    for step in steps:
        yield step
        if isinstance(step, ClearStub):
            r.of("count")[-1].fields["facing"] = "up"


@changed()
def stub_uncounted(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The deck is shuffled by hand, and the stub is not counted, for five rounds."""
    r.method = "hand"
    r.tell("table")
    yield from _five(r, steps, stub_uncounted)


@changed()
def count_not_received(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """For five rounds no count comes from the counting shuffler, and the stub is not counted."""
    r.method = "device"
    r.kind = "undetermined"
    r.tell(f"deck:{r.deck}")
    for step in _five(r, steps, count_not_received):
        if step == "shuffle":
            shuffle(r, None)
        else:
            yield step


def _five(r: Round, steps: Iterator[Step], change: Change) -> Iterator[Step]:
    """Leave the stub uncounted, as long as it takes to make five in a row."""
    felt = r.felt
    row, mine = felt.uncounted + 1, felt.uncounted_of.get(r.deck, 0) + 1
    r.count = row < _ROUNDS <= mine  # one deck's turn comes before the table's
    r.told = row == _ROUNDS
    felt.again = None if r.told else change
    yield from steps


@changed("breached", "remedied")
def counted_misdeal(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """A hand has a card too many, and the count of the stub tells it."""
    r.count = True
    seat = a_seat(r)
    r.tell("round", seat)

    def extra(deals: list[Deal]) -> list[Step]:
        i = next(i for i, d in enumerate(deals) if d.position == seat)
        return [*deals[: i + 2], replace(deals[i], index=3), *deals[i + 2 :]]

    for step in rearranged(steps, extra):
        yield step
        if isinstance(step, ClearStub) and r.form == "remedied":
            dealer.end_round(r, r.random.choice(("all_void", "misdeal")))


@changed("breached", "remedied")
def counted_short_deck(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The count of the stub tells that the deck is a card short."""
    r.count, r.missing, r.method = True, 1, "hand"
    on = r.form == "breached" and r.random.random() < 0.5  # the round is played
    for step in steps:
        yield step
        if isinstance(step, ClearStub) and not on:
            dealer.end_round(r, "all_void")
    if r.form == "remedied" or on:
        take_off(r)


def take_off(r: Round) -> None:
    """The deck leaves the table, and another comes in for it."""
    r.add("shoe", ev.DeckRemoved, "off", r.pause(800, 1500), deck=r.deck)
    decks = r.felt.decks
    decks[decks.index(r.deck)] = next(r.felt.spare)


@changed("breached", "remedied")
def short_deck(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The shuffler counts 51 cards in a deck."""
    r.method = "device"
    r.tell(f"deck:{r.deck}")
    if r.form == "breached":
        r.missing = 1
    for step in steps:
        if step == "shuffle":
            shuffle(r, _COUNTED - 1)
            if r.form == "remedied":
                take_off(r)
                r.deck = r.felt.decks[-1]
                shuffle(r)
        else:
            yield step
    if r.form == "breached":
        take_off(r)
