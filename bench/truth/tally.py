"""Counts of one game, one error mode and one kind of rounds."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stream.deal.events import TableOpened
from stream.deal.verdicts import Verdict
from stream.rulebook.paragraphs import load
from stream.simulate.faults import FAULTS, Slip
from stream.simulate.mutations.beside import BESIDE
from stream.simulate.truth import Truth, by_round, scope, told

from .watch import ACCUSING, Watched

SHOWN: Final = 12
SHIFTING: Final = ("double_feed", "returned")  # modes after which draws have other numbers
SLOW: Final = ("late", "correction")  # modes in which what is true comes seconds or minutes later
REACH: Final = 5  # rounds in which an error can still be felt


@dataclass
class Tally:
    """What was counted; `by` has what was false or undetermined by its atom."""

    rounds: int = 0
    n: Counter[str] = field(default_factory=Counter)
    by: Counter[str] = field(default_factory=Counter)
    per_fault: Counter[int] = field(default_factory=Counter)  # how many verdicts an error made -> how many such errors
    shown: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)  # errors that left more than one question open

    def add(self, other: "Tally") -> None:
        """Count another tally in."""
        self.rounds += other.rounds
        self.n.update(other.n)
        self.by.update(other.by)
        self.per_fault.update(other.per_fault)
        self.shown = (self.shown + other.shown)[:SHOWN]
        self.twice = (self.twice + other.twice)[:SHOWN]

    def plain(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        sizes = list(self.per_fault.elements())
        spread = [min(sizes), round(sum(sizes) / len(sizes), 2), max(sizes)] if sizes else []
        return {
            "rounds": self.rounds,
            **dict(sorted(self.n.items())),
            "by": dict(self.by),
            "verdicts_per_error": spread,
        }


def lawful(w: Watched, rounds: int, where: str) -> Tally:
    """Count a table that dealt lawfully while its devices erred."""
    t = Tally(rounds=rounds)
    names = _names(w)
    by_name: dict[str, list[Slip]] = defaultdict(list)
    for s in w.slips:
        by_name[s.round].append(s)

    def near(at: int) -> list[Slip]:
        return [s for i in _reach(at) for s in by_name.get(_name(w, i), ())]

    _published(w, t, lambda name: near(names[name]))
    t.n["errors"] = len(w.slips)
    said: dict[int, list[Verdict]] = defaultdict(list)  # number of the round that erred -> what it led to
    for name, verdicts in by_round(w.log, w.verdicts, names).items():
        at = names.get(name, len(names))
        cause = next((i for i in _reach(at) if by_name.get(_name(w, i))), None)
        slips = near(at)
        for v in verdicts:
            _count_lawful(t, v, slips, f"{where} {name}")
            if cause is not None:
                said[cause].append(v)
            else:
                t.n["unexplained"] += 1
    for at, name in enumerate(names):
        for s in by_name.get(name, ()):
            verdicts = said.get(at, [])
            found = _tells(s, verdicts)
            t.n["found" if found else "silent"] += 1
            t.n[f"rounds: {_worst(s, verdicts, told=found)}"] += 1
            if len(by_name[name]) == 1:
                own = [v for v in verdicts if not v.root]
                t.per_fault[len(own)] += 1
                open_ = [v for v in verdicts if v.kind == "undetermined"]
                if len(open_) > 1:
                    t.n["undetermined_more_than_one"] += 1
                    t.twice.append(f"{where} {name}: {s.device} {s.what}; " + "; ".join(told(v) for v in open_))
    return t


def _reach(at: int) -> Sequence[int]:
    """The rounds in which an error can lie that is felt in one: itself, those before it, at last the next.

    Where the opening of a round was lost, what is told of it is told in the round before.
    """
    return (*range(at, max(-1, at - REACH), -1), at + 1)


def _names(w: Watched) -> dict[str, int]:
    """Rounds by name, in order."""
    table = w.log[0].table
    last = max((int(s.round.rpartition("-")[2]) for s in w.slips), default=0)
    last = max(last, *(int(r.rpartition("-")[2]) for v in w.verdicts if (r := v.round)), 0, 0)
    return {f"{table}-{i}": i - 1 for i in range(1, last + 1)}


def _name(w: Watched, at: int) -> str:
    return f"{w.log[0].table}-{at + 1}"


def _count_lawful(t: Tally, v: Verdict, slips: Sequence[Slip], where: str) -> None:
    if any(v.atom in FAULTS[s.mode].own or v.code in FAULTS[s.mode].own for s in slips):
        t.n["own"] += 1
    elif v.kind in ACCUSING:
        t.n["false"] += 1
        t.by[f"{v.atom} {v.kind} {v.status}"] += 1
        t.shown.append(f"{where}: {told(v)}; {'; '.join(f'{s.device} {s.what}' for s in slips)}")
    elif v.kind == "undetermined":
        t.n["undetermined"] += 1
        t.n[f"undetermined: {v.cause}"] += 1
        t.by[f"{v.atom} undetermined: {v.cause}"] += 1
    elif v.kind == "device_fault":
        t.n["device_fault"] += 1
    else:
        t.n["advisory"] += 1
        t.by[f"{v.code} advisory"] += 1


def _tells(s: Slip, verdicts: Sequence[Verdict]) -> bool:
    """Whether a verdict tells the device's error, or what it did."""
    own = FAULTS[s.mode].own
    return any(
        (v.kind == "device_fault" and (v.scope.device == s.device or v.code == "clock_drift"))
        or v.atom in own
        or v.code in own
        for v in verdicts
    )


