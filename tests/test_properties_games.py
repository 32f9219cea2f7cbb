"""What holds of every game: stories told in a row at one table, mixed, cut, spoilt; duties that outlive their round."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from random import Random
from typing import Any, Final

import msgspec
import pytest
from generated import GAMES, options
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from story import FOLDER, Story, stories
from test_properties import RANDOM, Log, heard, said, stored

from stream.deal import events as ev
from stream.deal.verdicts import Verdict, body
from stream.replay.carry import Interruption
from stream.replay.fold import Fold
from stream.replay.segment import LOOKAHEAD
from stream.replay.table import Table
from stream.rulebook.paragraphs import load
from stream.simulate.tables import Order, reports

STORIES: Final = {rules: list(stories(FOLDER / f"{rules}.txt")) for rules in GAMES}
LASTING: Final = [(rules, atom) for rules in GAMES for atom in load(rules).rules.lasting]
_READ: Final = msgspec.json.Decoder(Verdict).decode


@cache
def told(place: str) -> tuple[ev.AnyEvent, ...]:
    """The events of a story."""
    return tuple(next(s for ss in STORIES.values() for s in ss if s.place == place).events())  # type: ignore[arg-type]  # of the union


def in_a_row(told: Sequence[Story]) -> Log:
    """Stories one after the other at the table of the first, their rounds, draws and devices numbered through."""
    first, *rest = told
    deals = [*first.deals, *(line for s in rest for line in (f"- {s.given}", *s.deals))]
    return Story("", "", "", "", first.table, first.given, deals).events()  # type: ignore[return-value]  # of the union


def _same_table(all_of: Sequence[Story]) -> list[list[Story]]:
    """Stories by the table that they are told of; those of other options too few to be told in a row."""
    tables: dict[str, list[Story]] = {}
    for s in all_of:
        if not any("ack:@" in line for line in s.deals) and sum(line.count(" .") for line in s.deals) < 4:
            tables.setdefault(s.table, []).append(s)
    return [found for found in tables.values() if len(found) > 3]


ROWS: Final = [found for rules in GAMES for found in _same_table(STORIES[rules])]
LOGS: Final = (
    st.sampled_from(ROWS).flatmap(lambda s: st.lists(st.sampled_from(s), min_size=1, max_size=4)).map(in_a_row)
)
ONE: Final = st.sampled_from(ROWS).flatmap(st.sampled_from).map(lambda s: in_a_row([s]))
MANY: Final = (
    st.sampled_from(ROWS).flatmap(lambda s: st.lists(st.sampled_from(s), min_size=9, max_size=14)).map(in_a_row)
)


class Doubting(Table):
    """A table that believes no fold and judges every round as a whole."""

    def _is_plain(self, k: int, mine: tuple[Interruption, ...]) -> bool:
        fold = self.segments[k].fold
        if fold is not None:
            fold.clean = False
        return super()._is_plain(k, mine)


# --- the fast path


@given(log=LOGS, random=RANDOM)
def test_the_fast_path_says_what_the_meaning_says(log: Log, random: Random) -> None:
    """At any moment a table that believes its folds says what one says that judges every round as a whole."""
    fast, slow = Table(log[0].table), Doubting(log[0].table)
    often = random.choice([0.1, 1])
    for event in log:
        fast.hear(event)
        slow.hear(event)
        if random.random() < often:
            fast.settle()
            slow.settle()
            assert said(fast) == said(slow)


def test_a_doubting_table_judges_more() -> None:
    """The test above compares two ways: of a lawful round the one folds, the other judges."""
    place = next(s.place for s in STORIES[GAMES[0]] if s.shows == "near" and not s.expected())
    fast, slow = heard(list(told(place))), Doubting(told(place)[0].table)
    for event in told(place):
        slow.hear(event)
    slow.settle()
    folds = [s.fold for t in (fast, slow) for s in t.segments[1:] if s.fold is not None]
    assert {f.clean for f in folds if isinstance(f, Fold)} == {True, False}


# --- functions of the set


def _as_it_comes(log: Log, _random: Random) -> Log:
    return log


def _any_order(log: Log, random: Random) -> Log:
    return random.sample(log, len(log))


def _doubled(log: Log, random: Random) -> Log:
    return [e for event in log for e in [event] * random.randint(1, 2)] + random.sample(log, len(log) // 3)


def _late(log: Log, random: Random) -> Log:
    spread = random.choice([2, 20, 200])
    delayed = sorted((event.at + timedelta(seconds=random.uniform(0, spread)), n) for n, event in enumerate(log))
    return [log[n] for _, n in delayed]


@pytest.mark.parametrize("deliver", [_as_it_comes, _any_order, _doubled, _late])
@given(log=LOGS, random=RANDOM)
def test_stories_are_told_alike_however_they_arrive(
    deliver: Callable[[Log, Random], Log], log: Log, random: Random
) -> None:
    """Stories in a row give the same bodies in any order of arrival, doubled, settled or kept cold at any moment."""
    table = Table(log[0].table)
    often = random.choice([0, 0.05, 0.3])
    for event in deliver(log, random):
        table.hear(event)
        if random.random() < often:
            table.settle()
            table.cool()
    table.settle()
    assert said(table) == said(heard(log))


@given(log=LOGS)
def test_judged_at_every_event(log: Log) -> None:
    """A table that settles after each event says in the end what it says when it settles once, or once more."""
    table, once = Table(log[0].table), heard(log)
    for event in log:
        table.hear(event)
        table.settle()
    assert said(table) == said(once)
    once.settle()
    assert said(table) == said(once)


@given(log=MANY, random=RANDOM)
def test_portion_by_portion(log: Log, random: Random) -> None:
    """A table that never does more than a little at once says in the end what it says when it settles once."""
    table = Table(log[0].table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stream.replay.table.PORTION", random.choice([20, 200]))
        for event in _late(log, random):
            table.hear(event)
            if random.random() < 0.3:
                table.settle(portion=True)
            if random.random() < 0.1 and table.arrange(portion=True):
                table.cool()
        for _ in range(100 * len(log)):
            if table.settle(portion=True):
                break
    assert said(table) == said(heard(log))


def test_a_portion_leaves_something_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above compares two ways: with a small portion a row of stories takes several calls."""
    monkeypatch.setattr("stream.replay.table.PORTION", 200)
    log = in_a_row(ROWS[0][:9])
    table, calls = Table(log[0].table), 1
    for event in log:
        table.hear(event)
    while not table.settle(portion=True):
        calls += 1
    assert calls > 3
    assert said(table) == said(heard(log))


