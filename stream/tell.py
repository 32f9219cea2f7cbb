"""A verdict in words for people: which table, what happened, which paragraph, what is due, was it done."""

from collections.abc import Iterator
from textwrap import fill
from typing import Final

from stream.deal.verdicts import NOT_SPECIFIED, Scope, Verdict
from stream.rulebook.paragraphs import Interpretation, ids, load

WIDTH: Final = 110
STATUS: Final = {
    "open": "OPEN: what is due has not been done yet",
    "remedied": "REMEDIED: what was due was done",
    "breached": "BREACHED: what was due was not done, or something else was",
    "moot": "MOOT: what was due can no longer matter",
    "final": "closed: nothing is awaited",
    "withdrawn": "WITHDRAWN: it does not stand any more",
}
_OTHERWISE: Final = {
    ("breach", "final"): "closed: it should have been done before, and nothing is awaited now",
    ("undetermined", "open"): "OPEN: later reports can still settle it",
    ("undetermined", "final"): "closed: it was not settled, and nothing more is awaited",
    ("device_fault", "open"): "OPEN: it lasts",
    ("device_fault", "remedied"): "over: the device reports again, or what was missing has come",
    ("advisory", "open"): "OPEN: later reports can still change it",
}
KIND: Final = {
    "irregularity": "irregularity",
    "breach": "procedure not followed",
    "undetermined": "cannot be told",
    "device_fault": "device fault, not a person's",
    "advisory": "for your information",
}
CAUSE: Final = {
    "order": "the clocks leave open what came first",
    "coverage": "a device was not seeing all of it",
    "identity": "a card was not read for certain",
    "actor": "who did it was not seen",
    "text": "the text leaves the case open",
}
BASIS: Final = {
    "inferred": "inferred: a place was concluded from what came before and after, not read",
    "doubtful": "doubtful: a device fault falls into this round",
}


def scope(s: Scope) -> str:
    """What a verdict is about, in a few words."""
    parts = [
        p
        for p in (
            f"{s.position}.{s.index}" if s.position and s.index else s.position,
            f"draw {s.draw}" if s.draw else "",
            s.area,
            s.deck,
            s.device,
        )
        if p
    ]
    return " ".join([s.level, *parts])


def due(v: Verdict) -> str:
    """What the text orders, before what, by whom and where; or that it orders nothing. Without a full stop."""
    r = v.remedy
    if r.code == NOT_SPECIFIED:
        return "the cited text orders nothing" if v.paragraph else "nothing ordered: no paragraph is broken"
    more = (
        f"Before: {r.due}" if r.due else "",
        f"By: the {r.actor}" if r.actor else "",
        f"Ordered in: {r.paragraph}" if r.paragraph else "",
    )
    return ". ".join(p.rstrip(".") for p in (r.text or r.code, *more) if p)


def who(v: Verdict) -> str:
    """Whose it is, in one word: never a person's where a device's view was not whole."""
    if v.kind == "device_fault":
        return "DEVICE"
    if v.kind == "undetermined" or v.basis == "doubtful":
        return "UNSURE"
    return "NOTE" if v.kind == "advisory" else "PLAYER" if v.scope.level == "player" else "PROCEDURE"


def cite(v: Verdict) -> str:
    """The paragraph, or that none is cited."""
    return v.paragraph or "no paragraph"


def status(v: Verdict) -> str:
    """Where it stands, and why where that is known."""
    ordered = v.kind != "breach" or v.remedy.code != NOT_SPECIFIED
    said = (_OTHERWISE.get((v.kind, v.status)) if ordered else None) or STATUS[v.status]
    return f"{said}. {v.reason}" if v.reason else said


def read_as(v: Verdict) -> Iterator[str]:
    """The open questions of the text that bore on it, with the reading that holds unless the table set another."""
    known: dict[str, Interpretation] = load(v.rules).rules.interpretation if v.rules in ids() and v.rules else {}
    for name in v.interpretations:
        i = known.get(name)
        if i is None:
            yield name
            continue
        others = " or ".join(str(o) for o in i.values if o != i.default)
        unless = f", unless the table's options say {others}" if others else ""
        yield f"{name}: {i.question} By default {i.default}{unless}. {i.why}"


def _at_risk(v: Verdict) -> str:
    a = v.affected
    wagers = ", ".join(f"{w.position} {w.area} {w.amount}" for w in a.wagers)
    rounds = f"rounds {a.first_round} to {a.last_round}: {a.rounds} rounds, {a.hands} hands" if a.rounds else ""
    amount = f"{a.amount} in minor units" if a.amount is not None else ""
    return "; ".join(p for p in (wagers, rounds, amount) if p)


def _evidence(v: Verdict) -> str:
    """Each event by device, boot and number, with what it shows."""
    out = []
    for role, said in (("deciding", "decided by"), ("supporting", "with"), ("remedy", "what followed")):
        events = ", ".join(f"{e.device} {e.boot}:{e.seq}" for e in v.evidence if e.role == role)
        if events:
            out.append(f"{said} {events}")
    return "; ".join(out)


def _entries(v: Verdict) -> Iterator[tuple[str, str]]:
    cause = f": {CAUSE[v.cause]}" if v.cause else ""
    unsure = "If it happened: " if v.kind == "undetermined" and v.remedy.code != NOT_SPECIFIED else ""
    yield "what", v.what
    yield "seen", v.observed
    yield "expected", v.expected
    yield "rule", cite(v) + (f", {v.heading}; {v.edition}" if v.heading else "")
    yield "kind", KIND[v.kind] + cause
    yield "due", unsure + due(v)
    yield "status", status(v)
    if v.root:
        yield "follows", f"verdict {v.root}, its cause"
    for o in v.overrides:
        yield "sets aside", f"{o.paragraph}: {o.why}"
    for said in read_as(v):
        yield "read as", said
    if v.basis != "observed":
        yield "basis", BASIS[v.basis]
    yield "at risk", _at_risk(v)
    yield "evidence", _evidence(v)
    yield "deal", v.deal
    yield "video", f"{v.video.begin[11:19]} to {v.video.end[11:19]} UTC"
    yield "verdict", f"{v.id}  digest {v.digest[:16]}"


def tell(v: Verdict) -> str:
    """A verdict as a short block of text: the gravest first, then what a hearing asks for."""
    where = f"table {v.table}" + (f", round {v.round}" if v.round else ", between rounds")
    about = "" if v.scope.level in ("round", "table") else f", {scope(v.scope)}"
    head = f"{v.at[:19].replace('T', ' ')} UTC  {where}{about}  [{v.severity}]"
    return "\n".join([head, *(_wrapped(label, text) for label, text in _entries(v) if text)])


def _wrapped(label: str, text: str) -> str:
    head = f"  {label:10} "
    return fill(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
