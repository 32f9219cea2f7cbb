"""Let It Ride, New South Wales Casino Control Authority, rule 12: irregularities, misdeals and what players may not do.

Three cards to each area with a wager, two to the dealer, which become everybody's fourth and fifth. The order of the
deal is not in the source: a plan is dealt by, and no departure from its order is a verdict.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Scope, identify
from stream.deal.words import SEATS, Position, Seat, Setting
from stream.rulebook.checks import LAWFUL, Checks
from stream.rulebook.duties import (
    OPEN,
    ROUND_ENDS,
    Duties,
    Duty,
    breached,
    given_back,
    over_reaction,
    remedied,
    settlements,
    voids,
    won_or_lost,
)
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Advice, Finding, Fulfilment, Reading
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.marks import Up
from stream.rulebook.steps import (
    Announce,
    Burn,
    Close,
    Deal,
    Decide,
    Departure,
    Due,
    Plan,
    Settle,
    Terms,
    Turn,
    Variant,
)

_AREAS: Final = ("1", "2", "$")
_HAND: Final = 3
_COMMUNITY: Final = 2


# --- the deal


def terms(f: Facts) -> Terms:
    """The areas that get cards: those with a wager when the first card is drawn."""
    return f.terms if f.terms is not None else Terms(f.staked(*_AREAS))


def had_wager(_seat: Seat, _f: Facts) -> bool:
    """Never by what follows: that a hand without a wager takes part is the very breach of 12.8."""
    return False


def procedure(on: Terms, settings: Mapping[str, Setting]) -> Iterator[Due]:
    """The deal and the play: rules 8.3 and 8.4 are known from rule 12 alone, the order of the deal is ours."""
    yield Announce("no_more_bets")
    rounds = [(s, i) for s in on.seats for i in range(1, _HAND + 1)]
    if settings["packets"] is not True:
        rounds = [(s, i) for i in range(1, _HAND + 1) for s in on.seats]
    for seat, index in rounds:
        yield _card(seat, index)
    for index in range(1, _COMMUNITY + 1):
        yield Deal("C", index, "down", "dealer", street=1, free=True, any_face=True)
    if settings["dealer_dispensed"] == 3:  # the setting's other value
        yield Burn(1)
    yield Close(1, 1)
    for index in range(1, _COMMUNITY + 1):
        yield Decide(str(index))
        yield Turn("C", index)
    for seat in on.seats:
        for index in range(1, _HAND + 1):
            yield Turn(seat, index)
    yield Settle(_AREAS)


def _card(seat: Seat, index: int) -> Deal:
    return Deal(seat, index, "down", "player", street=1, free=True, any_face=True)


def variants(plan: Plan, on: Terms, seats: int) -> Iterator[Variant]:
    """A hand left out, a hand dealt to an area without a wager."""
    for seat in on.seats:
        rest = tuple(s for s in plan if s.position != seat)
        yield Variant(f"without_{seat}", "player", rest, seat, f"No card was dealt to {seat}.")
    for seat in SEATS[:seats]:
        if seat not in on.seats:
            hand = tuple(_card(seat, index) for index in range(1, _HAND + 1))
            yield Variant(
                f"with_{seat}", "player", (*hand, *plan), seat, f"A hand was dealt to {seat}, where none was due."
            )


def reading(d: Departure, f: Facts) -> Reading | None:
    """How a departure counts: the order is free; after the first handling the single hand's rule looks at it."""
    if d.part in ("burn", "order") or d.edit in ("swapped", "moved"):
        return None
    if d.part == "dealer":
        return Reading(atom="12.2")
    hnd = _first_handling(f)
    act = d.act.heard if d.act else None
    on = hnd is not None and any(p > hnd for p in f.placements)  # the deal went on when cards were handled
    if hnd is not None and act is not None and (act > hnd or (on and act == hnd)):
        return None
    return Reading(atom="12.1", interpretations=("I-NSW-17",))


_checks: Final = Checks()
_duties: Final = Duties()
ATOMS: Final = _checks.atoms
CHECKS: Final = _checks.at
DUTIES: Final[Mapping[str, Duty]] = _duties.of_atom
CLOSES: Final[frozenset[type[ev.Event]]] = frozenset({ev.CardsHandled, ev.PlayerDecided})


def advice(_f: Facts) -> Iterator[Advice]:
    """Nothing beyond the text."""
    yield from ()


# --- what several rules ask


def _first_handling(f: Facts) -> Heard | None:
    """When a player first took up cards in this round."""
    return min(f.handled.values(), default=None)


def _verdict_id(f: Facts, atom: str, scope: Scope) -> str:
    """The id of a verdict of this round, by which people acknowledge it."""
    opened = f.round.event if f.round else None
    name = opened.round if isinstance(opened, ev.RoundOpened) else ""
    return identify(f.opened.table, name, f.opened.rules, atom, scope)


def _acknowledged(f: Facts, atom: str, scope: Scope) -> Heard | None:
    """When the dealer or a supervisor acknowledged a verdict of this round (I-NSW-real)."""
    name = _verdict_id(f, atom, scope)
    for h in f.acks:
        e = h.event
        if isinstance(e, ev.AlertAcknowledged) and e.verdict == name and e.role in ("dealer", "supervisor"):
            return h
    return None


