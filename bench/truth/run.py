"""The tables to deal, and the counts by game, mode and kind of rounds."""

import gc
from collections import Counter
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool
from typing import Final, NamedTuple

from stream.rulebook.paragraphs import load
from stream.simulate.faults import FAULTS
from stream.simulate.tables import Order, injections

from .tally import Tally, lawful, wrong
from .watch import watch

MIX: Final = "mix"
LYING: Final = "skew_untold"  # not in the mix: a clock that errs by more than it says breaks the contract
LAWFUL: Final = ("lawful, usual rates", "lawful, ten times")
ALONE: Final = "lawful, one error"
WRONG: Final = "one irregularity and one error"
KINDS: Final = (*LAWFUL, ALONE, WRONG)
_TABLE: Final = 50  # rounds of one table
_EVERY: Final = 4
_AFTER: Final = 3


class Job(NamedTuple):
    """One table: what is counted, and what is dealt."""

    rules: str
    mode: str
    kind: str
    order: Order


def jobs(rules: str, mode: str, kind: str, rounds: int, seed: int) -> Iterator[Job]:
    """The tables for so many rounds of a game, a mode and a kind."""
    if kind == WRONG:
        every = injections(load(rules), "all")
        while rounds > 0:
            mine = min(_TABLE // _EVERY, rounds)
            start = (seed * (_TABLE // _EVERY) + 7 * list(FAULTS).index(mode)) % len(every)
            order = Order(
                rules, mine * _EVERY + _AFTER, seats=3 + seed % 5, seed=seed, inject=every[start:] + every[:start],
                every=_EVERY, after=_AFTER, mixed=True, beside=mode,
            )  # fmt: skip
            yield Job(rules, mode, kind, order)
            rounds, seed = rounds - mine, seed + 1
        return
    if kind == ALONE:
        while rounds > 0:
            mine = min(_TABLE // _EVERY, rounds)
            order = Order(
                rules, mine * _EVERY + _AFTER, seats=1 + seed % 9, seed=seed, every=_EVERY, mixed=True, beside=mode
            )
            yield Job(rules, mode, kind, order)
            rounds, seed = rounds - mine, seed + 1
        return
    times = 10 if kind == LAWFUL[1] else 1
    modes = [m for m in FAULTS if m != LYING] if mode == MIX else [mode]
    faults = tuple((m, FAULTS[m].rate * times) for m in modes)
    while rounds > 0:
        mine = min(_TABLE, rounds)
        yield Job(rules, mode, kind, Order(rules, mine, seats=1 + seed % 9, seed=seed, faults=faults, mixed=True))
        rounds, seed = rounds - mine, seed + 1


def one(job: Job, *, live: bool = True) -> tuple[Job, Tally]:
    """Deal a table and count; not `live`: only what is in force at its end, eight times as fast."""
    gc.set_threshold(100_000, 50, 100)
    o = job.order
    where = f"{o.rules} {job.mode} seed={o.seed} seats={o.seats}"
    try:
        w = watch(o, live=live)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        return job, Tally(n=Counter({"raised": 1}), shown=[f"{where}: the engine raised {error!r}"])
    if job.kind == WRONG:
        return job, wrong(w, o.rounds, job.mode, where)
    return job, lawful(w, o.rounds, where)


def counted(mode: str, kind: str) -> bool:
    """Whether a mode is counted in a kind of rounds: a fact at the table would be a second irregularity."""
    if mode == MIX:
        return kind in LAWFUL
    return kind != WRONG or not FAULTS[mode].own


def measure(
    rules: tuple[str, ...], modes: tuple[str, ...], kind: str, rounds: int, seed: int, processes: int, *, live: bool
) -> dict[tuple[str, str, str], Tally]:
    """The tallies of a kind of rounds, by game, mode and kind."""
    wanted = [j for r in rules for m in modes if counted(m, kind) for j in jobs(r, m, kind, rounds, seed)]
    out: dict[tuple[str, str, str], Tally] = {}
    with Pool(processes) as pool:
        for job, tally in pool.imap(partial(one, live=live), wanted):
            out.setdefault((job.rules, job.mode, job.kind), Tally()).add(tally)
    return out
