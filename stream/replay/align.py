"""The smallest explanation of a departure: uniform-cost search over named edits of the plan.

At the first act that does not fit, every named edit that would make it fit forks the plan; the cheapest chain
of edits that leads through all acts is the explanation. Costs are data of the rule set. Equal costs are
decided by the order in which edits are tried below, so the answer never depends on arrival or hashing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from stream.rulebook.heard import unsure
from stream.rulebook.steps import Act, Burn, Close, Deal, Departure, Edit, Plan, Step, Variant


class Explanation(Struct, frozen=True):
    """How acts came from a plan: the departures, each act's step, what is left, and whether that is nothing."""

    departures: tuple[Departure, ...]
    matched: tuple[tuple[Step, Act], ...]
    rest: Plan  # what is still to be dealt
    complete: bool
    cost: int
    spent: int


class Weights(Struct, frozen=True):
    """What edits cost, who owns an act (None: whatever was due), and how much the search may spend (nodes)."""

    costs: Mapping[str, int]
    part_of: Callable[[Act], str | None]
    budget: int


Trace = Callable[[Act | None, Act | None], bool]
"""Whether something shows that a reading between two neighbouring acts may be missing."""

_Chain = tuple["_Chain", tuple[Step, Act]] | None


def fits(step: Step, act: Act) -> bool:
    """Whether an act is the step that is due."""
    return at(step, act) and (step.any_face or step.facing == act.facing)


def at(step: Step, act: Act) -> bool:
    """Whether an act lies where the step says, whichever face shows."""
    return step.position == act.position and (not step.exact or step.index == act.index)


def due(rest: Plan, act: Act) -> int | None:
    """Which of the steps that are due now an act is: the first, or where the order is free any of its street."""
    first = rest[0]
    if fits(first, act):
        return 0
    if first.free:
        for j in range(1, len(rest)):
            if not rest[j].free or rest[j].street != first.street:
                break
            if fits(rest[j], act):
                return j
    return None


def explain(
    plan: Plan,
    variants: Sequence[Variant],
    acts: Sequence[Act],
    weights: Weights,
    trace: Trace,
    *,
    closed: bool,
    halted: bool = False,
) -> Explanation | None:
    """The cheapest explanation of the acts as a beginning of the plan (`closed`: as all of it).

    `halted`: the deal was broken off, so whoever was passed over in its last street was left out. None when the
    budget is spent before an explanation is found.
    """
    tie = count()
    heap: list[tuple[int, int, int, Plan, tuple[Departure, ...], _Chain]] = [(0, next(tie), 0, plan, (), None)]
    for variant in variants:
        name = variant.said or variant.name
        departure = Departure("variant", variant.part, None, None, name=name, position=variant.position)
        late = weights.costs.get(f"{variant.cost}_halted") if halted else None
        heappush(heap, (late or weights.costs[variant.cost], next(tie), 0, variant.plan, (departure,), None))
    seen: set[tuple[int, Plan]] = set()
    spent = 0
    while heap and spent < weights.budget:
        cost, _, i, rest, departures, chain = heappop(heap)
        spent += 1
        while i < len(acts) and rest:
            j = due(rest, acts[i])
            if j is None:
                break
            if not isinstance(rest[0], Close) and trace(acts[i - 1] if i else None, acts[i]):
                for _, gone, _, left, _ in _omitted(acts[i], rest, i, traced=True):
                    heappush(heap, (cost + weights.costs["lost"], next(tie), i, left, (*departures, gone), chain))
            chain = (chain, (rest[j], acts[i]))
            i, rest = i + 1, (*rest[:j], *rest[j + 1 :])
        if i == len(acts) and (not closed or not rest) and not _left_out(rest, chain, plan, halted=halted):
            complete = all(isinstance(step, Close) for step in rest)
            matched = _unchain(chain)
            return Explanation(_dated(departures, acts, matched, plan), matched, rest, complete, cost, spent)
        if (i, rest) in seen:
            continue
        seen.add((i, rest))
        for edit, departure, j, plan_, took in _edits(rest, acts, i, weights, trace):
            step_cost = cost + weights.costs[edit]
            link = chain if took is None else (chain, took)
            heappush(heap, (step_cost, next(tie), j, plan_, (*departures, departure), link))
    return None


