"""What is wrong with devices and tables, and advisories that cite no paragraph."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from stream.deal import events as ev
from stream.deal.verdicts import Affected, Scope, Verdict
from stream.deal.wire import from_micros
from stream.replay.carry import Carry, Interruption
from stream.replay.clocks import Drift
from stream.replay.deck import SAID, impossible
from stream.replay.drafts import Scene, in_order, notice
from stream.replay.fold import Setup, setup
from stream.replay.unseen import blind
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Advice, Finding
from stream.rulebook.heard import Heard
from stream.rulebook.standing import affected_by


def faults(scene: Scene, conflicts: Sequence[Heard]) -> Iterator[Verdict]:
    """Gaps, silences, conflicting identities and a reused round id: one verdict a cause."""
    own = {h[:4] for h in scene.events}
    gaps: dict[str, list[Interruption]] = {}
    for i in scene.interruptions:
        if i.noticed[:4] not in own:
            continue  # told where it was noticed
        if i.code == "rebooted":
            continue  # no fault
        if i.code == "sequence_gap" and _outage_of(scene, i):
            continue  # one cause, one verdict: the outage tells what is missing
        if i.code == "sequence_gap":
            gaps.setdefault(i.device, []).append(i)
        else:
            yield _offline(scene, i)
    for device, found in sorted(gaps.items()):
        yield _gap(scene, device, found)
    by_device: dict[str, list[Heard]] = {}
    for heard in conflicts:
        by_device.setdefault(heard.device, []).append(heard)
    for device, twice in sorted(by_device.items()):
        yield _conflict(scene, device, sorted(twice, key=lambda h: h[:4]))
    if scene.reused and scene.round is not None:
        yield _reused(scene, scene.round)


def _device(device: str) -> Scope:
    return Scope("device", device=device)


def _gap(scene: Scene, device: str, found: Sequence[Interruption]) -> Verdict:
    missing = [_missing(i) for i in found]
    events = [i.noticed for i in found]
    before = [i.begin for i in found if i.begin is not None]
    return notice(
        scene,
        kind="device_fault",
        code="sequence_gap",
        scope=_device(device),
        deciding=events[0],
        supporting=in_order([*events[1:], *before], without=events[0]),
        status="final" if scene.closed else "open",
        severity="minor",
        what="Events of a device are missing.",
        expected="A device numbers its events without a gap.",
        observed=f"Missing from {device}, by its own numbers (boot:seq): {', '.join(missing)}; what followed came.",
    )


def _outage_of(scene: Scene, gap: Interruption) -> bool:
    """Whether a gap is what a device did not report while it was known to be away."""
    return gap.begin is not None and any(
        o.code == "device_offline"
        and o.device == gap.device
        and o.begin is not None
        and o.end is not None
        and (o.begin[:4], o.end[:4]) == (gap.begin[:4], gap.noticed[:4])
        for o in scene.interruptions
    )


def _missing(i: Interruption, back: Heard | None = None) -> str:
    """The numbers that are missing before an event: that which shows the gap, or with which the device is back."""
    after = back or i.noticed
    boot, last = after.boot, after.seq - 1
    first = i.begin.seq + 1 if i.begin is not None and i.begin.boot == boot else 0
    return f"{boot}:{first}" if first == last else f"{boot}:{first} to {boot}:{last}"


def _offline(scene: Scene, i: Interruption) -> Verdict:
    ended = [i.end] if i.end is not None else []
    begun = [i.begin] if i.begin is not None and i.begin[:4] != i.noticed[:4] else []
    lost = i.begin is not None and i.end is not None and i.end.boot == i.begin.boot and i.end.seq > i.begin.seq + 1
    missing = f" Missing, by its own numbers (boot:seq): {_missing(i, i.end)}." if lost else ""
    return notice(
        scene,
        kind="device_fault",
        code="device_offline",
        scope=_device(i.device),
        deciding=i.noticed,
        supporting=[*begun, *ended],
        status="remedied" if ended else "open",
        severity="minor",
        what="A device was not reporting.",
        expected="A device reports as long as the table is open.",
        observed=f"{i.device} reported offline or fell silent" + (" and is back." if ended else ".") + missing,
    )


def _conflict(scene: Scene, device: str, twice: Sequence[Heard]) -> Verdict:
    said = ", ".join(f"{h.boot}:{h.seq}" for h in twice)
    return notice(
        scene,
        kind="device_fault",
        code="identity_conflict",
        scope=_device(device),
        deciding=twice[0],
        supporting=twice[1:],
        status="final",
        severity="major",
        what="A device used one identity for two different events.",
        expected="Boot and seq name one event of a device for ever.",
        observed=f"{device} sent different events as {said} (boot:seq); one of them is in force.",
    )


def _reused(scene: Scene, opened: Heard) -> Verdict:
    return notice(
        scene,
        kind="device_fault",
        code="round_reused",
        scope=_device(opened.device),
        deciding=opened,
        status="final",
        severity="major",
        what="A round was opened under an id that this table had used before.",
        expected="A round's id is never used again at its table.",
        observed=f"{opened.device} opened a round under a used id.",
    )


def clock_faults(scene: Scene, found: Iterable[Drift]) -> Iterator[Verdict]:
    """Clocks further apart than they say, once a pair of devices."""
    for d in found:
        first = min(d.shown_by)
        yield notice(
            scene,
            kind="device_fault",
            code="clock_drift",
            scope=_device(d.devices[1]),
            deciding=first,
            supporting=in_order(d.shown_by, without=first),
            status="final" if scene.closed else "open",
            severity="minor",
            what="Two devices' clocks are further apart than the errors they admit.",
            expected="A card is placed after it is drawn.",
            observed=f"{d.devices[1]} saw {len(d.shown_by) // 2} cards placed before {d.devices[0]} drew them, "
            f"by {d.apart_ms} ms more than both clocks may err.",
        )


def table_faults(scene: Scene, carry: Carry, opened: Heard | None, *, first: bool) -> Iterator[Verdict]:
    """Events came before the table was opened, or under a rule set that is not held."""
    if not scene.events:
        return
    begin = scene.events[0]
    late = opened is None or opened > begin
    if first and late and carry.opened is None:
        yield _not_opened(scene, begin, opened)
    elif scene.round is not None and carry.shut is not None:
        yield _not_opened(scene, scene.round, None)
    for h in scene.events:
        if isinstance(h.event, ev.TableOpened):
            yield from _opening(scene, h, h.event)


def _opening(scene: Scene, h: Heard, opened: ev.TableOpened) -> Iterator[Verdict]:
    """What of a table's opening can't be used."""
    config = setup(opened)
    if config is None:
        yield notice(
            scene,
            kind="advisory",
            code="rule_set_unknown",
            scope=Scope("table"),
            deciding=h,
            status="final",
            severity="critical",
            what="The table was opened under a rule set that is not held, so nothing of it is judged.",
            expected="A table names a rule set of `misdeal rules list`.",
            observed=f"The table names {opened.rules}.",
        )
    elif config.odd:
        yield notice(
            scene,
            kind="advisory",
            code="setting_not_usable",
            scope=Scope("table"),
            deciding=h,
            status="final",
            severity="major",
            what="The table was opened with options that can't be used; their defaults stand.",
            expected="An option is a setting or an interpretation of the rule set, with one of its values.",
            observed=f"Not usable: {', '.join(config.odd)}.",
        )


def _not_opened(scene: Scene, begin: Heard, opened: Heard | None) -> Verdict:
    return notice(
        scene,
        kind="device_fault",
        code="table_not_opened",
        scope=Scope("table"),
        deciding=begin,
        supporting=[opened] if opened else [],
        status="remedied" if opened else "open",
        severity="major",
        what="Events came from a table that had not been opened.",
        expected="A table is opened, with its rule set and senses, before anything happens at it.",
        observed="Events came before the table was opened"
        + ("; they are judged under the opening that followed." if opened else "; they are kept until it is."),
    )


def came_too_late(table: str, opened: Heard | None, event: Heard) -> Verdict:
    """An event came when its round had left the kept history, and changes nothing any more."""
    config = opened.event if opened else None
    config = config if isinstance(config, ev.TableOpened) else None
    rules = setup(config) if config else None
    scene = Scene(table, rules, config, None, reused=False, events=[event], closed=True, interruptions=())
    return notice(
        scene,
        kind="advisory",
        code="event_too_late",
        scope=_device(event.device),
        deciding=event,
        status="final",
        severity="minor",
        what="An event came when its round had left the kept history; the round is not judged again.",
        expected="Events come within the rounds and minutes that the table's settings keep.",
        observed=f"{event.device} sent {event.boot}:{event.seq} (boot:seq); "
        "what else of this boot comes too late is counted only.",
    )


def too_long(scene: Scene, first: Heard, most: int) -> Verdict:
    """A round has more events than a round can have; the first of those that are not judged decides."""
    return notice(
        scene,
        kind="advisory",
        code="round_too_long",
        scope=Scope("round"),
        deciding=first,
        status="final" if scene.closed else "open",
        severity="major",
        what="A round had more events than are judged of one round.",
        expected=f"A round, with the time after it, has at most {most} events, heartbeats aside.",
        observed="What came from this event on is kept and not judged, until another round is opened.",
    )


def not_followed(scene: Scene) -> Verdict:
    """The deal departs from the procedure in more ways than can be told apart."""
    assert scene.round is not None
    return notice(
        scene,
        kind="advisory",
        code="round_not_followed",
        scope=Scope("round"),
        deciding=scene.round,
        status="final" if scene.closed else "open",
        severity="major",
        what="The deal of this round could not be followed.",
        expected="A deal departs from the procedure in few enough ways to name them.",
        observed="The cards of the round fit no small explanation; its deal is not judged, its other events are.",
    )


def deck_faults(scene: Scene, s: Setup, f: Facts) -> Iterator[Verdict]:
    """Advisories on a deck that was dealt: what its shuffler told, and cards that can't be in it."""
    if f.first_draw is None:
        return
    if f.bypassed is not None and s.law.rules.device_removal not in s.monitored:
        yield _bypassed(scene, s, f.first_draw, f.bypassed)
    if f.dealt_from is None:
        return
    covered = {} if _not_spoken_of(s, f) else s.law.rules.decks_covered
    told = [d for d in f.deck_doubts if not s.monitored.intersection(covered.get(d, ()))]
    if told:
        yield _deck_integrity(
            scene, s, f, f.first_draw, [f.dealt_from.heard],
            f"Deck {f.dealt_from.deck} was dealt and {' and '.join(SAID[d] for d in told)}.",
        )  # fmt: skip
        return
    for same in impossible(f) if f.odd_card else ():
        what = "held a card that does not belong to it" if same.foreign else "gave one card twice"
        yield _deck_integrity(
            scene, s, f, same.deciding, same.supporting, f"By two reads of each draw, deck {f.deck} {what}."
        )
        return


