"""A whole round, dealt as the rule set's procedure says; or nearly so."""

from collections import Counter
from collections.abc import Iterator

from stream.deal import events as ev
from stream.rulebook.steps import Announce, Bet, Burn, ClearStub, Close, Deal, Decide, Due, Offer, Settle, Turn
from stream.simulate import dealer, play
from stream.simulate.chores import AFTER, BEFORE, CHORES, clear_stub
from stream.simulate.round import Change, Round, Step
from stream.simulate.settle import settle


def deal(r: Round, change: Change | None = None) -> None:
    """Deal a round from the shuffle to its close; `change` is what is done otherwise than it should."""
    steps = _steps(r)
    for step in change(r, steps) if change is not None else steps:
        if isinstance(step, str):
            CHORES[step](r)
        else:
            _do(r, step)


def _steps(r: Round) -> Iterator[Step]:
    yield from BEFORE
    yield from _dues(r)
    yield from AFTER


def _dues(r: Round) -> Iterator[Due]:
    """What is due, asked again whenever a hand has left the play."""
    seen = Counter[Due]()
    asked = True
    while asked:
        asked, held, before = False, dict(r.held), seen.copy()
        for due in r.felt.law.module.procedure(r.terms, r.settings):
            if before[due]:
                before[due] -= 1
                continue
            seen[due] += 1
            yield due
            if r.over:
                return
            if r.held != held:
                asked = True
                break


def _do(r: Round, due: Due) -> None:
    """One thing that is due."""
    match due:
        case Announce(what):
            dealer.say(r, what)
        case Deal(position, index, facing, exact=exact):
            dealer.deal(r, position, facing, index if exact else None)
        case Burn():
            dealer.burn(r)
        case Bet():
            play.bet(r)
        case Close(index):
            if r.bets:
                r.add("floor", ev.BettingClosed, "closed", r.pause(600, 1200), street=index)
            else:
                play.handle(r)
        case Decide(area):
            play.decide(r, area)
        case Offer(area):
            play.offer(r, area)
        case Turn(position, index):
            if r.playing:
                dealer.turn(r, position, index)
        case ClearStub():
            clear_stub(r)
        case Settle(areas):
            settle(r, areas)