def _left_out(rest: Plan, chain: _Chain, plan: Plan, *, halted: bool) -> bool:
    """Whether the next card's hand was passed over: a card after it in the plan was dealt, and the deal is broken off.

    Where the order is free the deal is as good as over when all others have their cards.
    """
    step = rest[0] if rest else None
    if chain is None or not isinstance(step, Deal) or not (halted or step.free):
        return False
    place = {s: i for i, s in enumerate(plan)}
    dealt = [link for link, _ in _unchain(chain) if link.street == step.street]
    last = max((place.get(link, -1) for link in dealt), default=-1)
    left = [s for s in rest if isinstance(s, Deal) and s.street == step.street]
    if halted:
        return place.get(step, last) < last
    return all(place.get(s, last) < last for s in left)


_Fork = tuple[Edit, Departure, int, Plan, tuple[Step, Act] | None]


def _edits(rest: Plan, acts: Sequence[Act], i: int, weights: Weights, trace: Trace) -> Iterator[_Fork]:
    """Every named edit at act i with `rest` still due: remedies of reading first, then of dealing."""
    act = acts[i] if i < len(acts) else None
    step = rest[0] if rest else None
    before = acts[i - 1] if i else None
    if isinstance(step, Close):  # nothing showed that this stretch of the deal was over
        yield "close_unseen", Departure("close_unseen", step.part, step, act), i, rest[1:], None
        if act is not None and act.position not in ("gate", None):
            yield "extra", Departure("extra", weights.part_of(act) or step.part, step, act), i + 1, rest, None
        if act is None or act.position not in ("gate", None):
            return
    if act is None:
        if step is not None:  # the deal is over and a step was never taken
            yield from _omitted(None, rest, i, traced=trace(before, None))
        return
    if act.position is None:  # a draw whose placement was not read
        if isinstance(step, Deal | Burn) and trace(before, act):
            yield from _omitted(act, rest, i, traced=True)
        for j in _may_serve(rest):
            one = rest[j]
            yield "lost", Departure("lost", one.part, one, act), i + 1, (*rest[:j], *rest[j + 1 :]), (one, act)
        part = weights.part_of(act) or (step.part if step else "")
        yield "unplaced", Departure("unplaced", part, step, act), i + 1, rest, None
        return
    if act.position == "gate":
        yield _closed_early(step, act, rest, acts, i)
        if isinstance(step, Deal | Burn):
            yield from _omitted(act, rest, i, traced=trace(before, act))
        return
    part = weights.part_of(act) or (step.part if step else "")
    if act.position == "burn":  # a burn is never one moved from elsewhere
        if isinstance(step, Deal):
            yield from _omitted(act, rest, i, traced=trace(before, act))
        yield "extra", Departure("extra", part, step, act), i + 1, rest, None
        return
    if step is not None:
        yield from _faces(step, act, rest, acts, i)
        yield from _order(step, act, rest, acts, i)
        yield from _omitted(act, rest, i, traced=trace(before, act))
    yield "extra", Departure("extra", part, step, act), i + 1, rest, None


def _may_serve(rest: Plan) -> Iterator[int]:
    """The steps that a card seen nowhere may be: the one that is due, where the order is free one a position."""
    if not rest or isinstance(rest[0], Close):
        return
    yield 0
    seen: set[str] = {rest[0].position}
    for j in range(1, len(rest) if rest[0].free else 0):
        if not rest[j].free or rest[j].street != rest[0].street:
            break
        if rest[j].position not in seen:
            seen.add(rest[j].position)
            yield j


