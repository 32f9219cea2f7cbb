"""Which verdict of a round gives way to which: what ends the round makes open hand-level ones moot; roots are named."""

from collections.abc import Sequence

from msgspec.structs import replace

from stream.deal.verdicts import Verdict
from stream.rulebook.findings import Finding, Fulfilment
from stream.rulebook.paragraphs import RuleSet


def settled_by_rank(verdicts: Sequence[Verdict], findings: Sequence[Finding], rules: RuleSet) -> list[Verdict]:
    """The verdicts of one round, each knowing which of the others it follows from or gives way to."""
    endings = [v for v in verdicts if v.atom in rules.ends_round and v.kind == "irregularity" and v.status != "moot"]
    firm = [v for v in endings if v.atom not in rules.yields]
    ending = next(iter(firm or [v for v in endings if v.status in ("remedied", "breached")]), None)
    follows = {(f.atom, f.scope): f.follows for f in findings if f.follows}
    lasting = _lasting(rules)
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


def fair(duty: Fulfilment, x: Finding, findings: Sequence[Finding], rules: RuleSet) -> Fulfilment:
    """How a duty stands; not as breached where it is left open whether something came that ends the round.

    What was done may be the remedy of that: two exposed cards are a misdeal, and one of the reads is not sure.
    """
    lasting = _lasting(rules)
    if duty.outcome != "breached" or x.atom in lasting:
        return duty
    perhaps = next(
        (f for f in findings if f.cause is not None and f.atom in rules.ends_round and f.atom != x.atom), None
    )
    return duty if perhaps is None else replace(duty, cause=duty.cause or perhaps.cause)


def _lasting(rules: RuleSet) -> set[str]:
    """The atoms whose verdicts the end of a round leaves as they are."""
    return {*(a for a in rules.ends_round if a not in rules.yields), *rules.survives}