@given(rules=st.sampled_from(GAMES), seed=st.integers(0, 10_000))
@example("nj-winners-pot-33", 0)  # a button that was moved unseen, in a round that leaves
@example("nj-winners-pot-33", 10)
def test_a_round_says_the_same_when_those_before_it_have_left(rules: str, seed: int) -> None:
    """How much history is kept changes no verdict, so long as reports come in time: no hole in them is forgotten."""
    errs = (("drop", 0.003), ("sense_dead", 0.1), ("reboot", 0.1))
    log = [event for (_, event), _ in reports(Order(rules, 16, seats=5, seed=seed, faults=errs, mixed=True))]
    long, short = (_keeping(log, kept) for kept in (60, LOOKAHEAD))
    assert len(short.segments) < len(long.segments)
    assert _gist(short) == _gist(long)


def _gist(table: Table) -> list[tuple[str, ...]]:
    """What is said, without the digests: they cover the settings."""
    every = (*table.left, *table.in_force())
    return sorted((v.id, v.kind, v.atom, v.status, v.cause or "", v.observed, v.root or "") for v in every)


def _keeping(log: Log, kept: int) -> Table:
    """A table that has heard a log, judged now and then, and keeps so many rounds."""
    table = Table(log[0].table)
    for n, event in enumerate(log):
        keeps = isinstance(event, ev.TableOpened) and replace(event, options={**event.options, "rounds_kept": kept})
        table.hear(keeps or event)
        if n % 16 == 0:
            table.settle()
    table.settle()
    return table


@given(log=MANY, random=RANDOM)
def test_many_rounds_at_once(log: Log, random: Random) -> None:
    """A table that hears many rounds between two settlings, and a late event of an old one, loses no duty."""
    late = random.randrange(1, len(log))
    table = Table(log[0].table)
    for n, event in enumerate(log):
        if n != late:
            table.hear(event)
        if random.random() < 4 / len(log):
            table.settle()
            table.cool()
    table.settle()
    table.hear(log[late])
    table.settle()
    whole = heard(log)
    assert not whole.left
    assert said(table) == said(whole)


