"""What a dealer or a player can do wrong, by name: each changes a lawful round so that one atom is broken.

The names stand in the rule sets' data (`inject`). A mutation that needs a deal from the shoe or from the hand says
so; the round is dealt that way.
"""

from stream.simulate.mutations import (
    double_cross,
    double_down_stud,
    let_it_ride,
    let_it_ride_players,
    winners_pot,
    winners_pot_machines,
)
from stream.simulate.mutations.registry import MUTATIONS

__all__ = [
    "MUTATIONS",
    "double_cross",
    "double_down_stud",
    "let_it_ride",
    "let_it_ride_players",
    "winners_pot",
    "winners_pot_machines",
]
