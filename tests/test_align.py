"""The explanation of a deal is the cheapest there is, told by a search that was written otherwise."""

from collections.abc import Iterator, Sequence
from itertools import count

import pytest
from generated import BEGIN
from hypothesis import given
from hypothesis import strategies as st

from stream.deal import events as ev
from stream.replay.align import Weights, explain
from stream.rulebook.heard import Heard
from stream.rulebook.steps import Act, Deal, Plan, Variant

COSTS = {
    "skipped": 10, "extra": 10, "wrong_face": 10, "exchanged": 10, "swapped": 10, "moved": 11, "variant": 10,
    "lost": 2, "unplaced": 3,
}  # fmt: skip
PLACES = ("S1", "S2", "C")

Card = tuple[str | None, str | None]  # position and facing; no position: drawn and not seen to be placed


def plan_of(cards: Sequence[Card]) -> Plan:
    """Steps at these positions and faces; each is the next card of its position."""
    index = {p: count(1) for p in PLACES}
    return tuple(Deal(p, next(index[p]), f, "common" if p == "C" else "player") for p, f in cards)  # type: ignore[arg-type,index]  # words


def acts_of(cards: Sequence[Card]) -> list[Act]:
    """Acts at these positions and faces, draw after draw."""
    out = []
    for n, (position, facing) in enumerate(cards, 1):
        said = ev.CardBurned(table="T1", device="layout", boot=0, seq=n, at=BEGIN, clock_ms=5)
        heard = Heard(n, "layout", 0, n, n, said)
        out.append(Act(heard, position, n, facing, n))  # type: ignore[arg-type]  # words
    return out


def explained(
    plan: Plan, variants: Sequence[Variant], acts: list[Act], *, closed: bool, traced: bool, budget: int = 200_000
) -> int | None:
    """What the cheapest explanation costs, as the engine finds it."""
    weights = Weights(COSTS, lambda act: "common" if act.position == "C" else "player", budget)
    found = explain(plan, variants, acts, weights, lambda _a, _b: traced, closed=closed)
    return None if found is None else found.cost


def cheapest(
    plan: Sequence[Card], wholes: Sequence[Sequence[Card]], acts: Sequence[Card], *, closed: bool, traced: bool
) -> int:
    """The same by exhaustion: level by level of cost, all plans and rests that any edits up to it can lead to.

    A state is what is still due and what is still to be explained. Edits are those the design names; they are made at
    the first act that does not fit, as a dealer's error is noticed.
    """
    levels: dict[int, set[tuple[tuple[Card, ...], tuple[Card, ...]]]] = {0: {(tuple(plan), tuple(acts))}}
    levels[COSTS["variant"]] = {(tuple(whole), tuple(acts)) for whole in wholes}
    for cost in range(1000):
        for state in levels.get(cost, ()):
            due, came = _matched(*state)
            if not came and (not closed or not due):
                return cost
            for more, next_state in _edited(due, came, traced=traced):
                levels.setdefault(cost + more, set()).add(next_state)
    raise AssertionError("there is always an explanation")


