"""The cost of an explanation is the optimum, told by a brute force that shares nothing with the engine.

The brute force makes every edit wherever it can be made, level by level of cost, and not only where an act does not
fit: it skips and loses steps, takes acts for one too many, turns and exchanges faces, moves any card to any place of
its stretch and swaps any two. What it may not do is what the engine lawfully does not do either:

* An act that fits what is due is what was due, never one too many. Where the order is free, all cards of the street
  are due; what is left out of it is the first that is left, unless its reading was lost.
* Cards are moved, swapped and served late within their stretch only: never past a burn or a close, due or done. Burns
  and closes are not moved at all.
* A card served early is the next one of its hand and face. That it is a later one, of the hand's next street, can't be
  seen then: it is one too many for now (33.12(d)), and the later one is left out.
* Faces are exchanged within an unbroken row of cards of one position.
* A swap or an exchange is told only of two cards that were both seen, and a swap not where a move says the same: past
  cards that are all like one of the two.

With one departure (closes aside), and wherever no card has to be moved, swapped or exchanged, the engine's cost is this
optimum. With several at once of which one is a card out of its place, the engine looks for that place as if nothing
else were wrong around it, and may tell it as left out here and one too many there. Then its cost lies between the
optimum (of swaps and early cards without these rules) and that of the cheapest explanation without cards out of place.
Whole deals that are wrong in one way (variants) are held by test_align.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

import pytest
from generated import BEGIN
from hypothesis import given, settings
from hypothesis import strategies as st

from stream.deal import events as ev
from stream.replay.align import Explanation, Weights, explain
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import ids, load
from stream.rulebook.steps import Act, Burn, Close, Deal, Plan

# --- the brute force


class Want(NamedTuple):
    """A step: its number in the plan, where it lies, as the how manieth (0: any) and with which face (empty: any).

    Where `free`, the cards of a `street` come in any order. A card served late has to come before act `until`; `bound`
    is one that has to be seen.
    """

    n: int
    place: str
    nth: int = 0
    face: str = ""
    street: int = 0
    free: bool = False
    until: int = 99
    bound: bool = False


class Came(NamedTuple):
    """An act; no place: drawn, and not seen to be placed.

    `hole`: a reading may be missing before it. `unsure`: the clocks leave open whether it or the next came first.
    """

    place: str
    nth: int = 0
    face: str = ""
    hole: bool = False
    unsure: bool = False


class Case(NamedTuple):
    """What was due and what came, whether that is all, and whether a reading may be missing after the last act."""

    plan: tuple[Want, ...]
    acts: tuple[Came, ...]
    closed: bool = True
    halted: bool = False
    hole: bool = False


Far = tuple[tuple[int, int], ...]  # the last card of each street that was dealt
State = tuple[int, tuple[Want, ...], Far]  # acts explained, steps still due

ANY: Final = 99
CLOSING: Final = {"", "close_unseen", "close_unsure", "close_early"}  # what is no departure
OUT_OF_PLACE: Final = frozenset({"moved", "swapped", "exchanged"})
BETWEEN: Final = ("burn", "gate")


def optimum(
    case: Case, costs: Mapping[str, int], *, most: int = ANY, without: frozenset[str] = frozenset(), apart: bool = True
) -> int | None:
    """The least cost at which at most so many departures explain a case; without `apart` cards alike are told apart."""
    levels: dict[int, set[tuple[int, State]]] = {0: {(0, (0, case.plan, ()))}}
    done: set[tuple[int, State]] = set()
    while levels:
        cost = min(levels)
        todo = levels.pop(cost)
        while todo:
            known = todo.pop()
            if known in done:
                continue
            done.add(known)
            departures, state = known
            if explained(case, state):
                return cost
            for name, after in options(case, state, apart=apart):
                now = departures + (name not in CLOSING) if most < ANY else 0
                if now > most or name in without:
                    continue
                if name:
                    levels.setdefault(cost + costs[name], set()).add((now, after))
                else:
                    todo.add((now, after))
    return None


def explained(case: Case, state: State) -> bool:
    """Whether all is told; in an open round what is left may still come, but for who was passed over.

    A hand was passed over where the deal was broken off and a later card of the street was dealt; and where the order
    is free as soon as all that are left in the street are such hands.
    """
    i, rest, far = state
    if i < len(case.acts) or (case.closed and rest) or any(w.bound for w in rest):
        return False
    if not rest or not far or rest[0].place in BETWEEN:
        return True
    last = dict(far).get(rest[0].street, -1)
    if case.halted:
        return rest[0].n >= last
    left = [w for w in rest if w.street == rest[0].street and w.place not in BETWEEN]
    return not rest[0].free or any(w.n >= last for w in left)


def options(case: Case, state: State, *, apart: bool) -> Iterator[tuple[str, State]]:
    """All that can be told next: an edit and what it leads to; no name: an act is what was due."""
    i, rest, far = state
    came = case.acts[i] if i < len(case.acts) else None
    width = due_now(rest)
    if came is not None:
        yield from told(case, state, came, width)
    if not rest:
        return
    if rest[0].place == "gate":
        if came is None or came.place != "gate":
            yield "close_unseen", (i, rest[1:], far)
        return
    hole = came.hole if came else case.hole
    for k in range(width if hole else 1):
        if not rest[k].bound:
            yield "lost" if hole else "skipped", (i, rest[:k] + rest[k + 1 :], far)
    if rest[0].place != "burn" and came is not None:
        yield from ((name, (i, plan, far)) for name, plan in orders(case, i, rest, apart=apart))


def due_now(rest: Sequence[Want]) -> int:
    """How many steps are due now: one, or what is left of a street of free order."""
    if not rest or not rest[0].free:
        return min(len(rest), 1)
    return next((k for k, w in enumerate(rest) if not w.free or w.street != rest[0].street), len(rest))


def lies(want: Want, came: Came, i: int) -> bool:
    """Whether an act lies where a step says."""
    return want.place == came.place and want.nth in (0, came.nth) and i < want.until


def same(want: Want, came: Came, i: int) -> bool:
    """Whether an act is a step."""
    return lies(want, came, i) and want.face in ("", came.face)


def told(case: Case, state: State, came: Came, width: int) -> Iterator[tuple[str, State]]:
    """What an act can be: what was due, that with the wrong face, a card not seen, one too many, a close too early."""
    i, rest, far = state
    for k, w in enumerate(rest[:width]):
        others = rest[:k] + rest[k + 1 :]
        if same(w, came, i):
            yield "", (i + 1, others, dealt(far, w))
        elif lies(w, came, i):
            yield "wrong_face", (i + 1, others, dealt(far, w))
        elif came.place == "" and w.place != "gate" and not w.bound:
            yield "lost", (i + 1, others, dealt(far, w))
    if any(same(w, came, i) for w in rest[:width]):
        return
    if came.place == "":
        yield "unplaced", (i + 1, rest, far)
    elif came.place == "gate":
        near = came.unsure and i + 1 < len(case.acts)
        yield "close_unsure" if near else "close_early", (i + 1, rest, far)
    else:
        yield "extra", (i + 1, rest, far)


def dealt(far: Far, want: Want) -> Far:
    """The last card of each street, with this step dealt."""
    now = dict(far)
    street, n = (-1, -1) if want.place in BETWEEN else (want.street, want.n)
    now[street] = max(now.get(street, -1), n)
    return tuple(sorted(now.items()))


def orders(case: Case, i: int, rest: tuple[Want, ...], *, apart: bool) -> Iterator[tuple[str, tuple[Want, ...]]]:
    """The same steps in another order, or with two faces exchanged; each of it begins at the step that is due."""
    stretch = next((k for k, w in enumerate(rest) if w.place in BETWEEN), len(rest))
    until = next((j for j in range(i, len(case.acts)) if case.acts[j].place in BETWEEN), len(case.acts))
    late = rest[0]._replace(until=min(until, rest[0].until), bound=apart)
    for k in range(1, stretch):
        yield "moved", (*rest[1 : k + 1], late, *rest[k + 1 :])
        if not apart or not any(alike(w, rest[k]) for w in rest[:k]):
            yield "moved", (rest[k], *rest[:k], *rest[k + 1 :])
        renames = k > 1 and any(all(alike(w, end) for w in rest[1:k]) for end in (rest[0], rest[k]))
        if not apart or not renames:
            yield "swapped", (rest[k]._replace(bound=apart), *rest[1:k], late, *rest[k + 1 :])
    row = next((k for k, w in enumerate(rest) if w.place != rest[0].place), len(rest))
    for k in range(1, row):
        one = rest[0]._replace(face=rest[k].face, bound=True)
        other = rest[k]._replace(face=rest[0].face, bound=True)
        yield "exchanged", (one, *rest[1:k], other, *rest[k + 1 :])


def alike(one: Want, other: Want) -> bool:
    """Whether two steps can't be told apart."""
    return (one.place, one.nth, one.face) == (other.place, other.nth, other.face)


