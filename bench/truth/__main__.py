"""`python -m bench.truth`: what is made of device errors, by game, mode and kind of rounds.

Four kinds: lawful rounds with a mode at its usual rate, and at ten times that; lawful rounds with exactly one error in
every fourth; rounds with exactly one irregularity and one error. `mix` is all modes at once. `--page` writes the
figures of docs/truth.md.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Final

from stream.rulebook.paragraphs import ids
from stream.simulate.faults import FAULTS

from .page import write
from .run import ALONE, KINDS, LAWFUL, MIX, WRONG, measure
from .tally import Tally

ROUNDS: Final = {LAWFUL[0]: 1.0, LAWFUL[1]: 1.0, ALONE: 0.25, WRONG: 0.25}  # of --rounds
_SHOWN: Final = 40


def _line(t: Tally) -> str:
    n = t.n
    causes = ", ".join(f"{k.partition(': ')[2]} {v}" for k, v in sorted(n.items()) if k.startswith("undetermined: "))
    spread = "/".join(str(x) for x in t.plain()["verdicts_per_error"]) or "-"
    return (
        f"{t.rounds:>6} {n['errors']:>6} {n['found']:>6} {n['missed'] + n['silent']:>6} {n['false']:>5}"
        f" {n['advisory']:>6} {n['undetermined']:>6} {n['undetermined_more_than_one']:>5}"
        f" {n['wrong seat']:>5} {n['wrong paragraph']:>5}"
        f" {n['wrong status']:>6} {n['published']:>5} {n['withdrawn']:>5} {n['withdrawn, none late']:>5}"
        f" {n['deciding report lost']:>5} {n['found of the rest']:>5} {spread:>12}  {causes}"
    )


_COLUMNS: Final = """back: published and taken back; fast: of these, where nothing was late or corrected
lost: the error took what decides; rest: found of the others"""


def _print(counts: dict[tuple[str, str, str], Tally], kinds: tuple[str, ...]) -> None:
    head = (
        f"{'':22}rounds errors  found silent false advis. undet.    >1  seat  para status publ.  back  fast  lost  rest"
        " min/mean/max  causes"
    )
    for kind in kinds:
        for rules in ids():
            rows = {mode: t for (r, mode, k), t in counts.items() if (r, k) == (rules, kind)}
            if rows:
                print(f"\n{rules}: {kind}\n{head}")
            for mode, t in rows.items():
                print(f"  {mode:20}{_line(t)}")
    blamed: Counter[str] = Counter()
    for (_, mode, _), t in counts.items():
        blamed.update({f"{mode}: {what}": n for what, n in t.by.items()})
    print(f"\n{_COLUMNS}\n\nwhat was said, by mode and atom")
    for what, n in blamed.most_common(_SHOWN):
        print(f"  {n:>6} {what}")
    for line in [line for t in counts.values() for line in t.shown[:2]][:_SHOWN]:
        print(f"  - {line}")
    for line in [line for t in counts.values() for line in t.twice[:2]][:_SHOWN]:
        print(f"  more than one: {line}")


def main() -> int:
    """Measure and print; 1 if the engine raised, or anybody was accused in a round in which nobody did wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.truth", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=40, help="rounds a game, mode and kind; a quarter have the error")
    parser.add_argument("--rules", action="append", choices=ids(), help="only this rule set (may be repeated)")
    parser.add_argument("--modes", action="append", choices=[*FAULTS, MIX], help="only this mode (may be repeated)")
    parser.add_argument("--kinds", action="append", choices=KINDS, help="only these rounds (may be repeated)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--at-end", action="store_true", help="judge each table once, at its end: what was published is not counted"
    )
    parser.add_argument("--json", type=Path, help="write the counts here")
    parser.add_argument("--page", action="store_true", help="write the figures of docs/truth.md and its picture")
    asked = parser.parse_args()
    begun = time.monotonic()
    kinds, counts = tuple(asked.kinds or KINDS), dict[tuple[str, str, str], Tally]()
    for kind in kinds:
        counts |= measure(
            tuple(asked.rules or ids()), tuple(asked.modes or (*FAULTS, MIX)), kind,
            max(1, round(asked.rounds * ROUNDS[kind])), asked.seed, asked.jobs, live=not asked.at_end,
        )  # fmt: skip
    _print(counts, kinds)
    print(f"\n{sum(t.rounds for t in counts.values())} rounds in {time.monotonic() - begun:.0f} s")
    plain = [{"rules": r, "mode": m, "kind": k, **t.plain()} for (r, m, k), t in counts.items()]
    if asked.json:
        asked.json.write_text(json.dumps(plain, indent=1) + "\n")
    if asked.page:
        write(counts, Path("docs"))
    return int(any(t.n["raised"] or (kind != WRONG and t.n["false"]) for (_, _, kind), t in counts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
