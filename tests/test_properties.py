"""What holds of every log: however events are mixed, doubled, delayed or cut, the same verdicts are in force."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache
from random import Random
from typing import Any

import pytest
from generated import BEGIN, GAMES, SMALL, TABLE, events
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from story import FOLDER, stories

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, body, in_order
from stream.deal.wire import from_micros
from stream.replay import snapshot
from stream.replay.fold import Fold
from stream.replay.judge import judge
from stream.replay.order import cut, ordered
from stream.replay.segment import Segment
from stream.replay.table import Table
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, injections, reports

RULES = "nj-double-down-stud-17"  # the ways of going wrong of the other games: test_simulate.py
EVERYTHING = injections(load(RULES), "all")
STORIES = [s for path in sorted(FOLDER.glob("*.txt")) for s in stories(path)]
SEEDS = st.integers(0, 15)
RANDOM = st.integers(0, 2**32).map(Random)

Log = list[ev.AnyEvent]


@cache
def shift(seed: int, rounds: int = 10, every: int = 3) -> tuple[ev.AnyEvent, ...]:
    """A table's log in order of happening; in every so manyth round something is done wrong. The seed says the game."""
    rules = GAMES[seed % len(GAMES)]
    known = injections(load(rules), "all")
    wrong = Random(seed).sample(known, len(known))
    order = Order(rules, rounds, seed=seed, inject=tuple(wrong), every=every)
    return tuple(event for (_, event), _ in reports(order))


def heard(log: Sequence[ev.AnyEvent]) -> Table:
    """A table that has heard a log and settled once."""
    table = Table(log[0].table)
    for event in log:
        table.hear(event)
    table.settle()
    return table


def said(table: Table) -> list[bytes]:
    """The bodies in force, and those of rounds that have left the kept history."""
    return [body(v) for v in in_order([*table.left, *table.in_force()])]


def stored(table: Table) -> Table:
    """A settled table written down and read back, with every round judged again."""
    again = snapshot.read(snapshot.head(table), {name: segment.record() for name, segment in table.closed()})
    again.left = table.left
    again.recall({s.name for s in again.segments})
    again.settle()
    return again


# --- total


@given(log=st.lists(events(SMALL), max_size=40), random=RANDOM)
def test_nothing_raises(log: Log, random: Random) -> None:
    """Any events in any order are heard and settled without an exception."""
    table = Table(TABLE)
    for event in log:
        table.hear(event)
        if random.random() < 0.3:
            table.settle()
            table.cool()
    table.settle()
    assert len({v.id for v in table.in_force()}) == len(list(table.in_force()))


@given(seed=SEEDS, random=RANDOM)
def test_mutilated_rounds_raise_nothing(seed: int, random: Random) -> None:
    """A lawful log whose events have exchanged their identities and times is judged without an exception."""
    log = list(shift(seed, 4))
    for _ in range(random.randint(1, 12)):
        i, j = random.randrange(len(log)), random.randrange(len(log))
        a, b = log[i], log[j]
        changes: list[dict[str, Any]] = [{"seq": b.seq}, {"device": b.device}, {"at": b.at}, {"boot": 1}]
        log[i] = replace(a, **random.choice(changes))
        if random.random() < 0.3:
            del log[j]
    assert said(heard(log)) is not None


# --- functions of the set


def _any_order(log: Log, random: Random) -> Log:
    return random.sample(log, len(log))


def _doubled(log: Log, random: Random) -> Log:
    return _a_little_late([*log, *log], random)


def _a_little_late(log: Log, random: Random) -> Log:
    delayed = sorted((event.at + timedelta(seconds=random.uniform(0, 40)), n) for n, event in enumerate(log))
    return [log[n] for _, n in delayed]


def _some_far_late(log: Log, random: Random) -> Log:
    late = {random.randrange(len(log)) for _ in range(8)}
    return [e for n, e in enumerate(log) if n not in late] + [log[n] for n in sorted(late)]


@pytest.mark.parametrize("deliver", [_any_order, _doubled, _a_little_late, _some_far_late])
@given(seed=SEEDS, random=RANDOM)
def test_verdicts_are_a_function_of_the_set(deliver: Callable[[Log, Random], Log], seed: int, random: Random) -> None:
    """Rounds with faults in them give the same bodies, however their events arrive, doubled or settled between."""
    log = list(shift(seed, 5, 2))
    table = Table(log[0].table)
    often = random.choice([0, 0.01, 0.05])
    for event in deliver(log, random):
        table.hear(event)
        if random.random() < often:
            table.settle()
    table.settle()
    assert said(table) == said(heard(log))


@given(seed=SEEDS, random=RANDOM)
def test_cuts_change_nothing(seed: int, random: Random) -> None:
    """A table written down and read back anywhere, or kept cold, says in the end what it would have said."""
    log = list(shift(seed))
    cuts = {random.randrange(len(log)) for _ in range(random.randint(1, 4))}
    table = Table(log[0].table)
    for n, event in enumerate(log):
        table.hear(event)
        if random.random() < 0.02:
            table.settle()
            table.cool()
        if n in cuts:
            table.settle()
            table = stored(table)
    table.settle()
    assert said(stored(table)) == said(heard(log))