def _not_spoken_of(s: Setup, f: Facts) -> bool:
    """Whether the atoms on decks leave this one out, and no reshuffle that another paragraph ordered is missing."""
    load = f.dealt_from
    if load is None or load.owed:
        return False
    spared = s.law.rules.decks_spared
    return load.heard.event.into in spared or (load.by_hand and "hand shuffle" in spared)


def advised(scene: Scene, advice: Iterable[Advice]) -> Iterator[Verdict]:
    """What the rule set says although no text orders it."""
    for a in advice:
        if blind(scene, a.absence):
            continue
        yield notice(
            scene,
            kind="advisory",
            code=a.code,
            scope=a.scope,
            deciding=a.deciding,
            supporting=in_order(a.supporting, without=a.deciding),
            status="final",
            severity=a.severity,
            what=a.what,
            expected=a.expected,
            observed=a.observed,
            affected=a.affected,
        )


def _bypassed(scene: Scene, s: Setup, deciding: Heard, installed: Heard[ev.DeviceInstalled]) -> Verdict:
    machine = installed.event.asset or installed.event.kind
    return notice(
        scene,
        kind="advisory",
        code="device_not_removed",
        scope=_device(machine),
        deciding=deciding,
        supporting=in_order([installed], without=deciding),
        status="final",
        severity="info",
        what="A machine stood on the table while its work was done another way.",
        expected=f"A machine that is not used is off the table; no text of {s.law.rules.prefix} orders it.",
        observed=f"The round was dealt past {machine}.",
    )