def _closed_early(step: Step | None, act: Act, rest: Plan, acts: Sequence[Act], i: int) -> _Fork:
    """A stretch was closed while cards of it were due: as the clocks may have it, or in truth."""
    after = acts[i + 1] if i + 1 < len(acts) else None
    near = after is None or unsure(act.heard, after.heard)
    edit: Edit = "close_unsure" if near and after is not None else "close_early"
    return edit, Departure(edit, "gate", step, act), i + 1, rest, None


def _omitted(act: Act | None, rest: Plan, i: int, *, traced: bool) -> Iterator[_Fork]:
    """The step that is due was left out; or its reading was lost, where the order is free that of any of its street."""
    if not traced:
        yield "skipped", Departure("skipped", rest[0].part, rest[0], act), i, rest[1:], None
        return
    for j in _may_serve(rest):
        yield "lost", Departure("lost", rest[j].part, rest[j], act), i, (*rest[:j], *rest[j + 1 :]), None


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
    return replace(step, facing=act.facing or step.facing)


def _order(step: Step, act: Act, rest: Plan, acts: Sequence[Act], i: int) -> Iterator[_Fork]:
    """The act's own step stands later in the plan, or the due step's act comes later; never past a burn or a close."""
    if not isinstance(step, Deal):
        return
    reach = next((j for j in range(1, len(rest)) if not isinstance(rest[j], Deal)), len(rest))
    sight = next((j for j in range(i + 1, len(acts)) if acts[j].position in ("burn", "gate")), len(acts))
    early = next((j for j in range(1, reach) if fits(rest[j], act)), None)
    lates = [j for j in range(i + 1, min(sight, i + reach)) if fits(step, acts[j])]
    for late in lates:
        k = late - i
        if fits(rest[k], act) and not _only_renames(rest[1:k], step, rest[k]):
            swapped = (rest[k], *rest[1:k], step, *rest[k + 1 :])
            yield "swapped", Departure("swapped", rest[k].part, step, act, acts[late]), i, swapped, None
        moved = (*rest[1 : k + 1], step, *rest[k + 1 :])
        part = rest[early].part if early is not None else step.part
        yield "moved", Departure("moved", part, step, act, acts[late]), i, moved, None
    if early is not None:
        moved = (rest[early], *rest[:early], *rest[early + 1 :])
        yield "moved", Departure("moved", rest[early].part, step, act), i, moved, None


def _only_renames(between: Plan, one: Step, other: Step) -> bool:
    """Whether a swap past these cards is a move: all of them are like one of the two."""
    like = ({(s.position, s.index if s.exact else 0, s.facing) for s in (*between, end)} for end in (one, other))
    return bool(between) and any(len(kinds) == 1 for kinds in like)


def _dated(
    departures: tuple[Departure, ...], acts: Sequence[Act], matched: Sequence[tuple[Step, Act]], plan: Plan
) -> tuple[Departure, ...]:
    """A variant is a departure of the whole: of a hand, it shows there or at the next one."""
    if not departures or departures[0].act is not None or departures[0].edit != "variant" or not acts:
        return departures
    first = departures[0]
    shows = acts[-1]
    if first.position is not None:
        own = [i for i, step in enumerate(plan) if step.position == first.position]
        place = {step: i for i, step in enumerate(plan)}
        if own:  # left out: the first card that comes after one of its own
            shows = next((a for s, a in matched if place.get(s, -1) > own[0]), shows)
        else:  # dealt to where nothing is due
            shows = next((a for s, a in matched if s.position == first.position), shows)
    return (Departure("variant", first.part, None, shows, None, first.name, first.position), *departures[1:])


def _unchain(chain: _Chain) -> tuple[tuple[Step, Act], ...]:
    out = []
    while chain is not None:
        chain, link = chain
        out.append(link)
    return tuple(reversed(out))
