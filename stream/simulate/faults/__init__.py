"""What devices do wrong, by the ids of the error modes, with their rates.

A fault changes the reports of a round, never what happened at the table; but for those with `own`, which are facts
of the machine and may have a verdict of their own. Everything that is done is told (`Slip`).
"""

from typing import Final

from stream.simulate.faults import clocks, line, machines, reads
from stream.simulate.faults.report import Fault, Report, Slip

__all__ = ["FAULTS", "Fault", "Report", "Slip"]

FAULTS: Final[dict[str, Fault]] = {
    "misread": Fault(1e-4, "card", reads.seen_cards, reads.misread),
    "no_read": Fault(5e-4, "card", reads.seen_cards, reads.no_read),
    "double_feed": Fault(1e-4, "card", reads.fed_cards, reads.double_feed),
    "returned": Fault(1e-4, "card", reads.drawn_cards, reads.returned),
    "duplicate": Fault(1e-3, "report", line.any_report, line.duplicate),
    "late": Fault(1e-2, "report", line.any_report, line.late),
    "drop": Fault(1e-4, "report", line.any_report, line.drop),
    "reboot": Fault(1e-3, "round", line.once, line.reboot),
    "sense_dead": Fault(1e-3, "round", line.once, line.sense_dead),
    "correction": Fault(1e-3, "round", line.once, line.correction),
    "skew": Fault(1e-2, "round", line.once, clocks.skew),
    "skew_untold": Fault(1e-3, "round", line.once, clocks.skew_untold),
    "miscount": Fault(1e-3, "shuffle", deals=machines.miscount, own=machines.MISCOUNTED),
    "boxed": Fault(1e-3, "round", deals=machines.boxed, own=machines.BOXED),
    "never_started": Fault(1e-3, "shuffle", deals=machines.never_started, own=machines.UNSHUFFLED),
}
"""Each mode by its id. Rates are planning numbers, of cards, of reports, of rounds or of shuffles."""