def _deck_integrity(
    scene: Scene, s: Setup, f: Facts, deciding: Heard, supporting: Sequence[Heard], observed: str
) -> Verdict:
    return notice(
        scene,
        kind="advisory",
        code="deck_integrity",
        scope=Scope("deck", deck=f.deck),
        deciding=deciding,
        supporting=in_order(supporting, without=deciding),
        status="final",
        severity="critical",
        what="A deck was dealt that was not known to be whole and shuffled.",
        expected=f"A deck is dealt whole and shuffled; no text of {s.law.rules.prefix} orders a remedy here.",
        observed=observed,
        affected=affected_by(f.tally),
    )


def uncaused(
    scene: Scene, s: Setup, f: Facts, verdicts: Sequence[Verdict], judged: Callable[[Finding], list[Verdict]]
) -> Iterator[Verdict]:
    """A misdeal or a void was called and nothing was seen that would explain it."""
    seen: set[str] = set()
    for h in f.voids:
        e = h.event
        hand = e.what in ("hand_dead", "hand_void")
        scope = Scope("hand", position=e.position) if hand else Scope("round")
        name = repr(scope)
        caused = any(_explains(v, h, scope) for v in verdicts) or (bool(f.deck_doubts) and not hand)
        if caused or name in seen:
            continue
        seen.add(name)
        begin = scene.round.when if scene.round else h.when
        atom = s.law.rules.uncaused_void
        if atom is not None and not hand:
            yield from judged(
                Finding(
                    atom=atom,
                    deciding=h,
                    unless=(
                        Absence("placements", begin, h.when),
                        Absence("draws", begin, h.when, dealt=True),
                    ),
                    observed="A misdeal was declared; no cause of it was seen.",
                )
            )
            continue
        doubt = any(i.covers(begin, h.when) for i in scene.interruptions)
        yield notice(
            scene,
            kind="advisory",
            code="void_without_cause",
            scope=scope,
            deciding=h,
            status="final",
            severity="info",
            what="A misdeal or a void was declared and no cause for it was seen.",
            expected="A round or a hand is voided for a cause that the rules name.",
            observed=f"The dealer announced {e.what.replace('_', ' ')}; no irregularity had been seen before it.",
            basis="doubtful" if doubt else "observed",
            affected=Affected(positions=(e.position,)) if e.position else None,
        )


def _explains(v: Verdict, h: Heard, scope: Scope) -> bool:
    """Whether a verdict can be why something was declared void: seen before it, and not of another hand."""
    if v.at > from_micros(h.at) or (v.kind == "advisory" and v.code != "deck_integrity"):
        return False
    other = v.scope.position is not None and scope.position is not None and v.scope.position != scope.position
    return not other
