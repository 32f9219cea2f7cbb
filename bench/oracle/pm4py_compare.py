"""Compares costs with the alignments of pm4py (AGPL, so in an environment of its own, never a dependency).

`python pm4py_compare.py FILE` reads what `bench.oracle.cases` wrote. A plan becomes a Petri net: a chain of steps, or
where the order is free a net in which all steps of the street can come at any time. Skips and extras cost one each, and
pm4py's optimum must be the engine's cost. It prints how many of the cases agree, and those that do not.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from pm4py.algo.conformance.alignments.petri_net.variants import (  # type: ignore[import-not-found]  # not installed here
    state_equation_a_star,
)
from pm4py.objects.log.obj import Event, Trace  # type: ignore[import-not-found]  # same
from pm4py.objects.petri_net.obj import Marking, PetriNet  # type: ignore[import-not-found]  # same
from pm4py.objects.petri_net.utils.petri_utils import add_arc_from_to  # type: ignore[import-not-found]  # same

SHOWN = 10


def chain(plan: list[str]) -> tuple[Any, Any, Any]:
    """One step after the other."""
    net = PetriNet("plan")
    places = [PetriNet.Place(f"p{n}") for n in range(len(plan) + 1)]
    net.places.update(places)
    for n, label in enumerate(plan):
        step = PetriNet.Transition(f"t{n}", label)
        net.transitions.add(step)
        add_arc_from_to(places[n], step, net)
        add_arc_from_to(step, places[n + 1], net)
    return net, Marking({places[0]: 1}), Marking({places[-1]: 1})


def anyhow(plan: list[str]) -> tuple[Any, Any, Any]:
    """All steps at any time: as many tokens as there are cards due at a position."""
    net = PetriNet("plan")
    begin, end = Marking(), Marking()
    for label in sorted(set(plan)):
        due, done = PetriNet.Place(f"due {label}"), PetriNet.Place(f"done {label}")
        step = PetriNet.Transition(f"deal {label}", label)
        net.places.update((due, done))
        net.transitions.add(step)
        add_arc_from_to(due, step, net)
        add_arc_from_to(step, done, net)
        begin[due] = end[done] = plan.count(label)
    return net, begin, end


def cost(case: dict[str, Any]) -> int:
    """What pm4py finds to be the least number of skips and extras."""
    net, begin, end = (anyhow if case["free"] else chain)(case["plan"])
    trace = Trace(Event({"concept:name": word}) for word in case["acts"])
    names = state_equation_a_star.Parameters
    parameters = {
        names.PARAM_MODEL_COST_FUNCTION: dict.fromkeys(net.transitions, 1),
        names.PARAM_SYNC_COST_FUNCTION: dict.fromkeys(net.transitions, 0),
        names.PARAM_TRACE_COST_FUNCTION: [1] * len(trace),
    }
    found = state_equation_a_star.apply(trace, net, begin, end, parameters)
    return sum(1 for pair in found["alignment"] if ">>" in pair)


def main() -> int:
    """Compare and print; the exit code tells whether anything differs."""
    cases = json.loads(Path(sys.argv[1]).read_text())
    begun = time.monotonic()
    differ = []
    by_rules: dict[str, list[int]] = {}
    for case in cases:
        counts = by_rules.setdefault(case["rules"], [0, 0])
        counts[1] += 1
        theirs = cost(case)
        if theirs == case["cost"]:
            counts[0] += 1
        else:
            differ.append((case, theirs))
    for rules, (same, all_) in sorted(by_rules.items()):
        print(f"{rules}: {same} of {all_} have the same cost")
    print(f"{len(cases) - len(differ)} of {len(cases)} in {time.monotonic() - begun:.0f} s")
    for case, theirs in differ[:SHOWN]:
        print(f"  {case['rules']}: engine {case['cost']}, pm4py {theirs}")
        print(f"    plan {' '.join(case['plan'])}")
        print(f"    acts {' '.join(case['acts'])}")
    return int(bool(differ))


if __name__ == "__main__":
    raise SystemExit(main())