def _over(f: Facts) -> bool:
    """Whether the round has been declared over."""
    return any(v.event.what in ROUND_ENDS for v in f.voids)


def _next_decision(f: Facts, after: Heard, *, but: Position | None = None) -> Heard | None:
    """The first decision after a moment, or the first wager won or lost; a fold of one player aside."""
    for h in f.later(after, ev.PlayerDecided, ev.WagerSettled):
        e = h.event
        if isinstance(e, ev.WagerSettled):
            if e.outcome != "returned" and e.seat != but:
                return h
        elif isinstance(e, ev.PlayerDecided) and not (e.seat == but and e.act == "fold"):
            return h
    return None


def _in_play(f: Facts) -> tuple[Seat, ...]:
    """The seats with a wager that have not folded."""
    seats = f.terms.seats if f.terms else f.staked(*_AREAS)
    return tuple(s for s in seats if s not in f.folded)


def _lying(f: Facts, position: Position) -> int:
    """How many cards lie at a position now: placed there, less those taken up again."""
    return f.counted(position) - sum(t.event.count for t in f.takes if t.event.position == position)


def _all_given_back(f: Facts) -> bool:
    return all(w.settled or w.amount <= 0 for w in f.wagers.values())


def _misdeal(f: Facts, x: Finding) -> Fulfilment:
    """A misdeal: declared, every wager given back, and nothing won or lost (12.4)."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    void = voids(f, x.deciding) or next((v for v in f.voids if v.event.what in ROUND_ENDS), None)
    back = given_back(f, x.deciding)
    if void is None:
        if f.closed is not None:
            return breached(f.closed, "The round was closed and no misdeal was declared.")
        return OPEN
    on = next(f.later(void, ev.PlayerDecided, ev.CardDrawn), None)
    if on is not None:
        return breached(on, "The round went on after the misdeal was declared.")
    if _all_given_back(f) and back:
        return remedied(void, *back, said="A misdeal was declared and the wagers were given back.")
    if f.closed is not None:
        return breached(f.closed, "The round was closed and not every wager had been given back.")
    return OPEN


# --- 12.1 a wrong deal, realised in time


def _realised(f: Facts, since: Heard) -> Heard | None:
    """When the dealer knew that the deal was wrong: by acknowledgement, or shown by an act (I-NSW-real)."""
    known = [h for h in (_acknowledged(f, "12.1", Scope("round")),) if h is not None]
    known += [t for t in f.takes if t > since]
    known += [v for v in f.voids if v > since and v.event.what in ROUND_ENDS]
    return min(known, default=None)


@_duties.of("12.1")
def declared(f: Facts, x: Finding) -> Fulfilment:
    """12.1: realised before anybody handles cards, a misdeal is declared before the first decision or settlement."""
    hnd = _first_handling(f)
    known = _realised(f, x.deciding if hnd is None or x.deciding < hnd else f.placements[0])
    if known is None or (hnd is not None and hnd < known):
        late = known is not None and hnd is not None and unsure(known, hnd)
        if late:
            return Fulfilment(outcome="open", by=(known,) if known else (), cause="order")
        if hnd is not None or f.closed is not None:
            why = "It was not realised before a player handled cards; the rules on single hands apply."
            return Fulfilment(outcome="moot", by=(hnd,) if hnd else (), reason=why)
        return OPEN
    if hnd is not None and unsure(known, hnd):
        return Fulfilment(outcome="open", by=(known, hnd), cause="order")
    void = voids(f, x.deciding) or next((v for v in f.voids if v.event.what in ROUND_ENDS), None)
    on = _next_decision(f, known)
    if on is not None and (void is None or on < void):
        return breached(on, "The dealer knew it and play went on without a misdeal.")
    if void is None:
        return breached(f.closed, "No misdeal was declared.") if f.closed is not None else OPEN
    if any(a in f.endings for a in ("12.2", "12.3", "12.6-a")):
        return OPEN  # the misdeal is one by that rule
    return _misdeal(f, x)


def _governed(f: Facts, hnd: Heard) -> tuple[bool, tuple[str, ...]]:
    """Whether 12.1 governs a wrong deal still when cards are first handled; and what follows from it if it failed."""
    begin = f.placements[0] if f.placements else hnd
    known = _realised_later(f, begin)
    if known is None or known > hnd or unsure(known, hnd):
        return False, ()
    void = voids(f, begin)
    on = _next_decision(f, hnd)
    voided = next((v for v in f.later(hnd, ev.Announced, ev.CardsCollected)), None)
    failed = on is not None and (void is None or on < void)
    return (not failed and voided is None) or (void is not None and not failed), ("12.1",) if failed else ()


def _realised_later(f: Facts, since: Heard) -> Heard | None:
    """As `_realised`, with sight of what is still to come."""
    name = _verdict_id(f, "12.1", Scope("round"))
    for h in sorted([*f.acks, *f.later(since, ev.AlertAcknowledged)]):
        e = h.event
        if isinstance(e, ev.AlertAcknowledged) and e.verdict == name and e.role in ("dealer", "supervisor"):
            return h
    return next((t for t in f.takes if t > since), None)


# --- 12.2, 12.4 misdeals


@_duties.of("12.2", "12.3", "12.6-a")
def misdeal(f: Facts, x: Finding) -> Fulfilment:
    """12.2, 12.3, 12.6: it is a misdeal, with what 12.4 says of one."""
    return _misdeal(f, x)


@_duties.of("12.4")
def wagers_void(f: Facts, x: Finding) -> Fulfilment:
    """12.4: in a misdeal all wagers are void."""
    lost = won_or_lost(settlements(f, x.deciding))
    if lost is not None:
        return breached(lost, "A wager was paid or collected.")
    on = next(f.later(x.deciding, ev.PlayerDecided, ev.CardDrawn), None)
    if on is not None:
        return breached(on, "The round went on.")
    back = given_back(f, x.deciding)
    if _all_given_back(f):
        return remedied(*back, said="The wagers were given back.")
    return breached(f.closed, "Not every wager was given back.") if f.closed is not None else OPEN


# --- 12.3, 12.5 player cards exposed


def _exposed(f: Facts, before: Heard) -> list[Up]:
    """The players' cards that the dealer (or nobody knows who) exposed before a moment, each once."""
    out: dict[tuple[Position, int], Up] = {}
    for u in f.ups:
        if u.position not in ("C", "D") and u.by != "player" and u.heard < before:
            out.setdefault((u.position, u.index), u)
    return list(out.values())


