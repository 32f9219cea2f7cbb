"""The smallest explanation of a departure: uniform-cost search over named edits of the plan.

At the first act that does not fit, every named edit that would make it fit forks the plan; the cheapest chain
of edits that leads through all acts is the explanation. Costs are data of the rule set. Equal costs are
decided by the order in which edits are tried below, so the answer never depends on arrival or hashing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from msgspec import Struct

from stream.rulebook.steps import Act, Departure, Edit, Plan, Step, Variant


class Explanation(Struct, frozen=True):
    """How acts came from a plan: the departures, each act's step, and whether the plan was dealt to its end."""

    departures: tuple[Departure, ...]
    matched: tuple[tuple[Step, Act], ...]
    complete: bool
    cost: int
    spent: int


class Weights(Struct, frozen=True):
    """What edits cost, who owns a position, and how much the search may spend (nodes)."""

    costs: Mapping[str, int]
    part_of: Callable[[Act], str]
    budget: int


Trace = Callable[[Act | None, Act | None], bool]
"""Whether something shows that a reading between two neighbouring acts may be missing."""

_Chain = tuple["_Chain", tuple[Step, Act]] | None


def fits(step: Step, act: Act) -> bool:
    """Whether an act is the step that is due."""
    return at(step, act) and step.facing == act.facing


def at(step: Step, act: Act) -> bool:
    """Whether an act lies where the step says, whichever face shows."""
    return step.position == act.position and (not step.exact or step.index == act.index)


def explain(
    plan: Plan,
    variants: Sequence[Variant],
    acts: Sequence[Act],
    weights: Weights,
    trace: Trace,
    *,
    closed: bool,
) -> Explanation | None:
    """The cheapest explanation of the acts as a beginning of the plan (`closed`: as all of it).

    None when the budget is spent before one is found.
    """
    tie = count()
    heap: list[tuple[int, int, int, Plan, tuple[Departure, ...], _Chain]] = [(0, next(tie), 0, plan, (), None)]
    for variant in variants:
        departure = Departure("variant", variant.part, None, None, name=variant.name)
        heappush(heap, (weights.costs["variant"], next(tie), 0, variant.plan, (departure,), None))
    seen: set[tuple[int, Plan]] = set()
    spent = 0
    while heap and spent < weights.budget:
        cost, _, i, rest, departures, chain = heappop(heap)
        spent += 1
        while i < len(acts) and rest and fits(rest[0], acts[i]):
            chain = (chain, (rest[0], acts[i]))
            i, rest = i + 1, rest[1:]
        if i == len(acts) and (not closed or not rest):
            return Explanation(_dated(departures, acts), _unchain(chain), not rest, cost, spent)
        if (i, rest) in seen:
            continue
        seen.add((i, rest))
        for edit, departure, j, plan_, took in _edits(rest, acts, i, weights, trace):
            step_cost = cost + weights.costs[edit]
            link = chain if took is None else (chain, took)
            heappush(heap, (step_cost, next(tie), j, plan_, (*departures, departure), link))
    return None


_Fork = tuple[Edit, Departure, int, Plan, tuple[Step, Act] | None]


def _edits(rest: Plan, acts: Sequence[Act], i: int, weights: Weights, trace: Trace) -> Iterator[_Fork]:
    """Every named edit at act i with `rest` still due: remedies of reading first, then of dealing."""
    act = acts[i] if i < len(acts) else None
    step = rest[0] if rest else None
    before = acts[i - 1] if i else None
    if act is None:
        if step is not None:  # the deal is over and a step was never taken
            yield _omitted(step, None, rest, i, trace(before, None))
        return
    if act.position is None:  # a draw whose placement was not read
        if step is not None:
            yield "lost", Departure("lost", step.part, step, act), i + 1, rest[1:], (step, act)
        yield "unplaced", Departure("unplaced", weights.part_of(act), step, act), i + 1, rest, None
        return
    if act.position == "burn":  # a burn is never one moved from elsewhere: it took the place of what was due
        part = step.part if step else weights.part_of(act)
        yield "extra", Departure("extra", part, step, act), i + 1, rest, None
        return
    if step is not None:
        yield from _faces(step, act, rest, acts, i)
        yield from _order(step, act, rest, acts, i)
        yield _omitted(step, act, rest, i, trace(before, act))
    yield "extra", Departure("extra", weights.part_of(act), step, act), i + 1, rest, None


def _omitted(step: Step, act: Act | None, rest: Plan, i: int, traced: bool) -> _Fork:
    edit: Edit = "lost" if traced else "skipped"
    return edit, Departure(edit, step.part, step, act), i, rest[1:], None


def _faces(step: Step, act: Act, rest: Plan, acts: Sequence[Act], i: int) -> Iterator[_Fork]:
    if not at(step, act):
        return
    for j in range(1, min(len(rest), len(acts) - i)):
        later, other = rest[j], acts[i + j]
        if later.position != step.position:
            break
        if at(later, other) and later.facing == act.facing and other.facing == step.facing != act.facing:
            turned = (
                _faced(step, act), *rest[1:j], _faced(later, other), *rest[j + 1 :],
            )  # fmt: skip
            yield "exchanged", Departure("exchanged", step.part, step, act, other), i, turned, None
            break
    yield "wrong_face", Departure("wrong_face", step.part, step, act), i + 1, rest[1:], (step, act)


def _faced(step: Step, act: Act) -> Step:
    return Step(step.position, step.index, act.facing or step.facing, step.part, step.exact)


def _order(step: Step, act: Act, rest: Plan, acts: Sequence[Act], i: int) -> Iterator[_Fork]:
    """The act's own step stands later in the plan, or the due step's act comes later."""
    early = next((j for j in range(1, len(rest)) if fits(rest[j], act)), None)
    late = next((j for j in range(i + 1, len(acts)) if fits(step, acts[j])), None)
    if early is not None and late is not None and late - i == early:
        swapped = (rest[early], *rest[1:early], step, *rest[early + 1 :])
        yield "swapped", Departure("swapped", rest[early].part, step, act, acts[late]), i, swapped, None
    if late is not None and late - i < len(rest):
        moved = (*rest[1 : late - i + 1], step, *rest[late - i + 1 :])
        part = rest[early].part if early is not None else step.part
        yield "moved", Departure("moved", part, step, act, acts[late]), i, moved, None
    if early is not None:
        moved = (rest[early], *rest[:early], *rest[early + 1 :])
        yield "moved", Departure("moved", rest[early].part, step, act), i, moved, None


def _dated(departures: tuple[Departure, ...], acts: Sequence[Act]) -> tuple[Departure, ...]:
    """A variant is a departure of the whole; the last act so far stands for it."""
    if not departures or departures[0].act is not None or departures[0].edit != "variant" or not acts:
        return departures
    first = departures[0]
    return (Departure("variant", first.part, None, acts[-1], None, first.name), *departures[1:])


def _unchain(chain: _Chain) -> tuple[tuple[Step, Act], ...]:
    out = []
    while chain is not None:
        chain, link = chain
        out.append(link)
    return tuple(reversed(out))