# --- the same cases, told by the engine


def plan_of(plan: Sequence[Want]) -> Plan:
    """The steps as the engine knows them."""
    out: list[Deal | Burn | Close] = []
    index = {w.place: count(1) for w in plan}
    for w in plan:
        n = next(index[w.place])
        if w.place == "burn":
            out.append(Burn(w.street, gate=n))
        elif w.place == "gate":
            out.append(Close(n, w.street))
        else:
            out.append(
                Deal(
                    w.place,  # type: ignore[arg-type]  # a word
                    w.nth or n,
                    "up" if w.face == "up" else "down",
                    "part",
                    exact=bool(w.nth),
                    street=w.street,
                    free=w.free,
                    any_face=not w.face,
                )
            )
    return tuple(out)


def acts_of(acts: Sequence[Came]) -> list[Act]:
    """Acts a second apart, or a millisecond where the order is not sure; closes come from another device."""
    out, ms = [], 0
    for n, a in enumerate(acts, 1):
        said = ev.CardBurned(table="T1", device="layout", boot=0, seq=n, at=BEGIN, clock_ms=5)
        device = "console" if a.place == "gate" else "layout"
        heard = Heard(ms * 1000, device, 0, n, ms * 1000, said)
        out.append(Act(heard, a.place or None, a.nth, a.face or None, n))  # type: ignore[arg-type]  # words
        ms += 1 if a.unsure else 1000
    return out