@_checks.on(ev.CardPlaced, ev.CardTurned, atoms=["12.3", "12.5"])
def exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.3, 12.5: one player card exposed in the deal is turned over; two are a misdeal (I-NSW-3v5, I-NSW-exp)."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position in ("C", "D") or (isinstance(e, ev.CardTurned) and e.by == "player"):
        return LAWFUL
    hnd = _first_handling(f)
    if f.decisions or (hnd is not None and isinstance(e, ev.CardTurned)):
        return LAWFUL  # the deal is over; the hands are shown in their time
    if f.folding:
        return f.wait()
    since = f.complete_at
    unless = (
        () if since is None else (Absence("handling", since.when, h.when), Absence("decisions", since.when, h.when))
    )
    return [replace(x, unless=unless) for x in _shown_in_deal(f, h, e)]


def _shown_in_deal(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned) -> Sequence[Finding]:
    before = _exposed(f, h)
    if (e.position, e.index) in {(u.position, u.index) for u in before}:
        return LAWFUL
    if f.setting("I-NSW-3v5") == "at_once":
        before = [u for u in before if f.faces.get((u.position, u.index)) == "up"]
    unknown = isinstance(e, ev.CardTurned) and e.by == "unknown"
    certain = [u for u in before if u.by == "dealer"]
    cause: Cause | None = "actor" if unknown or (before and not certain) else None
    near = (
        next((x for x in f.later(h, ev.CardsHandled) if unsure(x, h)), None) if isinstance(e, ev.CardTurned) else None
    )
    if before:
        return [
            Finding(
                atom="12.3", deciding=h, supporting=tuple(u.heard for u in before), cause=cause,
                interpretations=("I-NSW-3v5", "I-NSW-exp"),
                positions=tuple(sorted({u.position for u in before} | {e.position})),
                observed=f"{len(before) + 1} cards of players were exposed in the deal.",
            )
        ]  # fmt: skip
    return [
        Finding(
            atom="12.5", deciding=h, scope=Scope("card", position=e.position, index=e.index),
            cause=cause or ("order" if near else None), interpretations=("I-NSW-exp",), positions=(e.position,),
            observed=f"Card {e.index} of {e.position} showed its face in the deal.",
        )
    ]  # fmt: skip