def _worst(s: Slip, verdicts: Sequence[Verdict], *, told: bool) -> str:
    """The gravest that came of an error."""
    own = FAULTS[s.mode].own
    if any(v.kind in ACCUSING and v.atom not in own for v in verdicts):
        return "false"
    if any(v.kind == "undetermined" for v in verdicts):
        return "undetermined"
    return "told" if told else "silent"


def wrong(w: Watched, rounds: int, mode: str, where: str) -> Tally:
    """Count a table at which one thing was done wrong in a round while a device erred."""
    t = Tally(rounds=rounds)
    found = by_round(w.log, w.verdicts, w.truths)
    erred = {s.round: s for s in w.slips}
    _published(w, t, lambda name: [erred[name]] if name in erred else w.slips)
    for name, truth in w.truths.items():
        if name not in erred:
            continue
        t.n["errors"] += 1
        verdicts = found.get(name, [])
        _count_wrong(t, truth, verdicts, erred[name], f"{where} {name}", lost=name in w.undecided)
        t.per_fault[sum(not v.root for v in verdicts)] += 1
    t.rounds = t.n["errors"]
    lasts = _lasting(w)
    for name, verdicts in found.items():
        if name not in w.truths and name not in lasts:
            own = FAULTS[mode].own
            bad = [v for v in verdicts if v.kind in ACCUSING and v.atom not in own]
            t.n["false"] += len(bad)
            for v in bad:
                t.by[f"{v.atom} {v.kind} {v.status}"] += 1
                t.shown.append(f"{where} {name}, in which nothing was done wrong: {told(v)}")
    return t


def _lasting(w: Watched) -> set[str]:
    """The rounds in which something left undone before is still being done wrong."""
    out: set[str] = set()
    for name, truth in w.truths.items():
        opened = w.log[0]
        assert isinstance(opened, TableOpened)
        if truth.atom in load(opened.rules).rules.lasting and truth.status != "remedied":
            at = int(name.rpartition("-")[2])
            out |= {f"{truth.table}-{at + n}" for n in range(1, REACH)}
    return out


def _count_wrong(t: Tally, truth: Truth, verdicts: Sequence[Verdict], slip: Slip, where: str, *, lost: bool) -> None:
    own = FAULTS[slip.mode].own
    beside = BESIDE.get(truth.atom, ((), ""))[0]
    mine = [v for v in verdicts if v.atom == truth.atom]
    same = [v for v in mine if _same(truth.scope, scope(v.scope), slip.mode)]
    rest = [v for v in verdicts if v not in mine and not v.root and f"{v.atom} {v.status}" not in beside]
    others = [v for v in rest if v.kind in ACCUSING and v.atom not in own]
    open_ = [v for v in verdicts if v.kind == "undetermined"]
    if any(v.kind == truth.kind and v.status == truth.status for v in same):
        what = "found"
    elif any(v.kind == truth.kind for v in same):
        what = "wrong status"
    elif any(v.kind == truth.kind for v in mine):
        what = "wrong seat"
    elif open_ or any(v.code == "round_not_followed" for v in verdicts):
        what = "undetermined"
        t.n[f"undetermined: {open_[0].cause if open_ else 'not followed'}"] += 1
    elif others:
        what = "wrong paragraph"
    else:
        what = "missed"
    t.n[what] += 1
    t.n["deciding report lost"] += lost
    t.n["found of the rest"] += what == "found" and not lost
    t.n["missed, error told"] += what == "missed" and _tells(slip, verdicts)
    false = others[1:] if what == "wrong paragraph" else others
    t.n["false"] += len(false)
    t.n["undetermined_more_than_one"] += len(open_) > 1
    if what != "found" or false:
        said = "; ".join(told(v) for v in verdicts) or "nothing"
        t.by[f"{truth.atom} {what}" + (f" with {false[0].atom}" if false else "")] += 1
        t.shown.append(
            f"{where}: {truth.atom} {truth.way}, due {truth.kind} {truth.status} {truth.scope}: {what}; said {said}; "
            f"{slip.device} {slip.what}" + (", with it what decides" if lost else "")
        )


def _same(due: str, said: str, mode: str) -> bool:
    """Whether a verdict is about what it should be; after some errors draws have other numbers."""
    if due == said:
        return True
    return mode in SHIFTING and due.startswith("card:#") and said.startswith("card:#")


def _published(w: Watched, t: Tally, slips: Callable[[str], Sequence[Slip]]) -> None:
    """Accusations that a live consumer saw; of those taken back, those where no report was late or put right."""
    t.n["published"] = sum(w.published[k] for k in ACCUSING)
    t.n["withdrawn"] = len(w.withdrawn)
    for v in w.withdrawn:
        slow = any(s.mode in SLOW for s in slips(v.round or ""))
        t.n["withdrawn, none late"] += not slow
        t.by[f"{v.atom} withdrawn" + ("" if slow else ", none late")] += 1
