"""Clocks that err by more than they say: a fault of the devices, and nobody's breach."""

import pytest
from story import judged, told

from stream.deal.notation import parse

OPENED = '- open:nj-double-down-stud-17{approved=["SH1"]} shuffle:A shuffled:A=52 load:A>manual_shoe#SH1\n'
REST = " C1=??v C2=Td^ C3=2d^ C4=3d^ nmb C1^=Kd S1$ante=collected:10 S3$ante=collected:10 S5$ante=collected:10 ."


def _said(cards: str, begin: str = "S1$ante:10 S3$ante:10 S5$ante:10 nmb ") -> list[str]:
    return told(judged(parse(OPENED + begin + cards + REST)))


def test_two_cards_placed_before_they_were_drawn_show_it() -> None:
    """The layout's clock is behind the shoe's by far more than both admit."""
    early = "+1 ~-400 S1<1=9h^ ~1400 +2 ~-400 S3<2=4c^ ~1400 S5=5c^"
    assert _said(early) == ["clock_drift device_fault final device:layout"]


@pytest.mark.parametrize(
    "cards",
    [
        pytest.param("+1 ~-400 S1<1=9h^ ~1400 S3=4c^ S5=5c^", id="one card may be a number misread"),
        pytest.param("+1 ~-9 S1<1=9h^ ~1400 +2 ~-9 S3<2=4c^ ~1400 S5=5c^", id="within what both clocks may err"),
        pytest.param("S1=9h^ S3=4c^ S5=5c^", id="in the order in which it happens"),
    ],
)
def test_what_the_clocks_allow_is_no_fault(cards: str) -> None:
    """One card alone, or an order within both bounds, proves nothing."""
    assert _said(cards) == []
