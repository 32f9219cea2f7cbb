"""Let It Ride, New South Wales Casino Control Authority, rule 12: irregularities."""

from collections.abc import Mapping
from typing import Final

from stream.rulebook.duties import Duty
from stream.rulebook.nsw_let_it_ride import absence, community, directions, exposed, hands, misdeals, wagers
from stream.rulebook.nsw_let_it_ride.deal import CLOSES, DEAL_RESTS_ON, advice, had_wager, procedure, terms, variants
from stream.rulebook.nsw_let_it_ride.departures import reading
from stream.rulebook.nsw_let_it_ride.registry import checks, duties

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
JUDGED: Final = (misdeals, exposed, community, hands, wagers, directions, absence)

ATOMS: Final = checks.atoms
CHECKS: Final = checks.at
DUTIES: Final[Mapping[str, Duty]] = duties.of_atom