def _matched(due: tuple[Card, ...], came: tuple[Card, ...]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    same = next((n for n, (a, b) in enumerate(zip(due, came, strict=False)) if a != b), min(len(due), len(came)))
    return due[same:], came[same:]


def _edited(
    due: tuple[Card, ...], came: tuple[Card, ...], *, traced: bool
) -> Iterator[tuple[int, tuple[tuple[Card, ...], tuple[Card, ...]]]]:
    omitted = COSTS["lost" if traced else "skipped"]
    if not came:
        yield omitted, (due[1:], came)
        return
    (position, facing), rest = came[0], came[1:]
    if position is None:
        yield COSTS["unplaced"], (due, rest)
        if due:
            yield COSTS["lost"], (due[1:], rest)
        return
    yield COSTS["extra"], (due, rest)
    if position == "burn" or not due:
        return
    yield omitted, (due[1:], came)
    if due[0][0] == position:
        yield COSTS["wrong_face"], (due[1:], rest)
        run = next((n for n, card in enumerate(due) if card[0] != position), len(due))
        for j in range(1, run):
            if due[j] == (position, facing) and came[j : j + 1] == (due[0],):
                yield COSTS["exchanged"], (((position, facing), *due[1:j], due[0], *due[j + 1 :]), came)
                break
    early = due.index(came[0]) if came[0] in due else None
    late = came.index(due[0]) if due[0] in came else None
    if early is not None and early == late:
        yield COSTS["swapped"], ((due[early], *due[1:early], due[0], *due[early + 1 :]), came)
    if early is not None:
        yield COSTS["moved"], ((due[early], *due[:early], *due[early + 1 :]), came)
    if late is not None and late < len(due):
        yield COSTS["moved"], ((*due[1 : late + 1], due[0], *due[late + 1 :]), came)


CARDS = st.tuples(st.sampled_from(PLACES), st.sampled_from(["up", "down"]))
ODD = CARDS | st.just((None, None)) | st.just(("burn", None))


@st.composite
def deals(draw: st.DrawFn) -> tuple[list[Card], list[Card]]:
    """A plan of up to six cards, and what came of it: a few cards left out, put in, turned or taken out of turn."""
    plan: list[Card] = draw(st.lists(CARDS, min_size=1, max_size=6))
    acts: list[Card] = list(plan)
    for _ in range(draw(st.integers(0, 3))):
        i = draw(st.integers(0, len(acts)))
        match draw(st.integers(0, 3)):
            case 0:
                acts.insert(i, draw(ODD))
            case 1:
                del acts[i : i + 1]
            case 2 if acts:
                acts.insert(i, acts.pop(draw(st.integers(0, len(acts) - 1))))
            case _:
                acts[i : i + 1] = [draw(ODD)]
    return plan, acts


@given(deal=deals(), closed=st.booleans(), traced=st.booleans(), whole=st.booleans())
def test_no_explanation_is_cheaper(
    deal: tuple[list[Card], list[Card]], closed: bool, traced: bool, whole: bool
) -> None:
    """The engine's explanation costs what the cheapest chain of edits costs, found by exhaustion."""
    plan, acts = deal
    wholes = [plan[::-1]] if whole else []
    variants = [Variant("turned round", "player", plan_of(plan[::-1]))] if whole else []
    cost = explained(plan_of(plan), variants, acts_of(acts), closed=closed, traced=traced)
    assert cost == cheapest(plan, wholes, acts, closed=closed, traced=traced)


@given(deal=deals(), closed=st.booleans())
def test_ties_are_always_broken_alike(deal: tuple[list[Card], list[Card]], closed: bool) -> None:
    """The same plan and the same acts have the same explanation, edit by edit, however often it is asked for."""
    plan, acts = plan_of(deal[0]), acts_of(deal[1])
    weights = Weights(COSTS, lambda _: "player", 200_000)
    once, again = (explain(plan, (), list(acts), weights, lambda _a, _b: False, closed=closed) for _ in range(2))
    assert once is not None
    assert again is not None
    assert (once.departures, once.matched, once.spent) == (again.departures, again.matched, again.spent)
    assert once.cost == sum(COSTS[d.edit] for d in once.departures)


def test_a_tie_goes_to_the_edit_named_first() -> None:
    """A card the wrong way up is told as that, and not as one too many and one too few, whatever both would cost."""
    weights = Weights(COSTS | {"skipped": 5, "extra": 5}, lambda _: "player", 400)
    plan, acts = plan_of([("S1", "up"), ("S2", "up")]), acts_of([("S1", "down"), ("S2", "up")])
    found = explain(plan, (), acts, weights, lambda _a, _b: False, closed=True)
    assert found is not None
    assert [d.edit for d in found.departures] == ["wrong_face"]


@pytest.mark.parametrize("budget", [0, 1, 5])
def test_a_spent_budget_explains_nothing(budget: int) -> None:
    """A deal that resembles its plan in nothing is given up when the budget is spent, and found with a larger one."""
    plan = plan_of([("S1", "up"), ("S2", "up"), ("C", "down"), ("C", "up")])
    acts = acts_of([("C", "up"), ("S2", "down"), ("S2", "down"), ("S1", "down")])
    assert explained(plan, (), acts, closed=True, traced=False, budget=budget) is None
    assert explained(plan, (), acts, closed=True, traced=False) is not None
