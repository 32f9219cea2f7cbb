"""From findings to verdicts: one for each atom and scope, with its evidence, its deal line and its digest."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, to_builtins

from stream.deal import events as ev
from stream.deal.notation import brief
from stream.deal.verdicts import (
    NOT_SPECIFIED,
    Affected,
    Basis,
    Evidence,
    EvidenceRole,
    Override,
    Remedy,
    Scope,
    Severity,
    Status,
    Verdict,
    Video,
    WagerAt,
    identify,
)
from stream.deal.wire import canonical, from_micros, full
from stream.deal.words import Position, Sense
from stream.replay.carry import SECOND, Interruption
from stream.replay.fold import BETWEEN, Setup
from stream.replay.mask import Shown
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import Atom

VIDEO_MARGIN: Final = 15 * SECOND  # before the first and after the last event of the evidence
SEVERITIES: Final = ("info", "minor", "major", "critical")


class Scene(Struct, frozen=True):
    """Where verdicts are drafted: the table, the round and its events, and how it is judged."""

    table: str
    setup: Setup | None
    opened: ev.TableOpened | None
    round: Heard | None  # round.opened
    reused: bool  # its id was used before at this table
    events: Sequence[Heard]
    closed: bool  # no later event can change the round but a late one
    interruptions: tuple[Interruption, ...]
    alive: Mapping[str, int] = {}  # sense -> since when a device that carries it has been heard
    shut: Heard | None = None  # the event that closed the round

    @property
    def last(self) -> Heard:
        """The last event that tells of more than its device."""
        return next((h for h in reversed(self.events) if type(h.event) is not ev.DeviceHeartbeat), self.events[-1])

    def where(self, deciding: Heard) -> tuple[str | None, str | ev.Identity]:
        """The round's id, if the event is of a round, and what stands for it in a verdict's id."""
        if self.round is None:
            return None, ev.Identity(deciding.device, deciding.boot, deciding.seq)
        opened = self.round.event
        assert isinstance(opened, ev.RoundOpened)
        if self.reused:
            return opened.round, ev.Identity(self.round.device, self.round.boot, self.round.seq)
        return opened.round, opened.round

    def between(self, deciding: Heard) -> bool:
        """Whether an event is of the time after the round, and of no round."""
        late = self.shut is not None and deciding > self.shut
        return self.round is None or (late and type(deciding.event) in BETWEEN)


class Drafted(NamedTuple):
    """A verdict, and what it says was not seen: it rests on nothing of that being still on its way."""

    verdict: Verdict
    rests_on: tuple[Absence, ...]


Fulfil = Callable[[Finding], Fulfilment | None]
"""How the duty that a finding opens stands; None where its atom orders nothing."""


def draft(scene: Scene, findings: Iterable[Finding], fulfil: Fulfil) -> list[Drafted]:
    """One verdict for each atom and scope found; atoms the table can't see are left out."""
    groups: dict[tuple[str, bytes], list[Finding]] = {}
    setup = scene.setup
    assert setup is not None
    for finding in findings:
        if finding.atom in setup.monitored:
            between = finding.deciding[1:4] if scene.between(finding.deciding) else None
            key = canonical([to_builtins(finding.scope), list(between or ())])
            groups.setdefault((finding.atom, key), []).append(finding)
    return [_verdict(scene, setup, setup.law.atoms[atom], group, fulfil) for (atom, _), group in groups.items()]


