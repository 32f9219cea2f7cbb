"""Finer points of the paragraphs on which no story turns: each the smallest log that shows it."""

import pytest
from story import judged, told

from stream.deal.notation import parse

SHUFFLED = "shuffle:A shuffled:A=52 load:A>manual_shoe#SH1"
STUD = 'open:nj-double-down-stud-17{approved=["SH1"]}'
CROSS = "C1=??v C2=??v C3=??v C4=??v C5=??v"

LOGS = [
    pytest.param(
        f"- {STUD} shuffle:A shuffled:A=52 load:A>hand\n"
        "S1$ante:10 hold:left hold:right nmb +1{source=hand,hand=left} S1<1=9h^{hand=left}",
        ["17.8(a)2.ii breach final round"],
        id="the first hold in the round chooses the hand, before any card is dealt",
    ),
    pytest.param(
        f"- {STUD} beat:shuffler{{seq=3}} beat:shuffler{{seq=6}} load:A>manual_shoe#SH1\nS1$ante:10 nmb S1=9h^ C1=??v",
        [
            "17.8(a)1-order undetermined:coverage open round follows sequence_gap",
            "sequence_gap device_fault final device:shuffler",
        ],
        id="a shuffle may have been lost before any other of that deck was seen",
    ),
    pytest.param(
        "- open:nsw-let-it-ride install:shuffler#SF shuffle:A/shuffle/hand shuffled:A load:A>manual_shoe\n"
        "S1$1:10 S1$2:10 S1$$:10 nmb S1=??v S1=??v",
        ["device_not_removed advisory final device:SF"],
        id="a shuffler stood on the table while the deck was shuffled by hand",
    ),
    pytest.param(
        f"- open:nj-double-cross-25 {SHUFFLED}\n"
        f"S1$ante:10 S2$ante:10 nmb S1=??v S1=??v S2=??v D=??v S2=??v D=??v {CROSS}",
        ["25.7(c)1 breach final round"],
        id="a player's card and the dealer's served in each other's place are one breach of the round",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D {SHUFFLED}\n"
        "S1$ante:10 S5$ante:10 S6$ante:10 nmb S1=??v S5=??v S6=??v D=??v S1=??v S5=??v S6=??v D=??v S1=4d^ S5=4h^ "
        "S6=5h^ D=9h^ S1:check S5:check S6:check bet * S1.1^p=6d S5.1^p=4s dead:S5 S1=Qh^ S6=7c^ D=Ad^ "
        "S1:check S6:check bet",
        ["33.12(h) irregularity breached hand:S5", "33.12(h) irregularity open hand:S1"],
        id="of two players who turned a card, only the one whose hand was called dead was wronged",
    ),
    pytest.param(
        "- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe\n"
        "S1$1:10 S1$2:10 S1$$:10 nmb S1!handle +1 +2 +3 +4 +5 +6 +7 +8 .",
        ["round_not_followed advisory final round"],
        id="where the layout was deaf for a round, no hand of it is said to have been short",
    ),
    pytest.param(
        f"- open:nj-double-cross-25 {SHUFFLED}\n"
        f"S1$ante:10 nmb S1=??v S1=??v D=??v D=??v * {CROSS} stub- stub:41",
        ["25.7(c)3 breach final hand:C", "25.7(e)2-d irregularity open round"],
        id="a burned card is known to lie where it is burned, when the stub is counted",
    ),
    pytest.param(
        f"- open:nj-double-cross-25 {SHUFFLED}\n"
        f"S1$ante:10 nmb S1=??v S1=??v D=??v D=??v {CROSS} +10 back10 stub- stub:42",
        ["25.7(e)2-d irregularity open round"],
        id="a card that went back into the shoe is counted with the stub",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D {SHUFFLED}\nS1$ante:10 nmb S1=??v D=??v +3! misdeal +4! #S1=1 #D=1 .",
        ["33.12(b)-1 irregularity moot round", "33.12(b)-2 irregularity open round"],
        id="a misdeal that was called at the first boxed card stands for the second",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D {SHUFFLED}\n"
        "S1$ante:10 S5$ante:10 nmb S1=2d^ S5=5c^ D=??v S1=3d^ S5=6c^ D=??v dead:S5 "
        "take:S1=2 #S1=2 S1$ante=returned:10 take:S5=2 #S5=2 S5$ante=returned:10 .",
        [
            "33.12(a)-1 irregularity moot hand:S1",
            "33.12(a)-1 irregularity moot hand:S5",
            "33.12(a)-2 irregularity breached hand:S1",
            "33.12(a)-2 irregularity remedied hand:S5",
        ],
        id="a call names one hand: the other exposed hand was never called dead",
    ),
    pytest.param(
        f"- open:nj-winners-pot-33 btn:D {SHUFFLED}\n"
        "S1$ante:10 nmb S1.3=2c^ D=??v S1.2=??v D=??v S1.1=??v D=9h^ S1:check bet",
        ["33.12(a)-1 irregularity remedied hand:S1"],
        id="the first card dealt is a hole card wherever in the hand it lies",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("log", "expected"), LOGS)
def test_what_is_said(log: str, expected: list[str]) -> None:
    """What a log says, all of it."""
    assert sorted(told(judged(parse(log)))) == expected
