"""What was done wrong on purpose, and whether what is said of it is true."""

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stream.deal import events as ev
from stream.deal.verdicts import Scope, Verdict
from stream.simulate.mutations.beside import BESIDE
from stream.simulate.round import Drawn, Round


@dataclass(frozen=True)
class Truth:
    """What was done on purpose in a round, and how its verdict stands at last."""

    table: str
    round: str
    atom: str
    form: str  # breached, remedied, over
    way: str
    kind: str
    status: str
    scope: str  # as a story tells it
    positions: tuple[str, ...]


def truth_of(r: Round, atom: str, way: str) -> Truth:
    """The truth of a round that was dealt with something wrong."""
    about = f"card:#{r.scope.draw}" if isinstance(r.scope, Drawn) else r.scope
    kind = r.kind or r.felt.law.atoms[atom].kind
    status = "remedied" if r.form == "remedied" else "breached" if kind == "irregularity" else "final"
    return Truth(r.felt.table, r.name, atom, r.form, way, kind, status, about, r.positions)


def scope(s: Scope) -> str:
    """A scope as a story tells it."""
    if s.level == "card":
        return f"card:#{s.draw}" if s.draw is not None else f"card:{s.position}.{s.index}"
    if s.level == "wager":
        return f"wager:{s.position}/{s.area}"
    name = s.position or s.deck or s.device
    return f"{s.level}:{name}" if name else s.level


def told(v: Verdict) -> str:
    """A verdict in short."""
    follows = " follows" if v.root else ""
    return f"{v.atom} {v.kind}{':' + v.cause if v.cause else ''} {v.status} {scope(v.scope)}{follows}"


def compared(truth: Truth, verdicts: Iterable[Verdict]) -> list[str]:
    """What is right or wrong with the verdicts of a round in which one thing was done wrong."""
    beside = BESIDE.get(truth.atom, ((), ""))[0]
    mine = [v for v in verdicts if v.atom == truth.atom]
    others = [v for v in verdicts if v.atom != truth.atom and not v.root and f"{v.atom} {v.status}" not in beside]
    if not mine:
        return ["wrong atom" if others else "missed"]
    wrong = []
    best = next((v for v in mine if scope(v.scope) == truth.scope), None)
    if best is None:
        wrong.append("wrong scope")
    elif (best.kind, best.status) != (truth.kind, truth.status):
        wrong.append("wrong status")
    if others or len(mine) > 1:
        wrong.append("extra")
    return wrong or ["found"]


def by_round(
    log: Sequence[ev.AnyEvent], verdicts: Iterable[Verdict], known: Container[str]
) -> dict[str, list[Verdict]]:
    """The verdicts of one table by the round that they are about; what is wrong between rounds belongs to the next.

    So does what is told of a deck or a device, unless it is of a `known` round and was decided before that closed.
    """
    out: dict[str, list[Verdict]] = defaultdict(list)
    following, closed = _following(log), _closed(log)
    at = {(e.device, e.boot, e.seq): e.at for e in log}
    for v in verdicts:
        name = v.round
        decided = next((e.device, e.boot, e.seq) for e in v.evidence if e.role == "deciding")
        after = name is not None and name in closed and at[decided] > closed[name]
        if name is None or (v.scope.level in ("deck", "device") and (after or name not in known)):
            name = following.get(decided, "")
        out[name].append(v)
    return dict(out)


def _closed(log: Sequence[ev.AnyEvent]) -> dict[str, datetime]:
    """When each round closed."""
    out: dict[str, datetime] = {}
    name = ""
    for event in sorted(log, key=lambda e: e.at):
        if isinstance(event, ev.RoundOpened):
            name = event.round
        elif isinstance(event, ev.RoundClosed):
            out.setdefault(name, event.at)
    return out


def _following(log: Sequence[ev.AnyEvent]) -> dict[tuple[str, int, int], str]:
    """The round that opens next, at or after each event."""
    out: dict[tuple[str, int, int], str] = {}
    name = ""
    for event in sorted(log, key=lambda e: e.at)[::-1]:
        if isinstance(event, ev.RoundOpened):
            name = event.round
        out[event.device, event.boot, event.seq] = name
    return out
