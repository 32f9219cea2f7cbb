"""Which verdict of a round gives way to which: what ends the round makes open hand-level ones moot; roots are named.

A question that a device leaves open follows from what is told of the device: one fault is one root.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from stream.deal.verdicts import Verdict
from stream.replay.drafts import Scene
from stream.rulebook.findings import Finding
from stream.rulebook.paragraphs import RuleSet


def settled_by_rank(verdicts: Sequence[Verdict], findings: Sequence[Finding], rules: RuleSet) -> list[Verdict]:
    """The verdicts of one round, each knowing which of the others it follows from or gives way to."""
    endings = [v for v in verdicts if v.atom in rules.ends_round and v.kind == "irregularity" and v.status != "moot"]
    firm = [v for v in endings if v.atom not in rules.yields]
    ending = next(iter(firm or [v for v in endings if v.status in ("remedied", "breached")]), None)
    follows = {(f.atom, f.scope): f.follows for f in findings if f.follows}
    lasting = {*(a for a in rules.ends_round if a not in rules.yields), *rules.survives}
    out = []
    for verdict in verdicts:
        v = verdict
        behind = follows.get((v.atom, v.scope), ())
        due = v.status == "open" and v.kind == "irregularity" and v.atom not in lasting
        if due and ending is not None and v is not ending and ending.atom not in behind:
            v = replace(v, status="moot", reason=f"The round ended under {ending.paragraph}.")
        root = next((r for atom in behind for r in verdicts if r.atom == atom and r is not verdict), None)
        out.append(v if root is None else replace(v, root=root.id))
    return out


def questions_named(scene: Scene, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of one round, those that are undetermined for want of coverage with the device's as their root.

    Of several devices it is the first, by time and name, of which a fault of this round is told.
    """
    told = {v.scope.device: v for v in reversed(verdicts) if v.kind == "device_fault" and v.code in _AWAY}
    devices = (i.device for i in sorted(scene.interruptions, key=lambda i: (i.noticed[:4], i.device)))
    root = next((told[d] for d in devices if d in told), None)
    if root is None:
        return list(verdicts)
    return [replace(v, root=root.id) if v.cause == "coverage" and v.root is None else v for v in verdicts]


_AWAY: Final = ("sequence_gap", "device_offline")
