"""One example of every event type, one verdict that a replay gave, and what it hides: what schemas and docs show.

They are told in the notation, so that they stay what the types and the engine make of them.
"""

from typing import Any, Final

import msgspec
import orjson

from stream.deal import events as ev
from stream.deal.notation import parse
from stream.deal.verdicts import Verdict, body
from stream.deal.wire import encode
from stream.replay.evidence import Witness, basis, evidence, record

TABLE: Final = "T12"

# Every event type once at least; the first of a type is its example. No round is whole or lawful here.
TELEMETRY: Final = """
- open:nj-double-down-stud-17{currency=USD,approved=["SH1"],options={"auto_shoe":false}} dealer:d4 beat:shoe
- online:shoe{senses=["draws","identity","dealer_hands","shoe_status"]} install:manual_shoe#SH1{side=left}
- S3!sits=p1 shuffle:A shuffled:A=52 load:A>manual_shoe#SH1 order:play_first/supervisor{seats=["S3"],players=["p1"]}
@2026-01-05-104{day=2026-01-05} btn:S4 S3$ante:1000 S3$ante-500 S3$? nmb hands:LR +1=9h S3<1=9h^{confidence=992} * +3
back3 seen:source=Td C1<3=??v C1^=Kd S3!touch S3!handle S3!view S3!left S3!back S3:double/double bet hold:left/away
S3$ante=paid:1000{on=[{"position":"S3","index":1},{"position":"C","index":1}]} take:S3=1 #S3=1 stub- stub:47 stub# .
- ack:5f0c7be2a9d41836/supervisor note:suspicion/supervisor{seats=["S3"]} rule:5f0c7be2a9d41836=upheld/surveillance
- jam:manual_shoe stop:manual_shoe clear:manual_shoe unload:A<manual_shoe shuffle:A shuffle_jam:A shuffle_stop:A
- shuffle_end:A off:A remove:manual_shoe#SH1 offline:shoe{sense=identity} shut
- fix{device=layout,corrects={"device":"layout-12","boot":0,"seq":1},event=
""".strip()

# A card that the layout reader took for another, told anew under the identity of the wrong reading.
CORRECTED: Final = "@2026-01-05-104 hands:LR ~17000 S3<1=9d^{seq=1}"

ROUND: Final = """
- open:nj-double-down-stud-17{approved=["SH1"]} shuffle:A shuffled:A=52 load:A>manual_shoe#SH1
hands:LR S1$ante:10 S3$ante:20 S6$ante:10 nmb S3=4c^ S1=9h^ S6=Jd^ C1=??v C2=Td^ C3=2d^ C4=3d^ nmb C1^=Kd
"""
"""Seat 3 is served before seat 1."""


def telemetry() -> dict[str, dict[str, Any]]:
    """Event type -> one example of it, as it stands on the wire; in the order of the types."""
    right = encode(_at_table(parse(CORRECTED, table=TABLE)[-1])).decode()
    found: dict[str, dict[str, Any]] = {}
    for event in parse(f"{TELEMETRY}{right}}}", table=TABLE):
        tag = str(event.__struct_config__.tag)
        found.setdefault(tag, orjson.loads(encode(_at_table(event))))
    return {tag: found[tag] for tag in ev.TYPES}


def verdict() -> Verdict:
    """The one verdict of `ROUND`."""
    (found,) = _judged().in_force()
    return found


def _judged() -> Witness:
    table = Witness(TABLE)
    for event in parse(ROUND, table=TABLE):
        table.hear(_at_table(event))
    table.settle()
    return table


def evidence_record() -> bytes:
    """What masking hid of that verdict, as it is published."""
    table = _judged()
    view = table.view(table.segments[-1].name)
    assert view is not None
    return record(evidence(basis(view, verdict()), verdict()))


def evidence_body() -> dict[str, Any]:
    """The same, read."""
    out: dict[str, Any] = orjson.loads(evidence_record())
    return out


def verdict_body() -> dict[str, Any]:
    """The body of that verdict, as it is published."""
    out: dict[str, Any] = orjson.loads(body(verdict()))
    return out


def _at_table(event: ev.Event) -> ev.AnyEvent:
    """The same from a device of this table: their ids are unique in the property."""
    out: ev.AnyEvent = msgspec.structs.replace(event, device=f"{event.device}-{TABLE[1:]}")  # type: ignore[assignment]  # of the union, as it was
    return out
