"""How tables of a game differ: options, where the cards come from, how many decks there are and who counts them."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from stream.deal.words import Method, Setting, Side, Source

_STREETS: Final = ("ddu bet * u bet * d bet", "ddu bet * u bet * u bet * d bet")
_AUTO_SHOE: Final[dict[str, Setting]] = {"auto_shoe": True}
_NO_BURN: Final = "ddu bet u bet d bet"


@dataclass(frozen=True)
class House:
    """What holds at a table from its opening on."""

    options: dict[str, Setting] = field(default_factory=dict)
    sources: tuple[Source, ...] = ("manual_shoe",)
    decks: int = 2
    side: Side = "left"
    methods: tuple[Method, ...] = ("device",)
    counting: bool = True  # the shuffler counts what it has shuffled
    machine: bool = False  # the shuffler is installed on the table
    lively: bool = True  # cards are put straight, dealers change, players look at their cards


def house(rules: str, random: Random, *, mixed: bool, lawful: bool) -> House:
    """One table's house, with its options mixed or as usual; `lawful`: nothing will be done wrong there."""
    decks = random.choice((1, 2))
    match rules:
        case "nj-double-down-stud-17":
            auto = mixed and lawful and random.random() < 0.3
            options = _AUTO_SHOE if auto else {}
            return House(options, ("auto_shoe", "manual_shoe") if auto else ("manual_shoe", "hand"), lively=False)
        case "nj-winners-pot-33":
            plans = (*_STREETS, _NO_BURN) if lawful else _STREETS
            starts: dict[str, Setting] = {"deal_start": random.choice(("button", "S1"))}
            options = starts | {"streets": random.choice(plans)} if mixed else {}
            every: tuple[Source, ...] = ("manual_shoe", "hand", "auto_shoe")
            sources = random.choice((every, every[:1], every[1:2]))
            machine = random.random() < 0.5
            methods: tuple[Method, ...] = ("device",) if machine else ("device", "hand")
            return House(options, sources, decks, methods=methods, machine=machine)
        case "nj-double-cross-25":
            side: Side = random.choice(("left", "right"))
            counting = not lawful or random.random() < 0.5
            return House(
                decks=decks, side=side, methods=("device", "hand") if counting else ("device",), counting=counting
            )
        case "nsw-let-it-ride":
            options = {"dealer_dispensed": random.choice((2, 3)), "packets": random.random() < 0.5} if mixed else {}
            return House(options, ("manual_shoe", "auto_shoe") if random.random() < 0.5 else ("manual_shoe",), decks)
        case _:
            return House()
