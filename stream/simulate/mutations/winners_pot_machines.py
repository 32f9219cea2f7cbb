"""What can go wrong at Winner's Pot Poker with the button, the shuffler and the automated shoe."""

from collections.abc import Iterator

from stream.deal import events as ev
from stream.rulebook.noting import successor
from stream.rulebook.steps import Burn, Deal
from stream.simulate import dealer
from stream.simulate.chores import install, shuffle
from stream.simulate.mutations.registry import changed
from stream.simulate.mutations.steps import nth
from stream.simulate.mutations.winners_pot import end, half_ended
from stream.simulate.round import AUTO_SHOE, SHUFFLER, Round, Step

# --- (g) the button


@changed("breached", "remedied", "over")
def button_stays(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The button is not moved on, and the round is dealt as if it had been; in the next it is moved, or not."""
    felt = r.felt
    when = r.random.randint(1, 2 * len(r.seats) + 2)
    n = 0
    for step in steps:
        n += isinstance(step, Deal | Burn)
        if step == "button" and felt.turn is not None:
            felt.turn = successor(felt.turn, r.seats)
            continue
        yield step
        if n == when and r.form == "over":
            end(r)
            n += 1
    felt.keep = r.seats
    if r.form == "breached":
        felt.again = _stays_again


def _stays_again(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """It is not moved in the next round either, which goes on from where it stands."""
    r.told = False
    for step in steps:
        if step == "button":
            r.felt.turn = r.felt.button
        else:
            yield step


# --- (i), (j), (k) machines


@changed("breached", "remedied")
def shuffler_jam(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The shuffler jams or stops; the deck is shuffled anew, or dealt as it is."""
    r.tell(f"deck:{r.deck}")
    r.method = "device"
    for step in steps:
        if step == "shuffle":
            kind = r.random.choice((ev.ShuffleJammed, ev.ShuffleStopped, ev.ShuffleAborted))
            r.add("shuffler", ev.ShuffleStarted, "shuffle", 500, deck=r.deck, mode="shuffle", method="device")
            r.add("shuffler", kind, "jam", r.pause(5000, 15_000), deck=r.deck)
            if r.form == "remedied":
                shuffle(r)
        else:
            yield step


@changed()
def shuffle_unended(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The shuffler is started, and the deck is taken out, loaded and dealt before it is done."""
    r.tell(f"deck:{r.deck}")
    r.method = "device"
    for step in steps:
        yield step
        if step == "shuffle":
            r.happenings.remove(r.of("shuffled")[0])


@changed()
def only_sorted(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The shuffler only puts the deck in order, and it is dealt."""
    r.tell(f"deck:{r.deck}")
    r.method = "device"
    for step in steps:
        yield step
        if step == "shuffle":
            r.of("shuffle")[-1].fields["mode"] = "sort"


@changed("breached", "remedied", needs="auto_shoe")
def auto_shoe_jam(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The automated dealing shoe jams or stops in the deal; the round is void, or goes on."""

    def jam(step: Step) -> Iterator[Step]:
        kind = r.random.choice((ev.ShoeJammed, ev.ShoeStopped))
        r.add("shoe", kind, "jam", r.pause(500, 900), source="auto_shoe")
        if r.form == "remedied":
            dealer.end_round(r, "round_void")
        elif not half_ended(r, "round_void"):
            r.add("shoe", ev.ShoeCleared, "jam", r.pause(5000, 9000), source="auto_shoe")
            yield step

    yield from nth(steps, r.random.randint(2, 2 * len(r.seats) + 5), (Deal, Burn), jam)


@changed()
def shuffled_beside_shuffler(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The deck is shuffled by hand while the shuffler stands on the table."""
    r.tell(f"device:{SHUFFLER}")
    for step in steps:
        if step == "shuffle":
            if "shuffler" not in r.felt.machines:
                install(r, "shuffler", SHUFFLER)
            r.method = "hand"
        yield step


@changed(needs="shoe")
def dealt_beside_auto_shoe(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
    """The cards come from the manual shoe while the automated one stands on the table."""
    r.tell(f"device:{AUTO_SHOE}")
    for step in steps:
        yield step
        if step == "machines":
            install(r, "auto_shoe", AUTO_SHOE)
