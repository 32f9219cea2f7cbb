"""Whose a departure from the deal is: before the first handling the round, after it the single hand."""

from stream.rulebook.facts import Facts
from stream.rulebook.findings import Reading
from stream.rulebook.nsw_let_it_ride.asked import first_handling
from stream.rulebook.steps import Departure


def reading(d: Departure, f: Facts) -> Reading | None:
    """How a departure counts: the order is free; after the first handling the single hand's rule looks at it."""
    if d.part in ("burn", "order") or d.edit in ("swapped", "moved"):
        return None
    if d.part == "dealer":
        return Reading(atom="12.2")
    hnd = first_handling(f)
    act = d.act.heard if d.act else None
    on = hnd is not None and any(p > hnd for p in f.placements)  # the deal went on when cards were handled
    if hnd is not None and act is not None and (act > hnd or (on and act == hnd)):
        return None
    return Reading(atom="12.1", interpretations=("I-NSW-17",))