@given(logs=st.lists(LOGS, min_size=2, max_size=3), random=RANDOM)
def test_tables_of_different_games_do_not_meet(logs: list[Log], random: Random) -> None:
    """Tables whose devices bear the same names, interleaved in one log, say what each says alone."""
    own = {f"T{n}": [replace(e, table=f"T{n}") for e in log] for n, log in enumerate(logs)}
    names = [name for name, log in own.items() for _ in log]
    random.shuffle(names)
    tables = {name: Table(name) for name in own}
    waiting = {name: iter(log) for name, log in own.items()}
    for name in names:
        tables[name].hear(next(waiting[name]))
        if random.random() < 0.05:
            tables[name].settle()
    for name, table in tables.items():
        table.settle()
        assert said(table) == said(heard(own[name]))


# --- cut

_TELLING: Final = (ev.RoundOpened, ev.RoundClosed, ev.CardDrawn, ev.ShuffleCompleted, ev.ButtonMoved)


@given(log=LOGS, random=RANDOM)
def test_cut_anywhere(log: Log, random: Random) -> None:
    """A table written down and read back at any moment, warm or cold, says in the end what it would have said."""
    table = Table(log[0].table)
    often = random.choice([0.02, 0.1])
    for event in log:
        table.hear(event)
        if random.random() < often:
            table.settle()
            table.cool()
            table = stored(table)
    table.settle()
    assert said(table) == said(heard(log))


@pytest.mark.parametrize(("rules", "atom"), LASTING)
def test_a_duty_outlives_its_round_and_a_cut(rules: str, atom: str) -> None:
    """A duty open when its round is closed, frozen and read back is still done or not done by what comes later."""
    ended: set[str] = set()
    for story in STORIES[rules]:
        if not any(line.startswith(f"{atom} irregularity ") for line in story.expected()):
            continue
        log = told(story.place)
        want = said(heard(log))
        for n in [n for n, e in enumerate(log) if isinstance(e, ev.RoundOpened) and e.round != "r1"]:
            table = heard(log[: n + 1])
            for segment in table.segments[:-1]:
                segment.freeze()
            table = stored(table)
            due = {v.id for s in table.segments[:-1] for v in (s.verdicts or {}).values() if v.status == "open"}
            for later in log[n + 1 :]:
                table.hear(later)
                if isinstance(later, _TELLING):
                    table.settle()
            table.settle()
            assert said(table) == want, (story.place, n)
            ended |= {v.status for v in table.in_force() if v.id in due and v.atom == atom}
    assert ended & {"remedied", "breached"}, "no story shows it"


# --- total


def _spoilt(log: Log, random: Random) -> Log:
    """A log in which events are lost, exchanged, put in from elsewhere, or say something else than they should."""
    log = list(log)
    for _ in range(min(random.choice([1, 3, 10, 30]), len(log) - 1)):
        i, j = random.randrange(len(log)), random.randrange(len(log))
        a, b = log[i], log[j]
        other = random.choice(told(random.choice(STORIES[random.choice(GAMES)]).place))
        match random.randrange(4):
            case 0:
                del log[i]
            case 1:
                changes: list[dict[str, Any]] = [{"seq": b.seq}, {"device": b.device}, {"at": b.at}, {"boot": 1}]
                log[i] = replace(a, **random.choice([*changes, {"clock_ms": 5000}, {"confidence": 0}]))
            case 2:
                log.insert(i, replace(other, table=a.table, device=a.device, boot=a.boot, seq=a.seq, at=a.at))
            case _:
                alike = [e for e in told(random.choice(STORIES[random.choice(GAMES)]).place) if type(e) is type(a)]
                same = {"table": a.table, "device": a.device, "boot": a.boot, "seq": a.seq, "at": a.at}
                log[i] = replace(random.choice([*alike, a]), **same)
    return log


@given(
    rules=st.sampled_from(GAMES),
    settings=st.sampled_from(GAMES).flatmap(options),
    row=ONE,
    random=RANDOM,
)
def test_spoilt_stories_raise_nothing(rules: str, settings: dict[str, Any], row: Log, random: Random) -> None:
    """Spoilt stories, judged by another game's rules and by any options, give verdicts as their type says."""
    first, *rest = row
    assert isinstance(first, ev.TableOpened)
    first = replace(first, options=settings, rules=random.choice([first.rules, rules]))
    log = [first, *_spoilt(rest, random)]
    table = Table(log[0].table)
    for event in log:
        table.hear(event)
        table.settle()
        if random.random() < 0.03:
            assert all(_READ(body(v)) == v for v in table.in_force())
    assert said(table) == said(heard(log))