@_duties.of("12.5")
def turned_over(f: Facts, x: Finding) -> Fulfilment:
    """12.5: the card is turned over and the deal goes on; it is no misdeal."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "A misdeal was declared for it.")
    hnd = _first_handling(f)
    second = f.endings.get("12.3")
    for t in f.later(x.deciding, ev.CardTurned, ev.CardPlaced):
        if second is not None and t > second:
            return OPEN
        e = t.event
        same = (e.position, e.index) == (x.scope.position, x.scope.index)
        if same and e.facing == "down":
            if hnd is not None and hnd < t:
                if unsure(hnd, t):
                    return Fulfilment(outcome="open", by=(t, hnd), cause="order")
                break
            return remedied(t, said="It was turned over.")
    if hnd is not None and hnd > x.deciding:
        return breached(
            hnd, "It still lay face up when cards were handled.", absence=Absence("turns", x.deciding.when, hnd.when)
        )
    return OPEN


# --- 12.6 community cards exposed


@_checks.on(ev.CardPlaced, ev.CardTurned, atoms=["12.6-a", "12.6-b"])
def community_exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.6: a community card shows before its time: a misdeal, or play goes on once the players handled their cards."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position != "C" or e.index > _COMMUNITY or _over(f):
        return LAWFUL
    by = e.by if isinstance(e, ev.CardTurned) else "dealer"
    undecided = _undecided(f, e.index)
    if (not undecided and isinstance(e, ev.CardTurned)) or by == "player":
        return LAWFUL
    if f.folding:
        return f.wait()
    return [_early(f, h, e, undecided, by)]


def _early(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned, undecided: list[Seat], by: str) -> Finding:
    hands = [s for s in _in_play(f) if _lying(f, s) > 0]
    handled = [s for s in hands if s in f.handled]
    soon = {x.event.seat for x in f.later(h, ev.CardsHandled) if unsure(x, h)}
    late = {s for s, x in f.handled.items() if unsure(x, h)}
    which, cause, reading = _governs(f, hands, set(handled))
    either = {_governs(f, hands, set(handled) | soon)[:2], _governs(f, hands, set(handled) - late)[:2], (which, cause)}
    decided = [d for d in f.later(h, ev.PlayerDecided) if unsure(d, h) and _of(d, e.index)]
    if len(either) > 1 or ({d.event.seat for d in decided} >= set(undecided) and undecided):
        cause = "order"
    since = max((x.when for x in f.handled.values()), default=f.round.when if f.round else h.when)
    said = f"Community card {e.index} showed its face before "
    said += "the deal was over and cards were handled." if not handled else "every player had decided."
    return Finding(
        atom=which, deciding=h, observed=said, cause="actor" if by == "unknown" else cause, interpretations=reading,
        absence=Absence("decisions", since, h.when) if which == "12.6-b" else None,
    )  # fmt: skip


def _governs(f: Facts, hands: list[Seat], handled: set[Seat]) -> tuple[str, Cause | None, tuple[str, ...]]:
    """Which half of 12.6 governs when these have handled their cards (I-NSW-any, I-NSW-6gap)."""
    mine = [s for s in hands if s in handled]
    if not mine:
        if f.complete_at is None:
            return "12.6-a", None, ()
        return "12.6-a", "text" if f.setting("I-NSW-6gap") == "text" else None, ("I-NSW-6gap",)
    if len(mine) == len(hands):
        return "12.6-b", None, ()
    setting = f.setting("I-NSW-any")
    if setting == "text":
        return "12.6-a", "text", ("I-NSW-any",)
    return ("12.6-b" if setting == "any" else "12.6-a"), None, ("I-NSW-any",)


def _of(d: Heard, area: int) -> bool:
    e = d.event
    return isinstance(e, ev.PlayerDecided) and e.area in (None, str(area)) and e.act in ("ride", "retrieve")


def _undecided(f: Facts, area: int) -> list[Seat]:
    """The present players with a hand who have not decided on an area."""
    done = {d.event.seat for d in f.decisions if _of(d, area)}
    void = {v.event.position for v in f.voids}
    return [
        s for s in _in_play(f)
        if s not in done and s not in void and s not in f.absent and _lying(f, s) > 0 and _staked(f, s)
    ]  # fmt: skip


def _staked(f: Facts, seat: Seat) -> bool:
    return any(s == seat and w.amount > 0 and not w.settled for (s, _), w in f.wagers.items())


@_duties.of("12.6-b")
def play_continues(f: Facts, x: Finding) -> Fulfilment:
    """12.6: once the players have handled their cards an exposed community card stops nothing."""
    void = over_reaction(f, x.deciding, None)
    if void is not None:
        return breached(void, "The round was voided.")
    settled = won_or_lost(settlements(f, x.deciding))
    if settled is not None:
        return remedied(settled, said="The wagers were settled.")
    if f.closed is not None and f.ending is None:
        back = given_back(f, x.deciding)
        return breached(back[0], "The wagers were given back.") if back else remedied(f.closed, said="Play went on.")
    return OPEN


# --- 12.7, 12.8 wrong hands after the first handling


@_checks.on(ev.CardsHandled, atoms=["12.7", "12.8"])
def hands_when_handled(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.7, 12.8: when cards are first handled each area with a wager has three cards, and no other has any."""
    if len(f.handled) != 1 or _first_handling(f) is not h or f.terms is None:
        return LAWFUL
    if f.folding:
        return LAWFUL if f.complete_at is not None else f.wait()
    if f.complete_at is None and next(f.later(h, ev.CardDrawn), None) is not None and _dealing_on(f, h):
        return LAWFUL  # the deal goes on; each later card is looked at as it comes
    governed, follows = _governed(f, h)
    if governed:
        return LAWFUL
    found = [_wrong(f, h, s, follows) for s in f.terms.seats if _lying(f, s) != _HAND and s not in f.folded]
    found += [_unbet(h, s, follows) for s in SEATS if s not in f.terms.seats and _lying(f, s) > 0]
    return [x for x in found if x is not None]


def _dealing_on(f: Facts, h: Heard) -> bool:
    """Whether the deal had its lawful next card still before it when cards were handled."""
    return any(p.event.position != "C" or p.event.index <= _COMMUNITY for p in f.later(h, ev.CardPlaced))


