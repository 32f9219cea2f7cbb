"""What the devices of a table can't vouch for: findings made undetermined, and the one question that stays open."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Scope, Verdict
from stream.replay.carry import Interruption
from stream.replay.deck import bypassed, doubts
from stream.replay.drafts import SEVERITIES, Scene
from stream.replay.fold import Setup, number
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard
from stream.rulebook.standing import DeckDoubt


def weighed(scene: Scene, s: Setup, findings: Iterable[Finding], drifting: list[set[str]]) -> Iterator[Finding]:
    """Findings with what the devices, or the clocks of two of them, can't vouch for made undetermined."""
    least = number(s.settings, "identity_confidence")
    for f in findings:
        doubtful = f.deciding.event.confidence < least or _unseen(scene, f)
        devices = {f.deciding.device, *(h.device for h in f.supporting)}
        if f.cause is None and any(pair <= devices for pair in drifting):
            yield replace(f, cause="order")
        else:
            yield replace(f, cause="coverage") if f.cause in (None, "text") and doubtful else f


def vouched(scene: Scene, duty: Fulfilment) -> Fulfilment:
    """A remedy that was not seen where it could not have been seen is not known to be missing."""
    lost = blind(scene, duty.absence) or any(interrupted(scene, gap) for gap in duty.unless)
    return replace(duty, cause="coverage") if lost else duty


def one_question(scene: Scene, s: Setup, findings: Iterable[Finding]) -> list[Finding]:
    """Findings, of which those that only holes in the readings leave open are one question for each round.

    It is the gravest of them, and the first of these; it names the paragraphs of the others and rests on their events
    too. One that stands beside what is certain of the same atom and scope is no question of its own.
    """
    every = list(findings)
    certain = {_about(f) for f in every if f.cause is None}
    lost = (f for f in every if f.cause == "coverage" and f.atom in s.monitored and not scene.between(f.deciding))
    open_ = [f for f in lost if _about(f) not in certain]
    if len({_about(f) for f in open_}) <= 1:
        return every
    atoms = s.law.atoms
    first = min(open_, key=lambda f: (-SEVERITIES.index(f.severity or atoms[f.atom].severity), f.deciding[:4], f.atom))
    first = min((f for f in open_ if _about(f) == _about(first)), key=lambda f: f.deciding[:4])
    rest = [f for f in open_ if _about(f) != _about(first)]
    also = ", ".join(sorted({_named(s, f) for f in rest} - {_named(s, first)}))
    asked = replace(
        first,
        observed=f"{first.observed} Open for the same reason: {also}." if also else first.observed,
        supporting=(*first.supporting, *(h for f in rest for h in (f.deciding, *f.supporting))),
        positions=tuple(sorted({*first.positions, *(p for f in rest for p in f.positions)})),
    )
    return [asked if f is first else f for f in every if not any(f is other for other in rest)]


def known_doubts(scene: Scene, f: Facts) -> tuple[DeckDoubt, ...]:
    """What is wrong with the deck that is dealt; not what a shuffler that was not heard would have told."""
    load, found = f.dealt_from, doubts(f)
    if load is None or not {"incomplete", "unshuffled"}.intersection(found):
        return found
    if not blind(scene, f.shuffle_of(load)):
        return found
    return tuple(d for d in found if d not in ("incomplete", "unshuffled"))


def known_bypassed(scene: Scene, f: Facts) -> Heard[ev.DeviceInstalled] | None:
    """The machine that the work went past, unless its removal may have gone unread."""
    machine = bypassed(f)
    if machine is None or f.first_draw is None:
        return machine
    return None if blind(scene, Absence("installations", machine.when, f.first_draw.when)) else machine


def _about(f: Finding) -> tuple[str, Scope]:
    return f.atom, f.scope


def _named(s: Setup, f: Finding) -> str:
    cite = s.law.rules.citation(s.law.atoms[f.atom].cite)
    return f"{cite} at {f.scope.position}" if f.scope.position else cite


def _unseen(scene: Scene, f: Finding) -> bool:
    return blind(scene, f.absence) or any(interrupted(scene, gap) for gap in f.unless)


def blind(scene: Scene, gap: Absence | None) -> bool:
    """Whether something not seen could not have been seen."""
    if gap is not None and scene.alive.get(gap.sense, gap.end + 1) > gap.end:
        return True  # nothing that could have seen it had been heard by then
    return gap is not None and interrupted(scene, gap)


def interrupted(scene: Scene, gap: Absence) -> bool:
    """Whether a device that carries a sense was not heard at some moment of a window, and may have had to tell."""
    return any(
        gap.sense in i.senses and i.covers(gap.begin, gap.end) and not (gap.dealt and _dealt_on(scene, gap, i))
        for i in scene.interruptions
    )


def _dealt_on(scene: Scene, gap: Absence, i: Interruption) -> bool:
    """Whether what came after shows that no card was dealt while a device was not heard.

    The next draw has the number after the last one; and where the layout was not heard, each draw until then, none of
    which the shoe can have kept to itself, lies where a later report has it.
    """
    if gap.sense == "placements" and not i.places:
        return True
    end = i.end.when if i.end is not None else None
    if end is None:
        return False
    draws = [(h.when, h.event.draw) for h in scene.events if isinstance(h.event, ev.CardDrawn)]
    before = max((draw for when, draw in draws if when <= i.began), default=0)
    if gap.sense == "draws":
        return next((draw for when, draw in draws if when >= end), None) == before + 1
    lying = {h.event.draw for h in scene.events if isinstance(h.event, ev.CardPlaced | ev.CardBurned)}
    told = not interrupted(scene, Absence("draws", i.began, end))
    return told and all(draw in lying for when, draw in draws if when <= end)


def layout_interrupted(scene: Scene, begin: int, end: int) -> bool:
    """Whether a device that may see cards placed was not heard at some moment of a window (microseconds)."""
    return any("placements" in i.senses and i.places and i.covers(begin, end) for i in scene.interruptions)


def questions_named(scene: Scene, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of one round, those that are undetermined for want of coverage with the device's as their root.

    One fault is one root. Of several devices it is the first, by time and name, that was not heard in this round, else
    in those before it.
    """
    if not scene.events:
        return list(verdicts)
    begin, end = scene.events[0].when, scene.last.when
    known = [i for i in scene.interruptions if i.fault and i.began <= end]
    known.sort(key=lambda i: (not (i.covers(begin, end) or begin <= i.noticed.when), i.noticed[:4], i.device))
    if not known:
        return list(verdicts)
    return [replace(v, root=known[0].fault) if v.cause == "coverage" and v.root is None else v for v in verdicts]
