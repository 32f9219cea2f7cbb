"""Winner's Pot Poker, NJAC 13:69F-33.12: what counts as an irregularity in the deal, and what is then due.

Only this section is at hand. The order of the deal is the operator's: see `deal`.
"""

from collections.abc import Mapping
from typing import Final

from stream.rulebook.duties import Duty
from stream.rulebook.nj_winners_pot_33 import boxed, button, counts, dead, drawn, exposed, machines
from stream.rulebook.nj_winners_pot_33.deal import CLOSES, DEAL_RESTS_ON, advice, had_wager, procedure, terms, variants
from stream.rulebook.nj_winners_pot_33.departures import reading
from stream.rulebook.nj_winners_pot_33.registry import checks, duties

__all__ = [
    "ATOMS",
    "CHECKS",
    "CLOSES",
    "DEAL_RESTS_ON",
    "DUTIES",
    "advice",
    "had_wager",
    "procedure",
    "reading",
    "terms",
    "variants",
]

# Each binds its checks and duties as it is imported.
JUDGED: Final = (exposed, dead, boxed, drawn, counts, button, machines)

ATOMS: Final = checks.atoms
CHECKS: Final = checks.at
DUTIES: Final[Mapping[str, Duty]] = duties.of_atom
