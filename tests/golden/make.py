"""Writes the golden files anew: a shift of telemetry for each rule set, and the verdicts it must give for ever.

Run from the root of the checkout: `python tests/golden/make.py`. Telemetry that is there already is kept, for it is
history; `--telemetry` deals it anew. A verdict file that changes needs a line in the changelog: rule set, in force
from, which verdicts change.
"""

import sys
from pathlib import Path
from typing import Final

import zstandard

from stream.deal import verdicts
from stream.deal.wire import Reader, Refusal, encode
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports

HERE: Final = Path(__file__).parent
ROUNDS: Final = 40
SEEDS: Final = {"nj-double-down-stud-17": 17, "nj-winners-pot-33": 33, "nj-double-cross-25": 25, "nsw-let-it-ride": 12}
WRONG: Final = 10  # things done wrong, from all over the list


def telemetry(rules: str) -> bytes:
    """Forty rounds, something wrong in every fourth, on a line that delays, repeats and reorders."""
    ways = injections(load(rules), "all")
    order = Order(
        rules,
        ROUNDS,
        seats=4,
        seed=SEEDS[rules],
        inject=tuple(ways[n * (len(ways) - 2) // WRONG + n % 3] for n in range(WRONG)),
        every=ROUNDS // WRONG,
        faults=(("duplicate", 0.1), ("late", 0.1)),
        jitter_ms=1500,
    )
    return b"".join(encode(event) + b"\n" for (_, event), _ in reports(order))


def judged(log: bytes) -> bytes:
    """The bodies in force after a log, one a line, by `at` and `id`."""
    reader, tables = Reader(), dict[str, Table]()
    for line in log.splitlines():
        event = reader.read(line)
        assert not isinstance(event, Refusal), event
        tables.setdefault(event.table, Table(event.table)).hear(event)
    for table in tables.values():
        table.settle()
    found = verdicts.in_order([v for t in tables.values() for v in (*t.left, *t.in_force())])
    return b"".join(verdicts.body(v) + b"\n" for v in found)


def read(rules: str) -> bytes:
    """The telemetry of a golden shift."""
    return zstandard.decompress((HERE / f"{rules}.jsonl.zst").read_bytes())


def _main() -> None:
    for rules in SEEDS:
        log = HERE / f"{rules}.jsonl.zst"
        if "--telemetry" in sys.argv or not log.exists():
            log.write_bytes(zstandard.compress(telemetry(rules), 19))
        (HERE / f"{rules}.verdicts.jsonl").write_bytes(judged(read(rules)))
        print(f"{rules}: written")


if __name__ == "__main__":
    _main()
