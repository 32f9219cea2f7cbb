"""33.12(a), (h): down cards that show too early, by the dealer or by a player."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.verdicts import Cause, Scope
from stream.deal.words import Position
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, breached, over_reaction, remedied
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nj_winners_pot_33.cards import bonus_wins, card_of, exposures, hand_name, third_card
from stream.rulebook.nj_winners_pot_33.deal import HOLE, streets_of
from stream.rulebook.nj_winners_pot_33.phase import ended_otherwise, is_last_close, revealed
from stream.rulebook.nj_winners_pot_33.registry import checks, duties


@checks.on(ev.CardPlaced, ev.CardTurned, atoms=["33.12(a)-1", "33.12(a)-2", "33.12(a)-3", "33.12(h)"])
def exposed(f: Facts, h: Heard) -> Sequence[Finding]:
    """(a), (h): a hole card of a hand shows before its time; by whom decides which paragraph governs (I-33-ah)."""
    e = h.event
    assert isinstance(e, ev.CardPlaced | ev.CardTurned)
    if e.facing != "up" or e.position == "C":
        return LAWFUL
    if revealed(f, h):
        return LAWFUL
    card = card_of(f, e.position, e.index)
    faces = streets_of(f.settings).faces
    if card > len(faces) or faces[card - 1] == "up":
        return LAWFUL
    if f.folding:
        return f.wait()
    if isinstance(e, ev.CardPlaced) and not f.explained:
        return LAWFUL  # in a deal that could not be followed, which card of a hand it was is not known
    return [replace(x, unless=tuple(_lost(f, h))) for x in _shown_early(f, h, e, card)]


def _lost(f: Facts, h: Heard) -> Iterator[Absence]:
    """What may not have been read: a card dealt to the hand before, or the close of the last betting round."""
    if isinstance(h.event, ev.CardPlaced) and f.round is not None:
        yield Absence("placements", f.round.when, h.when, dealt=True)
    if f.complete_at is not None:
        yield Absence("announcements", f.bets[-1].when if f.bets else f.complete_at.when, h.when)


def _shown_early(f: Facts, h: Heard, e: ev.CardPlaced | ev.CardTurned, card: int) -> Sequence[Finding]:
    by = e.by if isinstance(e, ev.CardTurned) else "dealer"
    third = third_card(f, e.position)
    dealing = card <= HOLE and (third is None or h < third)
    hand = Scope("hand", position=e.position)
    if by == "player" or (by == "unknown" and not dealing):
        said = f"The player at {e.position} turned up" if by == "player" else "It was not seen who turned up"
        near = next((b for b in f.later(h, ev.BettingClosed) if unsure(b, h) and is_last_close(f, b)), None)
        return [
            Finding(
                atom="33.12(h)", deciding=h, scope=hand, supporting=(near,) if near else (),
                cause="actor" if by != "player" else "order" if near else None,
                interpretations=("I-33-ah",), observed=f"{said} card {card} of that hand before the showdown.",
            )
        ]  # fmt: skip
    if card > HOLE:
        return LAWFUL
    if by == "unknown":
        return [
            Finding(
                atom="33.12(a)-1", deciding=h, scope=hand, cause="actor", interpretations=("I-33-ah",),
                observed=f"Hole card {card} of {e.position} was turned up in the deal; by whom was not seen.",
            )
        ]  # fmt: skip
    ups = [u for u in exposures(f, e.position) if u.by == "dealer"]
    others = (u for u in ups if card_of(f, u.position, u.index) != card and third_card(f, e.position, u.heard) is None)
    first = next(others, None)
    if any(card_of(f, u.position, u.index) == card and u.heard < h for u in ups):
        return LAWFUL  # the same card shows once more
    if first is None:
        return _one_up(h, hand, card, third) if dealing else LAWFUL
    return _both_up(f, h, hand, first.heard, dealing=dealing)


def _one_up(h: Heard, hand: Scope, card: int, third: Heard | None) -> list[Finding]:
    said = f"Hole card {card} of {hand_name(hand.position)} showed its face in the deal."
    near = third is not None and unsure(h, third)
    return [
        Finding(
            atom="33.12(a)-1", deciding=h, scope=hand, cause="order" if near else None, interpretations=("I-33-ah",),
            observed=said,
        )
    ]  # fmt: skip


def _both_up(f: Facts, h: Heard, hand: Scope, first: Heard, *, dealing: bool) -> list[Finding]:
    """Both hole cards of a hand show; a bonus wager on it may be saved."""
    late: Cause | None = None if dealing or f.setting("I-33-deadlate") == "dead" else "text"
    reading = () if dealing else ("I-33-deadlate",)
    if hand.position == "D":
        reading = (*reading, "I-33-dealerdead")
    said = f"Both hole cards of {hand_name(hand.position)} showed their faces"
    said += "." if dealing else ", the second when the third card had been dealt."
    found = [
        Finding(
            atom="33.12(a)-2", deciding=h, supporting=(first,), scope=hand, cause=late, interpretations=reading,
            observed=said,
        )
    ]  # fmt: skip
    if late is None and _bonus(f, hand.position) and bonus_wins(f, hand.position):
        found.append(
            Finding(
                atom="33.12(a)-3", deciding=h, supporting=(first,), follows=("33.12(a)-2",),
                scope=Scope("wager", position=hand.position, area="bonus"), interpretations=("I-33-a3",),
                observed=f"The two exposed cards of {hand.position} win its bonus wager.",
            )
        )  # fmt: skip
    return found


def _bonus(f: Facts, hand: Position | None) -> bool:
    return any(s == hand and a == "bonus" for s, a in f.wagers)


@duties.of("33.12(a)-1")
def third_card_down(f: Facts, x: Finding) -> Fulfilment:
    """(a): the hand's third card is dealt face down; (a)-2 takes over where both cards show."""
    hand = x.scope.position
    assert hand is not None
    both = [u for u in exposures(f, hand) if u.by == "dealer" and third_card(f, hand, u.heard) is None]
    if len(both) == HOLE:
        return Fulfilment(outcome="moot", by=(both[1].heard,), reason="Both hole cards showed: the hand is dead.")
    third = third_card(f, hand)
    void = over_reaction(f, x.deciding, hand)
    if void is not None and (third is None or void < third):
        return breached(void, "The hand or the round was given up for it.")
    if third is not None:
        up = third.event.facing == "up"
        if up:
            return breached(third, "The third card of that hand was dealt face up.")
        return remedied(third, said="The third card of that hand was dealt face down.")
    if hand in f.folded or f.closed is not None:
        end = f.closed or x.deciding
        gap = None if hand in f.folded else Absence("placements", x.deciding.when, end.when)
        return Fulfilment(outcome="moot", reason="No third card was due to that hand any more.", absence=gap)
    return OPEN


@duties.of("33.12(h)")
def stays_active(f: Facts, x: Finding) -> Fulfilment:
    """(h): the hand stays active and the round goes on."""
    hand = x.scope.position
    assert hand is not None
    void = over_reaction(f, x.deciding, hand)
    if void is not None:
        return breached(void, "The hand or the round was ended for it.")
    fold = next((d for d in f.decisions if d.event.seat == hand and d.event.act == "fold"), None)
    for h in f.later(x.deciding, ev.CardsCollected):
        taken = h.event.position == hand and (fold is None or fold > h)
        if taken and not revealed(f, h) and f.ending is None:
            return breached(h, "The dealer took up the hand before the showdown.")
    if f.closed is not None and not ended_otherwise(f):
        return remedied(f.closed, said="The hand stayed in play.")
    return OPEN
