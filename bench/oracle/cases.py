"""Writes plans and acts of the real rule sets, with what the engine says they cost, for another aligner to read.

`python -m bench.oracle.cases FILE` takes each rule set's plan for some seats, leaves out and puts in some cards at
random, and explains the result with skips and extras alone (every other edit is priced out of reach). The file has no
more than words: `plan` and `acts` are lists of where cards lie and which way up.
"""

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any, Final

from stream.replay.align import Weights, explain
from stream.rulebook.paragraphs import ids, load

from .nodes import Done, deal, heard, lawful

ONE: Final = 10  # what a skip and an extra cost in every rule set
AWAY: Final = 1_000_000  # more than any sum of them
EDITS: Final = (
    "wrong_face", "exchanged", "swapped", "moved", "variant", "lost", "unplaced", "close_unseen", "close_unsure",
    "close_early",
)  # fmt: skip
FAR: Final = 2_000_000  # nodes
MOST: Final = 4  # cards left out or put in


def word(done: Done, *, facing: bool) -> str:
    """An act in a word: where, and which way up where the plan asks for it."""
    return f"{done.position}:{done.facing}" if facing and done.facing else str(done.position)


def case(rules: str, random: Random) -> dict[str, Any]:
    """One plan, one deal, and the engine's cost in departures."""
    law = load(rules)
    plan, _ = deal(law, random.randint(1, 5))
    plan = tuple(step for step in plan if step.position != "gate")  # skips and extras are of cards and burns
    right = lawful(plan)
    acts = list(right)
    for _ in range(random.randint(0, MOST)):
        if random.random() < 0.5 and acts:
            del acts[random.randrange(len(acts))]
        else:
            acts.insert(random.randint(0, len(acts)), random.choice(right))
    costs = dict.fromkeys(EDITS, AWAY) | {"skipped": ONE, "extra": ONE}
    weights = Weights(costs, lambda _: "part", FAR)
    found = explain(plan, (), heard(acts), weights, lambda _a, _b: False, closed=True)
    exact = {s.position for s in plan if s.exact}
    faces = {s.position for s in plan if not s.any_face}

    def said(done: Done) -> str:
        index = f".{done.nth}" if done.position in exact else ""
        return word(done, facing=done.position in faces) + index

    return {
        "rules": rules,
        "free": any(step.free for step in plan),
        "plan": [said(d) for d in right],
        "acts": [said(d) for d in acts],
        "cost": None if found is None else found.cost // ONE,
    }


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", type=int, default=250, help="cases a rule set")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random = Random(asked.seed)
    cases = [case(rules, random) for rules in ids() for _ in range(asked.cases)]
    asked.file.write_text(json.dumps(cases) + "\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
