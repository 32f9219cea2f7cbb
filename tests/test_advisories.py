"""What is said of devices, openings and decks where no paragraph speaks: each the smallest log that shows it."""

import pytest
from msgspec.structs import replace
from story import judged, told

from stream.deal.events import TableOpened
from stream.deal.notation import parse

DEALT = "S1$ante:10 nmb S1=9h^ C1=??v C2=Td^ C3=2d^ C4=3d^ nmb C1^=Kd S1$ante=collected:10 ."
GIVEN = "shuffle:A shuffled:A=52 load:A>manual_shoe#SH1"
STUD = 'open:nj-double-down-stud-17{approved=["SH1"]}'
RIDE = "S1$1:10 S1$2:10 S1$$:10 nmb"
RIDDEN = "S1!handle S1!view S1:ride/1 C1^{c1} S1:ride/2 C2^=4h S1.1^{s1} S1.2^=9c S1.3^=Jd"
LOST = "S1$1=collected:10 S1$2=collected:10 S1$$=collected:10 ."
POT = (
    "S1$ante:10 nmb S1=??v D=??v S1=??v D=??v S1=8c^ D=As^ S1:check bet * S1=2d^ D=8s^ S1:check bet * S1=??v D=??v "
    "S1:check bet D.1^=Ad D.2^=8d D.5^=4d S1.1^=7h S1.2^=2c S1.5^=Td S1$ante=collected:10 ."
)
POT_2 = (
    "S1$ante:10 nmb S1=??v D=??v S1=??v D=??v S1=9c^ D=Ks^ S1:check bet * S1=3d^ D=9s^ S1:check bet * S1=??v D=??v "
    "S1:check bet D.1^=Kd D.2^=9d D.5^=5d S1.1^=8h S1.2^=3c S1.5^=Jd S1$ante=collected:10 ."
)

