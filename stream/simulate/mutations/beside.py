"""Atoms that cannot be broken alone, or not in one round: what else is said, and why."""

from typing import Final

BESIDE: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "33.12(a)-2": (("33.12(a)-1 moot",), "The first of the two cards was one exposed card before the second showed."),
    "33.12(a)-3": (
        ("33.12(a)-1 moot", "33.12(a)-2 remedied"),
        "It is about the bonus of a dead hand, and the hand is dead by (a)-2.",
    ),
    "33.12(b)-2": (("33.12(b)-1 remedied", "33.12(b)-1 moot"), "The first of the two was one card before the second."),
    "25.7(e)-freq": ((), "It takes five rounds of one table; what is told is told in the fifth."),
    "25.7(f)-ex": ((), "It takes five rounds of one table; what is told is told in the fifth."),
    "25.7(e)2-m": (("25.7(c)1 final", "25.7(c)2 final", "25.7(c)3 final"), "The misdeal is a breach of (c) itself."),
    "12.3": (("12.5 moot", "12.5 remedied"), "The first of the two was a single card before the second."),
    "12.7": (("12.1 moot",), "The deal was wrong before anybody handled cards, and nobody realised it in time."),
    "12.8": (("12.1 moot",), "The deal was wrong before anybody handled cards, and nobody realised it in time."),
}
"""Atom -> the verdicts that stand beside its own (atom and status), and the reason. What follows from a verdict by its
`root` may stand beside any."""