def engine(case: Case, costs: Mapping[str, int]) -> Explanation:
    """How the engine explains a case, its budget aside."""
    acts = acts_of(case.acts)
    place = {a.heard.seq: i for i, a in enumerate(acts, 1)}

    def trace(before: Act | None, _after: Act | None) -> bool:
        i = place[before.heard.seq] if before is not None else 0
        return case.acts[i].hole if i < len(acts) else case.hole

    weights = Weights(costs, lambda _: "part", 1_000_000)
    found = explain(plan_of(case.plan), (), acts, weights, trace, closed=case.closed, halted=case.halted)
    assert found is not None
    return found


# --- random cases

PLACES: Final = ("S1", "S2", "D", "C")
FACES: Final = st.sampled_from(["up", "down"])


@st.composite
def plans(draw: st.DrawFn, shape: str) -> tuple[Want, ...]:
    """Up to five steps as the games have them: in one order, or streets with burns and closes, in order or free."""
    places = [draw(st.sampled_from(PLACES)) for _ in range(draw(st.integers(1, 5)))]
    if shape == "in order":
        exact = draw(st.booleans())
        index = {p: count(1) for p in PLACES}
        return tuple(Want(n, p, next(index[p]) if exact and p == "C" else 0, draw(FACES)) for n, p in enumerate(places))
    out: list[Want] = []
    street = 1
    for n, p in enumerate(places):
        what = draw(st.sampled_from([p, p, p, *BETWEEN]))
        out.append(Want(n, what, 0, "", street, free=shape == "free" and what == p))
        street += what == "gate"
    return tuple(out)