def _verdict(scene: Scene, setup: Setup, atom: Atom, group: list[Finding], fulfil: Fulfil) -> Drafted:
    group = sorted(group, key=lambda f: f.deciding[:4])
    certain = [f for f in group if f.cause is None]
    first = (certain or group)[0]
    more = len(certain or group) - 1
    duty = fulfil(first) if first.cause is None else None
    cause = first.cause or (duty.cause if duty else None)
    events = _evidence(first, [*certain, *(f for f in group if f.cause is not None)], duty)
    known, where = scene.where(first.deciding)
    if scene.between(first.deciding):
        known, where = None, ev.Identity(*first.deciding[1:4])
    rules = setup.law.rules
    told = _told(scene, first.deciding)
    shown = Shown(told)
    paragraph = setup.law.paragraphs[atom.cite]
    readings = {i for f in group for i in f.interpretations} | set(duty.interpretations if duty else ())
    observed = first.observed if not more else f"{first.observed} {_more(more)}"
    verdict = Verdict(
        id=identify(scene.table, where, rules.id, atom.id, first.scope),
        atom=atom.id,
        code=atom.code,
        kind="undetermined" if cause else atom.kind,
        status=_status(scene, cause, duty),
        severity=_severity(atom, group, duty, cause),
        rules=rules.id,
        paragraph=rules.citation(atom.cite),
        heading=paragraph.heading,
        edition=rules.edition,
        cause=cause,
        table=scene.table,
        game=rules.game,
        round=known,
        deck=first.deck,
        scope=first.scope,
        what=atom.what,
        expected=atom.expected,
        observed=f"{observed} {duty.said}" if duty and duty.said else observed,
        remedy=atom.remedy,
        overrides=tuple(Override(rules.citation(c), why) for c, why in sorted(atom.sets_aside.items())),
        interpretations=tuple(sorted(readings)),
        basis=_basis(scene, first),
        evidence=tuple(Evidence(h.device, h.boot, h.seq, role) for h, role in events),
        deal=brief(shown.mask(h.event) for h in told),
        affected=first.affected or _affected(scene, first, group),
        video=video([h for h, _ in events]),
        at=from_micros(first.deciding.at),
        reason=duty.reason if duty else None,
        digest=digest(_masked(shown, events), rules.id, rules.edition, setup.settings),
    )
    return Drafted(verdict, () if cause else _absences(first, duty))


def _absences(first: Finding, duty: Fulfilment | None) -> tuple[Absence, ...]:
    """What the first finding, and what became of its remedy, say was not seen."""
    gaps = [first.absence, *first.unless, *first.awaits, *((duty.absence, *duty.unless) if duty else ())]
    latest: dict[Sense, Absence] = {}
    for gap in gaps:
        if gap is not None and (gap.sense not in latest or gap.end > latest[gap.sense].end):
            latest[gap.sense] = gap
    return tuple(latest[sense] for sense in sorted(latest))


def _status(scene: Scene, cause: object, duty: Fulfilment | None) -> Status:
    if cause == "coverage" and not scene.closed:
        return "open"
    if cause is not None or duty is None:
        return "final"
    return duty.outcome


def _severity(atom: Atom, group: Sequence[Finding], duty: Fulfilment | None, cause: object) -> Severity:
    """The atom's, or a finding's own; a remedy that failed is major at least."""
    severity = max((f.severity or atom.severity for f in group), key=SEVERITIES.index)
    if duty is None or cause is not None:
        return severity
    if duty.severity is not None:
        return duty.severity
    failed = duty.outcome == "breached"
    return max(severity, "major", key=SEVERITIES.index) if failed else severity


def _more(count: int) -> str:
    return (
        "One more act of this round departed likewise."
        if count == 1
        else f"{count} more acts of this round departed likewise."
    )


def _evidence(first: Finding, group: Sequence[Finding], duty: Fulfilment | None) -> list[tuple[Heard, EvidenceRole]]:
    """Each event once: the deciding one, what supports it in order, and what followed from it."""
    rest = in_order([h for f in group for h in (f.deciding, *f.supporting)], without=first.deciding)
    seen = {h[:4] for h in (first.deciding, *rest)}
    after = [h for h in in_order(duty.by if duty else (), without=first.deciding) if h[:4] not in seen]
    return [
        (first.deciding, "deciding"),
        *((h, "supporting") for h in rest),
        *((h, "remedy") for h in after),
    ]


def in_order(events: Iterable[Heard], *, without: Heard) -> list[Heard]:
    """Each of some events once, in order, but for one."""
    return [h for k, h in sorted({h[:4]: h for h in events}.items()) if k != without[:4]]


def _told(scene: Scene, deciding: Heard) -> list[Heard]:
    """The round's events up to the deciding one; between rounds that one alone."""
    if scene.round is None or deciding < scene.round:
        return [deciding]
    return [h for h in scene.events if scene.round[:4] <= h[:4] <= deciding[:4]]


