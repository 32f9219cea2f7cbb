"""What devices do wrong is no deed of people: every mode changes the reports, and nobody is blamed for it."""

import importlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner

from stream.cli import main
from stream.deal import events as ev
from stream.deal.events import AnyEvent
from stream.rulebook.paragraphs import ids, load
from stream.simulate.faults import FAULTS, Slip
from stream.simulate.tables import Order, injections, reports
from stream.simulate.truth import told

bench = importlib.import_module("bench.truth.watch")
Log = list[AnyEvent]


def order(rules: str, mode: str, rounds: int = 16) -> Order:
    """One table with one error in every second round."""
    return Order(rules, rounds, seats=4, seed=5, every=2, mixed=True, beside=mode)


def log_of(o: Order) -> tuple[Log, list[Slip]]:
    """What arrives, and what devices did wrong."""
    slips: list[Slip] = []
    return [event for (_, event), _ in reports(o, slips=slips)], slips


def numbers(log: Log) -> list[tuple[str, int, int]]:
    """Identities in order of arrival."""
    return [(e.device, e.boot, e.seq) for e in log]


def cards(log: Log) -> int:
    """How many faces were read."""
    reads = (e for e in log if isinstance(e, ev.CardDrawn | ev.CardPlaced | ev.CardTurned))
    return sum(e.card != "??" for e in reads)


def faces(log: Log) -> list[str]:
    """All faces that were read, in order."""
    return [e.card for e in log if isinstance(e, ev.CardDrawn | ev.CardPlaced | ev.CardTurned)]


def count(log: Log, kind: type[ev.Event]) -> int:
    """How many events are of a type."""
    return sum(isinstance(e, kind) for e in log)


def holes(log: Log) -> int:
    """How many numbers are missing before a later one of the same boot."""
    seen: dict[tuple[str, int], set[int]] = {}
    for e in log:
        seen.setdefault((e.device, e.boot), set()).add(e.seq)
    return sum(max(s) + 1 - len(s) for s in seen.values())


def longest_silence(log: Log) -> float:
    """The longest time between two reports of one device, in seconds."""
    at: dict[str, list[float]] = {}
    for e in log:
        at.setdefault(e.device, []).append(e.at.timestamp())
    return max(b - a for times in at.values() for a, b in zip(sorted(times), sorted(times)[1:], strict=False))


def ahead(log: Log, clean: Log) -> int:
    """How many reports have a later time than they should, in milliseconds at the most."""
    due = {(e.device, e.boot, e.seq): e.at for e in clean}
    return max(round((e.at - due[e.device, e.boot, e.seq]).total_seconds() * 1000) for e in log)


SIGNS: dict[str, Callable[[Log, Log], bool]] = {
    "misread": lambda log, clean: faces(log) != faces(clean) and cards(log) == cards(clean),
    "no_read": lambda log, clean: cards(log) < cards(clean),
    "double_feed": lambda log, clean: count(log, ev.CardDrawn) < count(clean, ev.CardDrawn) and holes(log) == 0,
    "returned": lambda log, clean: (
        0 < count(log, ev.CardReturned) == count(log, ev.CardDrawn) - count(clean, ev.CardDrawn)
    ),
    "duplicate": lambda log, clean: set(numbers(log)) == set(numbers(clean)) and len(log) > len(clean),
    "late": lambda log, clean: numbers(log) != numbers(clean) and sorted(numbers(log)) == sorted(numbers(clean)),
    "drop": lambda log, clean: len(log) < len(clean) and holes(log) > 0,
    "reboot": lambda log, _: max(e.boot for e in log) > 0,
    "sense_dead": lambda log, clean: longest_silence(log) > 30 > longest_silence(clean),
    "correction": lambda log, _: any(isinstance(e, ev.EventCorrected) and wrong(log, e) for e in log),
    "skew": lambda log, clean: ahead(log, clean) == 300 and max(e.clock_ms for e in log) == 320,
    "skew_untold": lambda log, clean: 300 <= ahead(log, clean) <= 1000 and max(e.clock_ms for e in log) == 20,
    "miscount": lambda log, _: {e.count for e in log if isinstance(e, ev.ShuffleCompleted)} > {52},
    "boxed": lambda log, _: any(isinstance(e, ev.CardDrawn) and e.face_up for e in log),
    "never_started": lambda log, clean: count(log, ev.ShuffleStarted) < count(clean, ev.ShuffleStarted),
}
"""How the log of a table shows each mode, beside the log of the same table with no error."""


SOME = ("miscount", "double_feed")
"""Made at some tables only: where the shuffler counts, and where cards come from a shoe."""