@given(seeds=st.lists(SEEDS, min_size=2, max_size=3, unique=True), random=RANDOM)
def test_tables_do_not_meet(seeds: list[int], random: Random) -> None:
    """Tables of one property, interleaved in one log, say what each says alone."""
    logs = {f"T{s}": [replace(e, table=f"T{s}") for e in shift(s, 4, 2)] for s in seeds}
    names = [name for name, log in logs.items() for _ in log]
    random.shuffle(names)
    waiting = {name: iter(log) for name, log in logs.items()}
    tables = {name: Table(name) for name in logs}
    for name in names:
        tables[name].hear(next(waiting[name]))
    for name, table in tables.items():
        table.settle()
        assert said(table) == said(heard(logs[name]))


# --- the fast path


def _disputed(log: Sequence[ev.AnyEvent]) -> Iterator[tuple[int, list[Verdict]]]:
    """Prefixes of the rounds of a log that the fold follows without a doubt and the judge objects to."""
    carry = Segment([]).carry or Table("").base
    opened: Heard | None = None
    pool = [Heard(0, e.device, e.boot, e.seq, _us(e), e) for e in log]
    for piece in cut(ordered(pool, carry)):
        if opened is None:
            opened = next((h for h in piece if isinstance(h.event, ev.TableOpened)), None)
        config = opened.event if opened else None
        fold = Fold(carry, config if isinstance(config, ev.TableOpened) else None)
        for n, h in enumerate(piece, 1):
            fold.step(h)
            if fold.clean and not fold.watch.found:
                found = judge(h.event.table, carry, opened, piece[:n]).verdicts
                if found:
                    yield n, found
        carry = fold.carry()
        opened = carry.opened or opened


def _us(event: ev.AnyEvent) -> int:
    return (event.at - BEGIN) // timedelta(microseconds=1)


@pytest.mark.parametrize("story", STORIES, ids=[s.place for s in STORIES])
def test_fold_and_judge_agree_on_stories(story: object) -> None:
    """At every prefix of every story: where the fold is without a doubt, the judge has nothing to say."""
    assert list(_disputed(story.events())) == []  # type: ignore[attr-defined]  # a Story


@given(seed=st.integers(0, 40))
def test_fold_and_judge_agree_on_shifts(seed: int) -> None:
    """At every prefix of a shift with faults in it, the fold overlooks nothing that the judge would tell."""
    assert list(_disputed(shift(seed, 3, 1))) == []


# --- what is lawful and what is not


@given(rules=st.sampled_from(GAMES), seed=st.integers(0, 10_000), seats=st.integers(1, 9))
def test_lawful_tables_make_no_verdict(rules: str, seed: int, seats: int) -> None:
    """A dealer who deals by the procedure is never accused, and the devices of a whole log are not either."""
    log = [e for (_, e), _ in reports(Order(rules, 4, seats=seats, seed=seed))]
    assert said(heard(log)) == []


@pytest.mark.parametrize(("atom", "form"), EVERYTHING)
@given(seed=st.integers(0, 10_000))
def test_each_fault_makes_one_verdict(atom: str, form: str, seed: int) -> None:
    """One thing done wrong is one verdict, of its own atom, in its own round, and none is told before it happened."""
    told = list(reports(Order(RULES, 3, seed=seed, inject=((atom, form),), every=3)))
    truth = next(t for _, t in told if t is not None)
    log = [e for (_, e), _ in told]
    lawful = [e for (_, e), _ in reports(Order(RULES, 2, seed=seed, inject=((atom, form),), every=3))]
    table = Table(log[0].table)
    early: list[tuple[int, Verdict]] = []
    for n, event in enumerate(log):
        table.hear(event)
        table.settle()
        early = early or [(n, v) for v in table.in_force()]
    found = [v for v in table.in_force() if v.root is None]
    assert [(v.atom, v.round) for v in found] == [(atom, truth.round)]
    first, verdict = early[0]
    assert first >= len(lawful)
    assert from_micros_of(log[first]) >= verdict.at


def from_micros_of(event: ev.AnyEvent) -> str:
    """When an event happened, as a verdict writes it."""
    return from_micros(_us(event) + (BEGIN - _EPOCH) // timedelta(microseconds=1))


_EPOCH = BEGIN.replace(year=1970, month=1, day=1, hour=0)


# --- late events


@given(seed=SEEDS, random=RANDOM)
def test_a_late_event_finds_its_place(seed: int, random: Random) -> None:
    """An event that comes rounds later gives the bodies that it would have given in its time."""
    log = list(shift(seed))
    n = random.randrange(1, len(log) // 2)
    table = heard([*log[:n], *log[n + 1 :]])
    table.hear(log[n])
    table.settle()
    assert said(table) == said(heard(log))


@given(seed=SEEDS, random=RANDOM)
def test_beyond_the_kept_history_nothing_changes(seed: int, random: Random) -> None:
    """An event of a round that has left the kept history changes nothing that was said, and is counted."""
    first, *rest = shift(seed)
    assert isinstance(first, ev.TableOpened)
    log = [replace(first, options={"rounds_kept": 2}), *rest]
    second = next(n for n, e in enumerate(log) if isinstance(e, ev.RoundOpened) and e.round.endswith("-3"))
    n = random.randrange(1, second)
    table = heard([*log[:n], *log[n + 1 :]])
    before, counted = said(table), table.counts.too_late
    table.hear(log[n])
    table.settle()
    told = [v for v in in_order([*table.left, *table.in_force()]) if v.atom != "event_too_late"]
    assert [body(v) for v in told] == before
    assert table.counts.too_late == counted + 1