@_checks.on(ev.CardPlaced, ev.PlayerDecided, atoms=["12.7", "12.8"])
def hands_afterwards(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.7, 12.8: a card too many that comes after the first handling, or a hand still short when play begins."""
    if not f.handled or f.terms is None or _over(f):
        return LAWFUL
    e = h.event
    if isinstance(e, ev.CardPlaced):
        if e.position in ("C", "D") or (e.draw is not None and f.placed.get(e.draw) is h and h not in f.placements):
            return LAWFUL
        seat = e.position
        if seat not in f.terms.seats:
            return f.wait() or [_unbet(h, seat, ())]
        return f.wait() or [_wrong(f, h, seat, ())] if _lying(f, seat) > _HAND else LAWFUL
    assert isinstance(e, ev.PlayerDecided)
    if len(f.decisions) != 1 or f.folding:
        return LAWFUL
    first = _first_handling(f)
    late = first is not None and any(p > first for p in f.placements)
    return [_wrong(f, h, s, ()) for s in f.terms.seats if late and s not in f.folded and _lying(f, s) < _HAND]


def _wrong(f: Facts, h: Heard, seat: Position, follows: tuple[str, ...]) -> Finding:
    n = _lying(f, seat)
    unread = n < _HAND and _unread(f)
    return Finding(
        atom="12.7", deciding=h, scope=Scope("hand", position=seat), positions=(seat,), follows=follows,
        cause="coverage" if unread else None, interpretations=("I-NSW-17",),
        unless=(Absence("wagers", f.round.when, h.when),) if n == 0 and f.round else (),
        observed=f"The hand at {seat} had {n} cards.",
    )  # fmt: skip


def _unread(f: Facts) -> bool:
    """Whether a card left the source and was seen to lie nowhere."""
    return len(f.placements) + len(f.burned) + len(f.accounted()) < f.last_draw


def _unbet(h: Heard, seat: Position, follows: tuple[str, ...]) -> Finding:
    said = f"Cards lay at {seat}, where there is no wager."
    return Finding(
        atom="12.8", deciding=h, scope=Scope("hand", position=seat), positions=(seat,), follows=follows, observed=said,
        interpretations=("I-NSW-17",),
    )  # fmt: skip


@_duties.of("12.7")
def hand_void(f: Facts, x: Finding) -> Fulfilment:
    """12.7: that hand is void: its wagers are neither won nor lost."""
    hand = x.scope.position
    if _over(f) and not _settled_before_void(f, x, hand):
        void = over_reaction(f, x.deciding, None)
        return breached(void, "The whole round was given up for it.") if void is not None else OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    left = any(s == hand and w.amount > 0 and not w.settled for (s, _), w in f.wagers.items())
    return remedied(*back, said="Its wagers were given back.") if back and not left else OPEN


def _settled_before_void(f: Facts, x: Finding, hand: Position | None) -> bool:
    """Whether a void hand had its wagers back before the round was ended for another cause."""
    void = voids(f, x.deciding)
    back = given_back(f, x.deciding, hand)
    return bool(back) and void is not None and max(back) < void


@_duties.of("12.8")
def counted_and_racked(f: Facts, x: Finding) -> Fulfilment:
    """12.8: the cards are counted and go to the discard rack."""
    hand = x.scope.position
    taken = next((t for t in f.later(x.deciding, ev.CardsCollected) if t.event.position == hand), None)
    for h in f.later(x.deciding, ev.CardsDiscarded, ev.PlayerDecided, ev.WagerSettled):
        e = h.event
        if isinstance(e, ev.CardsDiscarded):
            if e.position != hand:
                continue
            if taken is None or taken > h:
                return breached(h, "The cards went to the rack uncounted.")
            return remedied(taken, h, said="The cards were counted and racked.")
        if e.seat == hand:
            return breached(h, "The hand took part.")
        settled = isinstance(e, ev.WagerSettled) and e.outcome != "returned"
        known = _acknowledged(f, "12.8", x.scope)
        if settled and taken is None and known is not None and known < h:
            return breached(h, "The cards still lay there at settlement.")
    if f.closed is not None:
        return Fulfilment(outcome="moot", reason="Nobody was seen to realise it before the round was over.")
    return OPEN


# --- 12.9, 12.10 wagers that do not comply with rule 5.2


def _complies(f: Facts, amounts: Mapping[str, int]) -> bool:
    """Rule 5.2: equal wagers on the three areas, within the table's limits."""
    limits = f.opened.limits
    bets = [amounts.get(a, 0) for a in _AREAS]
    return len(set(bets)) == 1 and limits.min <= bets[0] <= limits.max


def _retrieves(d: Heard[ev.PlayerDecided], seat: Position | None, area: str) -> bool:
    return (d.event.seat, d.event.act, d.event.area) == (seat, "retrieve", area)


def _amounts(f: Facts, seat: Seat, until: Heard | None = None) -> dict[str, int]:
    """What a player has staked on each area, in minor units; what was lawfully retrieved counts as it was."""
    out: dict[str, int] = {}
    for h in f.chips:
        e = h.event
        if e.seat != seat or (until is not None and h > until):
            continue
        if isinstance(e, ev.WagerPlaced):
            out[e.area] = out.get(e.area, 0) + e.amount
        elif not any(_retrieves(d, seat, e.area) and d < h for d in f.decisions):
            out[e.area] = out.get(e.area, 0) - e.amount
    return out


@_checks.on(ev.WagerRequested, atoms=["12.9", "12.9.1", "12.9.2", "12.10"])
def correction_requested(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.9, 12.10: asked to, the player corrects a wager that does not comply, or (before handling) folds."""
    e = h.event
    assert isinstance(e, ev.WagerRequested)
    amounts = _amounts(f, e.seat)
    if _complies(f, amounts) or _over(f) or f.requested.get(e.seat) is not h:
        return LAWFUL
    if f.folding:
        return f.wait()
    mine = f.handled.get(e.seat)
    soon = next((x for x in f.later(h, ev.CardsHandled) if x.event.seat == e.seat), None)
    near = next((x for x in (mine, soon) if x is not None and unsure(x, h)), None)
    bets = "/".join(str(amounts.get(a, 0)) for a in _AREAS)
    said = f"The wagers of {e.seat} were {bets} on 1, 2 and $ when a correction was asked for."
    begin = f.round.when if f.round else h.when
    if near is not None or mine is None:
        atom, scope = _chosen(f, h, e.seat) if near is None else ("12.9", Scope("player", position=e.seat))
    else:
        atom, scope = "12.10", Scope("player", position=e.seat)
    return [
        Finding(
            atom=atom, deciding=h, scope=scope, positions=(e.seat,), cause="order" if near else None, observed=said,
            supporting=(near,) if near else (), interpretations=("I-NSW-own",),
            unless=(Absence("wagers", begin, h.when), Absence("decisions", begin, h.when)),
        )
    ]  # fmt: skip


def _chosen(f: Facts, h: Heard, seat: Seat) -> tuple[str, Scope]:
    """Which of the two ways the player took before the next decision; neither: 12.9 itself."""
    ends = [x for x in (_next_decision(f, h, but=seat), voids(f, h)) if x is not None]
    for x in f.later(h, ev.PlayerDecided, ev.WagerPlaced, ev.WagerRemoved):
        if ends and x >= min(ends):
            break
        e = x.event
        if e.seat != seat:
            continue
        if isinstance(e, ev.PlayerDecided):
            return "12.9.2", Scope("hand", position=seat)
        return "12.9.1", Scope("player", position=seat)
    return "12.9", Scope("player", position=seat)


@_duties.of("12.9", "12.9.1", "12.10")
def corrected(f: Facts, x: Finding) -> Fulfilment:
    """12.9, 12.9.1, 12.10: the wagers comply before the next decision."""
    asked = x.deciding.event
    assert isinstance(asked, ev.WagerRequested)
    seat = asked.seat
    if _over(f):
        return OPEN
    amounts = _amounts(f, seat, x.deciding)
    end = _next_decision(f, x.deciding, but=seat)
    for h in f.later(x.deciding, ev.WagerPlaced, ev.WagerRemoved, ev.PlayerDecided):
        if end is not None and h > end:
            break
        e = h.event
        if e.seat != seat:
            continue
        if isinstance(e, ev.PlayerDecided):
            if e.act == "fold" and x.atom == "12.10":
                return Fulfilment(
                    outcome="breached", by=(h,), severity="minor", interpretations=("I-NSW-10",),
                    said="The player folded instead, which is not open any more.",
                )  # fmt: skip
            continue
        assert isinstance(e, ev.WagerPlaced | ev.WagerRemoved)
        amounts[e.area] = amounts.get(e.area, 0) + (e.amount if isinstance(e, ev.WagerPlaced) else -e.amount)
        if _complies(f, amounts):
            return remedied(h, said="The wagers were corrected.")
    if end is not None:
        return breached(end, "Play went on and the wagers did not comply.")
    return breached(f.closed, "The wagers did not comply.") if f.closed is not None else OPEN


@_duties.of("12.9.2")
def folded(f: Facts, x: Finding) -> Fulfilment:
    """12.9.2: the cards are collected and the wager is returned, before the next decision."""
    seat = x.scope.position
    if _over(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=seat))
    if lost is not None:
        return breached(lost, "A wager was kept.")
    taken = next((t for t in f.takes if t > x.deciding and t.event.position == seat), None)
    back = given_back(f, x.deciding, seat)
    left = any(s == seat and w.amount > 0 and not w.settled for (s, _), w in f.wagers.items())
    end = _next_decision(f, x.deciding, but=seat)
    done = max([*back, taken], default=None) if taken is not None and back and not left else None
    if done is not None and taken is not None and (end is None or done < end):
        return remedied(taken, *back, said="The cards were collected and the wager returned.")
    if end is not None:
        return breached(end, "Play went on before the cards were collected and the wager returned.")
    return (
        breached(f.closed, "The cards were not collected, or the wager not returned.") if f.closed is not None else OPEN
    )


# --- 12.11 what a supervisor directs


@_checks.on(ev.SupervisorDirected, atoms=["12.11"])
def directed_by_supervisor(_f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11: only a casino supervisor may direct."""
    e = h.event
    assert isinstance(e, ev.SupervisorDirected)
    if e.role == "supervisor" or e.order == "lifted":
        return LAWFUL
    scope = Scope("player", position=e.seats[0]) if e.seats else Scope("table")
    said = f"A direction ({e.order.replace('_', ' ')}) was given by {'the dealer' if e.role == 'dealer' else e.role}."
    return [Finding(atom="12.11", deciding=h, scope=scope, positions=e.seats, observed=said)]


def _orders(f: Facts, order: str) -> Iterator[tuple[Heard, ev.SupervisorDirected]]:
    """A supervisor's directions of one kind in force."""
    for h in f.orders:
        e = h.event
        if isinstance(e, ev.SupervisorDirected) and e.order == order and e.role == "supervisor":
            yield h, e


@_checks.on(ev.CardsHandled, ev.CardTurned, atoms=["12.11.1"])
def plays_first(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.1: the directed player decides before others handle their cards and before the first community card."""
    e = h.event
    for order, directed in _orders(f, "play_first"):
        waiting = [s for s in directed.seats if s in _in_play(f) and not _has_decided(f, s)]
        if not waiting or h < order:
            continue
        if isinstance(e, ev.CardsHandled):
            broken = e.seat not in directed.seats and f.handled.get(e.seat) is h
            said = f"{e.seat} handled cards before {waiting[0]}, who was directed to play first, had decided."
        else:
            assert isinstance(e, ev.CardTurned)
            broken = (
                e.position == "C"
                and e.facing == "up"
                and not any(s not in directed.seats and x > order for s, x in f.handled.items())
            )
            said = f"A community card was shown before {waiting[0]}, who was directed to play first, had decided."
        if not broken:
            continue
        if f.folding:
            return f.wait()
        soon = next((d for d in f.later(h, ev.PlayerDecided) if d.event.seat == waiting[0] and unsure(d, h)), None)
        near = soon or (order if unsure(order, h) else None)
        return [
            Finding(
                atom="12.11.1", deciding=h, supporting=(order,), cause="order" if near else None, observed=said,
                absence=Absence("decisions", order.when, h.when),
            )
        ]  # fmt: skip
    return LAWFUL


def _has_decided(f: Facts, seat: Seat) -> bool:
    return any(d.event.seat == seat for d in f.decisions)


@_checks.on(ev.WagerPlaced, atoms=["12.11.2", "12.11.4"])
def restricted(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.2, 12.11.4: who may not play together does not, and who is precluded does not play."""
    e = h.event
    assert isinstance(e, ev.WagerPlaced)
    found = []
    for order, directed in _orders(f, "preclude"):
        if _is_meant(f, directed, e.seat):
            found.append(
                Finding(
                    atom="12.11.4", deciding=h, supporting=(order,), scope=Scope("player", position=e.seat),
                    positions=(e.seat,), cause="order" if unsure(order, h) else None, unless=_since(order, h),
                    observed=f"A wager was placed at {e.seat}, whose player was precluded.",
                )
            )  # fmt: skip
    for order, directed in _orders(f, "separate"):
        others = [s for s in f.staked(*_AREAS) if s != e.seat and _is_meant(f, directed, s)]
        if others and _is_meant(f, directed, e.seat):
            found.append(
                Finding(
                    atom="12.11.2", deciding=h, supporting=(order,), scope=Scope("table"),
                    positions=(*others, e.seat), cause="order" if unsure(order, h) else None, unless=_since(order, h),
                    observed=f"Players at {', '.join((*others, e.seat))}, who were directed apart, played together.",
                )
            )  # fmt: skip
    return found


def _since(order: Heard, h: Heard) -> tuple[Absence, ...]:
    """A direction may have been lifted, or a seat taken by another, and that not been read."""
    return Absence("supervisor", order.when, h.when), Absence("seating", order.when, h.when)


def _is_meant(f: Facts, directed: ev.SupervisorDirected, seat: Seat) -> bool:
    """Whether a direction is about who sits at a seat: the person where persons were named, else the seat."""
    if directed.players:
        return f.seated.get(seat) in directed.players
    return seat in directed.seats


@_checks.on(ev.SupervisorNoted, atoms=["12.11.3"])
def english_only(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.11.3: told by a supervisor, who alone can hear it."""
    e = h.event
    assert isinstance(e, ev.SupervisorNoted)
    order = next((o for o, _ in _orders(f, "english_only") if o < h), None)
    if e.what != "not_english" or order is None:
        return LAWFUL
    said = "A language other than English was noted after the direction to speak English."
    near = unsure(order, h)
    return [
        Finding(
            atom="12.11.3", deciding=h, supporting=(order,), scope=Scope("table"), positions=e.seats,
            cause="order" if near else None, observed=said, unless=_since(order, h),
        )
    ]  # fmt: skip


# --- 12.12, 12.13 players who are not there


@_checks.on(
    ev.PlayerDecided, ev.CardTurned, ev.CardsCollected, ev.WagerSettled, ev.WagerRemoved, ev.Announced,
    atoms=["12.12", "12.13"],
)  # fmt: skip
def absent_at_decision(f: Facts, h: Heard) -> Sequence[Finding]:
    """12.12, 12.13: a player away when the decision is due: unseen cards are void, seen ones ride."""
    if not f.absent or _over(f) or f.terms is None:
        return LAWFUL
    if f.folding:
        return f.wait()
    e = h.event
    if isinstance(e, ev.PlayerDecided):
        passed = [s for s in f.absent if s < e.seat]
        area = e.area or "1"
    elif isinstance(e, ev.CardTurned):
        if e.position != "C" or e.facing != "up" or e.index > _COMMUNITY:
            return LAWFUL
        passed, area = list(f.absent), str(e.index)
    else:
        assert isinstance(e, ev.CardsCollected | ev.WagerSettled | ev.WagerRemoved | ev.Announced)
        acted_on = e.seat if isinstance(e, ev.WagerSettled | ev.WagerRemoved) else e.position
        passed = [s for s in f.absent if s == acted_on]
        area = "1" if not any(_of(d, 1) for d in f.decisions) else "2"
    return [_away(f, h, s, area) for s in sorted(passed) if _missed(f, h, s, area)]


def _missed(f: Facts, h: Heard, seat: Seat, area: str) -> bool:
    """Whether an absent player has a hand in play and a decision on this area outstanding."""
    if area not in _AREAS[:2] or seat not in _in_play(f) or f.complete_at is None:
        return False
    if not _staked(f, seat) and not isinstance(h.event, ev.WagerSettled | ev.WagerRemoved):
        return False
    decided = any(d.event.seat == seat and _of(d, int(area)) for d in f.decisions)
    return not decided and f.absent[seat] < h and _complies(f, _amounts(f, seat))


def _away(f: Facts, h: Heard, seat: Seat, area: str) -> Finding:
    seen: Heard | None = f.viewed.get(seat)
    if seen is None and f.setting("I-NSW-view") == "handled":
        seen = f.handled.get(seat)
    back = next((x for x in f.later(h, ev.PlayerReturned) if x.event.seat == seat), None)
    near = unsure(f.absent[seat], h) or (back is not None and unsure(back, h))
    begin = f.first_draw.when if f.first_draw else h.when
    said = f"The player at {seat} was away when the decision on area {area} was due"
    return Finding(
        atom="12.13" if seen is not None else "12.12", deciding=h,
        supporting=(f.absent[seat], *((seen,) if seen else ())),
        scope=Scope("hand", position=seat), positions=(seat,), interpretations=("I-NSW-view",),
        cause="order" if near else None, absence=None if seen is not None else Absence("viewing", begin, h.when),
        observed=f"{said}, and {'had' if seen is not None else 'had not'} looked at the cards.",
    )  # fmt: skip


@_duties.of("12.12")
def void_and_returned(f: Facts, x: Finding) -> Fulfilment:
    """12.12: the hand is void and the wager is returned."""
    hand = x.scope.position
    if _over(f):
        return OPEN
    lost = won_or_lost(settlements(f, x.deciding, seat=hand))
    if lost is not None:
        return breached(lost, "A wager of that hand was paid or collected.")
    back = given_back(f, x.deciding, hand)
    left = any(s == hand and w.amount > 0 and not w.settled for (s, _), w in f.wagers.items())
    return remedied(*back, said="Its wagers were returned.") if back and not left else OPEN


@_duties.of("12.13")
def rides(f: Facts, x: Finding) -> Fulfilment:
    """12.13: the wagers that remain ride, with whatever results."""
    hand = x.scope.position
    if _over(f):
        return OPEN
    for h in (x.deciding, *f.later(x.deciding, ev.WagerRemoved, ev.WagerSettled)):
        e = h.event
        if not isinstance(e, ev.WagerRemoved | ev.WagerSettled) or e.seat != hand:
            continue
        lawful = any(_takes_back(f, d, hand, e.area) for d in f.decisions if d < h)
        returned = isinstance(e, ev.WagerRemoved) or (isinstance(e, ev.WagerSettled) and e.outcome == "returned")
        if returned and not lawful:
            return breached(h, "A wager that was to ride was given back.")
    won = won_or_lost(settlements(f, x.deciding, seat=hand))
    left = any(s == hand and w.amount > 0 and not w.settled for (s, _), w in f.wagers.items())
    return remedied(won, said="The wagers rode and were settled.") if won is not None and not left else OPEN


def _takes_back(f: Facts, d: Heard, hand: Position | None, area: str) -> bool:
    """Whether a decision is that of a player who is there, to take back the wager on an area."""
    e = d.event
    if not isinstance(e, ev.PlayerDecided) or e.seat != hand or e.act != "retrieve" or e.area != area:
        return False
    all_moves: list[Heard[ev.PlayerLeft | ev.PlayerReturned]] = [*f.left, *f.back]
    moves = [m for m in all_moves if m < d and m.event.seat == hand]
    return not moves or isinstance(max(moves).event, ev.PlayerReturned)