@st.composite
def cases(draw: st.DrawFn, shape: str) -> Case:
    """A plan, and what came of it: a few acts left out, put in, taken out of turn or for another, and holes."""
    plan = draw(plans(shape))
    acts = [_act(w.place, w.nth, w.face or "down") for w in plan]
    kinds = [*PLACES, "", "burn", *(() if shape == "in order" else ("gate",))]
    odd = st.builds(_act, st.sampled_from(kinds), st.integers(1, 3), FACES)
    for _ in range(draw(st.integers(0, 3))):
        i = draw(st.integers(0, len(acts)))
        match draw(st.integers(0, 3)):
            case 0:
                acts.insert(i, draw(odd))
            case 1:
                del acts[i : i + 1]
            case 2 if acts:
                acts.insert(i, acts.pop(draw(st.integers(0, len(acts) - 1))))
            case _:
                acts[i : i + 1] = [draw(odd)]
    acts = acts[:6]
    holes = draw(st.booleans())
    out = []
    for n, a in enumerate(acts):
        gate = n + 1 < len(acts) and (a.place == "gate") != (acts[n + 1].place == "gate")
        out.append(a._replace(hole=holes and draw(st.booleans()), unsure=gate and draw(st.booleans())))
    return Case(plan, tuple(out), draw(st.booleans()), draw(st.booleans()), holes and draw(st.booleans()))


def _act(place: str, index: int, face: str) -> Came:
    return Came(place) if place in ("", *BETWEEN) else Came(place, index, face)


def _costs(rules: str) -> dict[str, int]:
    return dict(load(rules).rules.departures.costs)


SHAPES: Final = [
    (r, s) for r in ids() for s in ("in order", "streets", "free") if s == "in order" or "close_unseen" in _costs(r)
]


@pytest.mark.parametrize(("rules", "shape"), SHAPES)
def test_the_cost_is_the_optimum(rules: str, shape: str) -> None:
    """No sequence of edits costs less than the explanation of a departure, by any rule set's costs."""
    costs = _costs(rules)

    @settings(max_examples=max(150, settings.default.max_examples // 3 if settings.default else 0))
    @given(case=cases(shape))
    def holds(case: Case) -> None:
        cost = engine(case, costs).cost
        best = optimum(case, costs)
        in_place = optimum(case, costs, without=OUT_OF_PLACE)
        least = optimum(case, costs, apart=False)
        assert best is not None
        assert in_place is not None
        assert least is not None
        assert least <= cost <= in_place
        if best in (in_place, optimum(case, costs, most=1)):
            assert cost == best

    holds()


# --- the smallest examples of what the brute force found


def _case(plan: str, acts: str, *, closed: bool = True, hole: bool = False) -> Case:
    """A case in short: `*` a burn, `|` a close, `?` a card not seen, `!` a hole before an act, `S1^` face up."""
    street = 1
    wants = []
    for n, word in enumerate(plan.split()):
        name = {"*": "burn", "|": "gate"}.get(word, word.rstrip("^"))
        face = "" if "|" in plan or name == "burn" else "up" if word.endswith("^") else "down"
        wants.append(Want(n, name, 0, face, street))
        street += word == "|"
    came = []
    for word in acts.split():
        name = word.strip("!^")
        place = {"*": "burn", "|": "gate", "?": ""}.get(name, name)
        came.append(_act(place, 1, "up" if word.endswith("^") else "down")._replace(hole=word.startswith("!")))
    return Case(tuple(wants), tuple(came), closed=closed, hole=hole)


EXAMPLES: Final = {
    "one card too many at the end of a street": (_case("S1 | *", "S1 S1 | *"), ["extra"]),
    "one burn too many at the end of a street": (_case("S1 | S1", "S1 * | S1"), ["extra"]),
    "one card too many, the round still open": (_case("S1 D | S1 D |", "S1 D S1 | S1 D |", closed=False), ["extra"]),
    "the last card left out and the close not read": (_case("S1 D | * S1", "S1 * S1"), ["skipped", "close_unseen"]),
    "the first of two alike lost": (_case("S1 S1 S2", "!S1 S2"), ["lost"]),
    "one lost before a card not seen": (_case("S1 S2 D", "S1 !?"), ["lost", "lost"]),
    "served late, after another of the hand": (_case("C D C S1", "D C S1 C"), ["moved"]),
    "swapped, with others of the hand between": (_case("S1 S1 S2 S2 D", "D S1 S2 S2 S1"), ["swapped"]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_found_by_brute_force(name: str) -> None:
    """What a wider search found to be cheaper is told so."""
    case, edits = EXAMPLES[name]
    costs = _costs("nj-winners-pot-33")
    found = engine(case, costs)
    assert sorted(d.edit for d in found.departures) == sorted(edits)
    assert found.cost == optimum(case, costs)