LOGS = [
    pytest.param(
        f"- {STUD} {GIVEN}\nS1$ante:10 nmb S1=9h^ C1=??v beat:rack{{seq=3}} beat:rack{{seq=6}}",
        ["sequence_gap device_fault open device:rack"],
        id="a gap is open while its round is",
    ),
    pytest.param(
        f"- {STUD} {GIVEN} beat:rack{{seq=3}}\n{DEALT.replace('nmb C1^', 'beat:rack{seq=6} nmb C1^')}",
        ["sequence_gap device_fault final device:rack"],
        id="and final when it has closed",
    ),
    pytest.param(
        f"- {STUD} {GIVEN}\n{DEALT}\n- offline:rack",
        ["device_offline device_fault open device:rack"],
        id="a device that goes is open until it is back",
    ),
    pytest.param(
        f"- {STUD} {GIVEN}\n{DEALT}\n- offline:rack online:rack",
        ["device_offline device_fault remedied device:rack"],
        id="and then remedied",
    ),
    pytest.param(
        f"- {STUD} {GIVEN} beat:rack{{seq=3}} offline:rack{{seq=4}}\n{DEALT}\n- online:rack{{seq=9}}",
        ["device_offline device_fault remedied device:rack"],
        id="what it did not report while it was away is the same fault",
    ),
    pytest.param(
        f"- {STUD} {GIVEN} beat:rack{{seq=3}} offline:rack{{seq=4}}\n{DEALT}\n"
        "- online:rack{seq=5} beat:rack{seq=9}",
        ["device_offline device_fault remedied device:rack", "sequence_gap device_fault final device:rack"],
        id="what is missing after it was back is another",
    ),
    pytest.param(
        f"- open:no-such-rules {GIVEN}\n{DEALT}",
        ["rule_set_unknown advisory final table"],
        id="a rule set that is not held",
    ),
    pytest.param(
        f'- open:nj-double-down-stud-17{{options={{"I-17-b":"sideways"}}}} {GIVEN}\n{DEALT}',
        ["setting_not_usable advisory final table"],
        id="an option with a value that there is not",
    ),
    pytest.param(
        f'- open:nj-winners-pot-33{{options={{"streets":"down\\u0020up"}}}} btn:D {GIVEN}',
        ["setting_not_usable advisory final table"],
        id="a plan that can't be read",
    ),
    pytest.param(
        f"- {STUD} {GIVEN}\n@r1 {DEALT}\n- stub- stub# {GIVEN}\n@r1 {DEALT}",
        ["round_reused device_fault final device:floor"],
        id="the id of a round used twice",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=51 load:A>manual_shoe\n"
        f"{RIDE} S1=??v S1=??v S1=??v C1=??v C2=??v {RIDDEN.format(c1='=8s', s1='=2s')} {LOST}",
        ["deck_integrity advisory final deck:A"],
        id="a deck counted wrong and dealt, where no text orders its removal",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        f"{RIDE} +1=Jk S1<1=??v S1=??v S1=??v C1=??v C2=??v {RIDDEN.format(c1='=8s', s1='=Jk')} {LOST}",
        ["deck_integrity advisory final deck:A"],
        id="a joker by two reads in a deck that has none",
    ),
    pytest.param(
        f'- open:nsw-let-it-ride{{decks=[{{"id":"A","cards":53}}]}} shuffle:A shuffled:A=53 load:A>manual_shoe\n'
        f"{RIDE} +1=Jk S1<1=??v S1=??v S1=??v C1=??v C2=??v {RIDDEN.format(c1='=8s', s1='=Jk')} {LOST}",
        [],
        id="a joker in a deck of 53",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        f"{RIDE} +1=Jk S1<1=??v S1=??v S1=??v C1=??v C2=??v {RIDDEN.format(c1='=8s', s1='=2s')} {LOST}",
        [],
        id="a joker by one read only",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        f"{RIDE} +1=8s S1<1=??v S1=??v S1=??v +4=8s C1<4=??v C2=??v {RIDDEN.format(c1='=8s', s1='=8s')} {LOST}",
        ["deck_integrity advisory final deck:A"],
        id="one card twice, each time by two reads",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        f"{RIDE} +1=8s S1<1=??v S1=??v S1=??v +4=8s C1<4=??v C2=??v {RIDDEN.format(c1='=8s', s1='=3c')} {LOST}",
        [],
        id="one card twice, and the reveal shows which read was wrong",
    ),
    pytest.param(
        f"- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        f"{RIDE} S1=??v S1=??v S1=??v C1=??v C1^u=8s C2=??v S1!handle S1!view S1:ride/1 S1:ride/2 C2^=4h "
        f"S1.1^=2s S1.2^=9c S1.3^=Jd {LOST}",
        ["12.6-a undetermined:actor final round"],
        id="a community card turned by nobody knows whom",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D shuffle:A/shuffle/hand shuffled:A load:A>manual_shoe\n{POT}\n"
        f"- stub- load:A>manual_shoe btn:S1\n{POT_2}",
        ["deck_integrity advisory final deck:A"],
        id="a deck shuffled by hand, dealt, and loaded again as it was",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D shuffle:A/shuffle/hand shuffled:A load:A>manual_shoe\n{POT}\n"
        f"- stub- shuffle:A/shuffle/hand shuffled:A load:A>manual_shoe btn:S1\n{POT_2}",
        [],
        id="and shuffled by hand again",
    ),
    pytest.param(
        f'- open:nj-double-down-stud-17{{options={{"auto_shoe":true}}}} shuffle:A load:A>auto_shoe\n'
        f"{DEALT.replace('nmb S1=9h^', 'nmb +1{source=auto_shoe} S1<1=9h^')}",
        ["deck_integrity advisory final deck:A"],
        id="a shuffle not complete, of a deck in an automated shoe of which the text does not speak",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D {GIVEN}\nS1$ante:10 S2$ante:10 S3$ante:10 nmb "
        "S2=??v D=??v S5=2c^ S6=3c^ S7=??v "
        "C1=??v S4=9d^ C2=??v S5=??v S5=??v D=3s^ +12 +13 +14 misdeal S1$ante=returned:10 take:S2=1 #S2=1 .",
        ["round_not_followed advisory final round"],
        id="a deal beyond following blames nobody for what was drawn in it",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("log", "expected"), LOGS)
def test_what_is_said(log: str, expected: list[str]) -> None:
    """All that is said of the log, and no more."""
    assert told(judged(parse(log))) == expected


def test_an_identity_used_for_two_events() -> None:
    """The first in force stays; the device is told of, once."""
    events = parse(f"- {STUD} {GIVEN}\n{DEALT}")
    other = replace(next(e for e in events if e.device == "shoe" and e.seq == 1), clock_ms=6)
    assert told(judged([*events, other])) == ["identity_conflict device_fault final device:shoe"]


def test_a_table_that_was_not_opened() -> None:
    """Open while nothing opens it; remedied under the opening that follows."""
    events = parse(f"- {STUD} {GIVEN}\n{DEALT}")
    later = [e for e in events if not isinstance(e, TableOpened)]
    assert told(judged(later))[-1] == "table_not_opened device_fault open table"