def _basis(scene: Scene, first: Finding) -> Basis:
    begin = scene.round.when if scene.round else first.deciding.when
    if any(i.code != "rebooted" and i.covers(begin, first.deciding.when) for i in scene.interruptions):
        return "doubtful"
    return "inferred" if first.inferred else "observed"


def _affected(scene: Scene, first: Finding, group: Sequence[Finding]) -> Affected:
    """The positions named, else all with a stake; and what lies on them at the deciding event."""
    stakes: dict[tuple[Position, str], int] = {}
    for h in scene.events:
        if h > first.deciding:
            break
        e = h.event
        if isinstance(e, ev.WagerPlaced):
            stakes[e.seat, e.area] = stakes.get((e.seat, e.area), 0) + e.amount
        elif isinstance(e, ev.WagerRemoved):
            stakes[e.seat, e.area] = stakes.get((e.seat, e.area), 0) - e.amount
        elif isinstance(e, ev.WagerSettled) and h is not first.deciding:
            stakes.pop((e.seat, e.area), None)
    named = {p for f in group for p in f.positions}
    if not named and first.scope.position is not None:
        named = {first.scope.position}
    at_risk = sorted((p, a, n) for (p, a), n in stakes.items() if n > 0 and (not named or p in named))
    positions = tuple(sorted(named or {p for p, _, _ in at_risk}))
    wagers = tuple(WagerAt(p, a, n) for p, a, n in at_risk)
    return Affected(positions, wagers, sum(n for _, _, n in at_risk) if wagers else None)


def video(events: Sequence[Heard]) -> Video:
    """The window to preserve around some events."""
    times = [h.at for h in events]
    return Video(from_micros(min(times) - VIDEO_MARGIN), from_micros(max(times) + VIDEO_MARGIN))


def _masked(shown: Shown, events: Iterable[tuple[Heard, str]]) -> Iterator[tuple[dict[str, Any], str]]:
    return ((full(shown.mask(h.event)), role) for h, role in events)


def digest(
    evidence: Iterable[tuple[dict[str, Any], str]],
    rules: str | None,
    edition: str | None,
    settings: object,
) -> str:
    """SHA-256 over evidence (events in canonical form and their roles), the rule set and the settings."""
    plain = {
        "evidence": [{"event": event, "role": role} for event, role in evidence],
        "rules": rules,
        "edition": edition,
        "settings": settings,
    }
    return sha256(canonical(plain)).hexdigest()


def notice(
    scene: Scene,
    *,
    kind: Literal["device_fault", "advisory"],
    code: str,
    scope: Scope,
    deciding: Heard,
    supporting: Sequence[Heard] = (),
    status: Status,
    severity: Literal["info", "minor", "major", "critical"],
    what: str,
    expected: str,
    observed: str,
    basis: Basis = "observed",
    affected: Affected | None = None,
) -> Verdict:
    """A device fault or an advisory: its atom is its code, and it cites no paragraph."""
    known, where = scene.where(deciding)
    setup = scene.setup
    rules = setup.law.rules if setup else None
    events: list[tuple[Heard, EvidenceRole]] = [
        (deciding, "deciding"),
        *((h, "supporting") for h in supporting),
    ]
    told = _told(scene, deciding)
    shown = Shown(told)
    rules_id = rules.id if rules else None
    edition = rules.edition if rules else None
    return Verdict(
        id=identify(scene.table, where, rules_id, code, scope),
        atom=code,
        code=code,
        kind=kind,
        status=status,
        severity=severity,
        rules=rules_id,
        edition=edition,
        table=scene.table,
        game=rules.game if rules else None,
        round=known,
        scope=scope,
        what=what,
        expected=expected,
        observed=observed,
        remedy=Remedy(NOT_SPECIFIED),
        basis=basis,
        evidence=tuple(Evidence(h.device, h.boot, h.seq, role) for h, role in events),
        deal=brief(shown.mask(h.event) for h in told),
        affected=affected or Affected(),
        video=video([h for h, _ in events]),
        at=from_micros(deciding.at),
        digest=digest(_masked(shown, events), rules_id, edition, setup.settings if setup else {}),
    )
