"""What shufflers do wrong with a deck. These are facts at the table, so there may be verdicts on them."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from stream.simulate.chores import shuffle
from stream.simulate.faults.report import Told
from stream.simulate.mutations.winners_pot import boxed_card
from stream.simulate.round import Change, Round, Step

After = Callable[[Round], Told | None]

MISCOUNTED: Final = ("25.7(f)-bad", "25.7(f)-ex", "25.7(e)2-m", "25.7(e)2-d", "deck_integrity")
BOXED: Final = ("33.12(b)-1", "12.5", "12.3", "12.6-a")
UNSHUFFLED: Final = ("17.8(a)1-order", "17.8(a)2.ii", "25.7(a)-2", "33.12(i)", "deck_integrity")


def miscount(r: Round, random: Random) -> tuple[Change, After] | None:
    """The shuffler says 51 or 53 of a whole deck, or 52 of one that lacks a card."""
    if r.method != "device" or not r.felt.house.counting or r.felt.unshuffled == r.deck:
        return None
    count = random.choice((51, 52, 53))

    def change(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
        r.missing = int(count == 52)
        for step in steps:
            if step == "shuffle":
                shuffle(r, count)
            else:
                yield step

    return change, lambda r: (_shuffler(r), f"counted {count} of {52 - (count == 52)}")


def boxed(r: Round, random: Random) -> tuple[Change, After] | None:
    """The shuffler leaves a card face up; the dealer does what the rule says of it, or deals it where it is due."""
    if r.rules == "nj-winners-pot-33":
        return boxed_card, _face_up

    def change(r: Round, steps: Iterator[Step]) -> Iterator[Step]:
        yield from steps
        random.choice(r.of("draw")).fields["face_up"] = True

    return change, _face_up


def _face_up(r: Round) -> Told | None:
    """Told only where the card came to light."""
    return (_shuffler(r), "left a card face up") if any("face_up" in h.fields for h in r.of("draw")) else None


def never_started(r: Round, _random: Random) -> tuple[Change, After] | None:
    """The cycle is not started, and the deck is dealt as it is."""
    if r.method != "device" or r.felt.unshuffled == r.deck:
        return None

    def change(_r: Round, steps: Iterator[Step]) -> Iterator[Step]:
        return (step for step in steps if step != "shuffle")

    return change, lambda r: (_shuffler(r), "did not start its cycle")


def _shuffler(r: Round) -> str:
    return f"{r.felt.table}-shuffler"