def wrong(log: Log, e: ev.EventCorrected) -> bool:
    """Whether a correction corrects what came, and says something else."""
    named = (e.corrects.device, e.corrects.boot, e.corrects.seq)
    came = [x for x in log if (x.device, x.boot, x.seq) == named]
    return len(came) == 1 and came[0] != e.event and came[0].at == e.event.at and type(came[0]) is type(e.event)


@pytest.mark.parametrize("mode", FAULTS)
def test_each_mode_shows_in_the_reports(mode: str) -> None:
    """Every mode can be made at each game, changes the telemetry in its own way, and is told with round and device."""
    every = 0
    for rules in ids():
        spoilt, slips = log_of(order(rules, mode))
        clean, none = log_of(order(rules, ""))
        assert none == []
        assert slips or mode in SOME
        every += len(slips)
        assert {s.mode for s in slips} <= {mode}
        assert {s.device for s in slips} <= {e.device for e in clean}
        assert len({s.round for s in slips}) == len(slips)
        if slips:
            assert SIGNS[mode](spoilt, clean), (rules, [s.what for s in slips])
    assert every


def test_every_mode_has_a_sign() -> None:
    """No mode is left out above."""
    assert SIGNS.keys() == FAULTS.keys()


KNOWN = {
    "skew_untold": {"17.8(c)", "17.8(d)", "25.7(d)", "12.2"},  # a layout ahead of its own bound can't be told
}
"""What still blames somebody, by mode: the limits that docs/truth.md counts."""


@pytest.mark.parametrize("mode", FAULTS)
@pytest.mark.parametrize("rules", ids())
def test_nobody_is_blamed_for_a_device(rules: str, mode: str) -> None:
    """Lawful rounds, a device error in every second: no irregularity and no breach is in force, but a fact's own."""
    seen = bench.watch(order(rules, mode, 24), live=False)
    own = FAULTS[mode].own
    known = KNOWN.get(mode, ())
    accused = [v for v in seen.verdicts if v.kind in bench.ACCUSING and v.atom not in own and v.atom not in known]
    assert [told(v) for v in accused] == [], [s for s in seen.slips if s.round in {v.round for v in accused}]


@pytest.mark.parametrize("rules", ids())
def test_nobody_is_blamed_when_all_err(rules: str) -> None:
    """The same with all modes at ten times their rates."""
    faults = tuple((name, 10 * f.rate) for name, f in FAULTS.items())
    seen = bench.watch(replace(order(rules, "", 60), faults=faults), live=False)
    own = {a for s in seen.slips for a in FAULTS[s.mode].own}
    assert [told(v) for v in seen.verdicts if v.kind in bench.ACCUSING and v.atom not in own] == []


def test_a_live_reader_sees_what_was_taken_back() -> None:
    """A wrong report that is corrected seconds later may have been published, and is withdrawn then."""
    seen = bench.watch(order("nj-winners-pot-33", "correction", 40))
    assert [v for v in seen.verdicts if v.kind in bench.ACCUSING] == []
    assert seen.withdrawn
    assert sum(seen.published[k] for k in bench.ACCUSING) == len(seen.withdrawn)


def test_errors_leave_the_deal_as_it_is() -> None:
    """The same seed deals the same with errors and without: same rounds, same draws of the same cards."""
    clean, _ = log_of(order("nsw-let-it-ride", ""))
    spoilt, _ = log_of(order("nsw-let-it-ride", "duplicate"))
    assert list(dict.fromkeys(numbers(spoilt))) != []
    assert {e.seq: e for e in spoilt if e.device.endswith("shoe")} == {
        e.seq: e for e in clean if e.device.endswith("shoe")
    }


@pytest.mark.parametrize("mode", FAULTS)
def test_the_command_knows_every_mode(mode: str) -> None:
    """`misdeal simulate --faults MODE:RATE` makes it, and an unknown mode is refused with all that there are."""
    done = CliRunner().invoke(main, ["simulate", "--rounds", "2", "--faults", f"{mode}:0.5"])
    assert done.exit_code == 0
    refused = CliRunner().invoke(main, ["simulate", "--faults", f"no_{mode}x"])
    assert refused.exit_code == 2
    assert mode in refused.output


@pytest.mark.parametrize("rules", ids())
def test_all_can_err_while_all_goes_wrong(rules: str) -> None:
    """Whatever is done wrong, and whichever devices err with it: the rounds are dealt and judged."""
    faults = tuple((name, 0.2) for name in FAULTS)
    both = Order(rules, 40, seats=3, seed=2, inject=injections(load(rules), "all"), every=2, faults=faults)
    assert bench.watch(both, live=False).truths
