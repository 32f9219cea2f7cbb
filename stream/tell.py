"""A verdict in words for people: which table, what happened, which paragraph, what is due, is it still open."""

from typing import Final

from stream.deal.verdicts import NOT_SPECIFIED, Scope, Verdict

STATUS: Final = {
    "open": "OPEN: a remedy or an answer is due",
    "remedied": "remedied",
    "breached": "BREACHED: the remedy did not follow",
    "moot": "moot",
    "final": "closed: nothing is awaited",
    "withdrawn": "WITHDRAWN",
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


def scope(s: Scope) -> str:
    """What a verdict is about, in a few words."""
    parts = [
        p
        for p in (
            s.position,
            f"card {s.index}" if s.index else "",
            f"draw {s.draw}" if s.draw else "",
            s.area,
            s.deck,
            s.device,
        )
        if p
    ]
    return " ".join([s.level, *parts])


def due(v: Verdict) -> str:
    """What the text orders, or that it orders nothing."""
    if v.remedy.code == NOT_SPECIFIED:
        return "the cited text orders nothing" if v.paragraph else "nothing ordered: no paragraph is broken"
    before = f", before {v.remedy.due}" if v.remedy.due else ""
    who = f" ({v.remedy.actor})" if v.remedy.actor else ""
    return f"{v.remedy.text or v.remedy.code}{before}{who}"


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


def tell(v: Verdict) -> str:
    """A verdict as a short block of text."""
    cause = f" ({CAUSE[v.cause]})" if v.cause else ""
    where = f"table {v.table}" + (f", round {v.round}" if v.round else "")
    wagers = ", ".join(f"{w.position} {w.area} {w.amount}" for w in v.affected.wagers)
    lines = [
        f"{v.at[:19].replace('T', ' ')}  {where}  [{v.severity}]  {scope(v.scope)}",
        f"  what      {v.what}",
        f"  seen      {v.observed}",
        f"  rule      {cite(v)}" + (f", {v.heading}; {v.edition}" if v.heading else ""),
        f"  expected  {v.expected}",
        f"  kind      {KIND[v.kind]}{cause}",
        f"  due       {due(v)}",
        f"  status    {STATUS[v.status]}" + (f": {v.reason}" if v.reason else ""),
        *([f"  at risk   {wagers}"] if wagers else []),
        *([f"  read as   {', '.join(v.interpretations)}"] if v.interpretations else []),
        f"  video     {v.video.begin[11:19]} to {v.video.end[11:19]} UTC",
        f"  verdict   {v.id}  digest {v.digest[:16]}",
    ]
    return "\n".join(lines)
