"""33.12(i), (j), (k): shufflers and automated dealing shoes."""

from collections.abc import Sequence
from typing import Final

from stream.deal import events as ev
from stream.deal.verdicts import Scope
from stream.deal.words import Kind
from stream.rulebook.checks import LAWFUL
from stream.rulebook.duties import OPEN, breached, next_draw_of, onward, remedied, shuffled_again
from stream.rulebook.facts import Facts
from stream.rulebook.findings import Absence, Finding, Fulfilment
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.nj_winners_pot_33.phase import ended_and_reshuffled
from stream.rulebook.nj_winners_pot_33.registry import checks, duties


@checks.on(ev.ShuffleJammed, ev.ShuffleStopped, ev.ShuffleAborted, atoms=["33.12(i)"])
def shuffler_stopped(f: Facts, h: Heard) -> Sequence[Finding]:
    """(i): the shuffler jams, stops, or does not end its cycle."""
    e = h.event
    assert isinstance(e, ev.ShuffleJammed | ev.ShuffleStopped | ev.ShuffleAborted)
    facts = f.decks.get(e.deck)
    if facts is not None and facts.method == "hand":
        return LAWFUL
    if f.folding:
        return f.wait()
    if facts is not None and facts.troubled is not h:
        return LAWFUL  # it had failed before, and that is not yet made good
    said = f"The shuffle of deck {e.deck} was not completed."
    return [_reshuffle_due(e.deck, h, said)]


@checks.on(ev.DeckLoaded, atoms=["33.12(i)"])
def loaded_unshuffled(f: Facts, h: Heard) -> Sequence[Finding]:
    """(i): a deck is loaded to be dealt whose cycle never began, is not complete, or only sorted it."""
    e = h.event
    assert isinstance(e, ev.DeckLoaded)
    load = f.loads.get(e.into)
    facts = f.decks.get(e.deck)
    if e.into == "shuffler" or load is None or (load.shuffle == "completed" and not load.sorted):
        return LAWFUL
    if (facts is not None and facts.troubled is not None) or (
        facts is not None and facts.method == "hand" and not load.sorted
    ):
        return LAWFUL  # told when it failed; or shuffled by hand
    if f.folding:
        return f.wait()
    if _in_reshuffle(f, e.deck):
        return LAWFUL
    said = f"Deck {e.deck} was loaded " + (
        "after a sort cycle." if load.sorted else "and its shuffle cycle was not complete."
    )
    told = [x.when for x in (facts.begun, facts.ended) if x is not None] if facts is not None else []
    return [_reshuffle_due(e.deck, h, said, absence=Absence("shuffler", max(told, default=0), h.when))]


def _in_reshuffle(f: Facts, deck: str) -> bool:
    """Whether a reshuffle of this deck is due already, since a round of it was ended; or the round goes on."""
    facts = f.decks.get(deck)
    return (facts is not None and facts.voided) or (f.deck == deck and f.closed is None)


def _reshuffle_due(deck: str, h: Heard, said: str, absence: Absence | None = None) -> Finding:
    scope = Scope("deck", deck=deck)
    return Finding(
        atom="33.12(i)", deciding=h, scope=scope, deck=deck, observed=said, absence=absence, interpretations=("I-33-i",)
    )


@duties.of("33.12(i)")
def shuffled_anew(f: Facts, x: Finding) -> Fulfilment:
    """(i): a new cycle is completed before a card of that deck is dealt (I-33-i)."""
    deck = x.scope.deck
    draw = next_draw_of(f, deck, x.deciding)
    ends = [c for c in onward(f, x.deciding, ev.ShuffleCompleted) if c.event.deck == deck]
    near = next((c for c in ends if draw is not None and c > draw and unsure(c, draw)), None)
    if near is not None and draw is not None:
        return Fulfilment(outcome="breached", by=(draw, near), cause="order", said="It was dealt as the shuffle ended.")
    anew = shuffled_again(f, deck, x.deciding, draw)
    if anew is None and f.setting("I-33-i") == "any_cycle":
        anew = next((h for h in ends if draw is None or h < draw), None)
    if anew is not None:
        return remedied(anew, said="It was shuffled anew.")
    if draw is not None:
        return breached(
            draw,
            "It was dealt and had not been shuffled anew.",
            absence=Absence("shuffler", x.deciding.when, draw.when),
        )
    return OPEN


@checks.on(ev.ShoeJammed, ev.ShoeStopped, atoms=["33.12(j)"])
def auto_shoe_stopped(f: Facts, h: Heard) -> Sequence[Finding]:
    """(j): an automated dealing shoe jams or stops during a round (I-33-round, I-33-j)."""
    e = h.event
    assert isinstance(e, ev.ShoeJammed | ev.ShoeStopped)
    if e.source != "auto_shoe" or f.round is None or f.closed is not None:
        return LAWFUL
    if f.first_draw is None and f.setting("I-33-round") == "first_card":
        return LAWFUL
    if f.folding:
        return f.wait()
    done = f.complete_at is not None
    if done and f.setting("I-33-j") == "settle":
        return LAWFUL
    readings = ("I-33-j", "I-33-round") if done else ("I-33-round",)
    near = f.first_draw is not None and unsure(f.first_draw, h)
    return [
        Finding(
            atom="33.12(j)", deciding=h, interpretations=readings, cause="order" if near else None,
            observed="The automated shoe " + ("jammed." if isinstance(e, ev.ShoeJammed) else "stopped dealing."),
        )
    ]  # fmt: skip


@duties.of("33.12(j)")
def round_void(f: Facts, x: Finding) -> Fulfilment:
    """(j): the round is void; the cards come out of the device and are shuffled with those dealt."""
    return ended_and_reshuffled(f, x, goes_on=(ev.CardPlaced, ev.PlayerDecided, ev.CardDrawn))


@checks.on(ev.CardDrawn, atoms=["33.12(k)"])
def other_dealing(f: Facts, h: Heard) -> Sequence[Finding]:
    """(k): no other method of dealing while an automated dealing shoe is on the table."""
    e = h.event
    assert isinstance(e, ev.CardDrawn)
    kinds: tuple[Kind, ...] = ("auto_shoe", "shuffler") if f.setting("I-33-k") == "any" else ("auto_shoe",)
    machines = [f.installed[k] for k in kinds if k in f.installed]
    if e.source == "auto_shoe" or not machines:
        return LAWFUL
    if any(d is not h and d.event.source == e.source for d in f.draws.values()):
        return LAWFUL  # told at the first card from there
    return [_still_there(f, h, m, f"dealt from {_SOURCE[e.source]}") for m in machines]


_SOURCE: Final = {"manual_shoe": "a manual shoe", "hand": "the hand", "auto_shoe": "an automated shoe"}


@checks.on(ev.ShuffleStarted, atoms=["33.12(k)"])
def other_shuffling(f: Facts, h: Heard) -> Sequence[Finding]:
    """(k): no other method of shuffling while an automated shuffler is on the table."""
    e = h.event
    assert isinstance(e, ev.ShuffleStarted)
    machines = [f.installed.get("shuffler")]
    if f.setting("I-33-k") == "any":
        machines.append(f.installed.get("auto_shoe"))
    if e.method != "hand":
        return LAWFUL
    return [_still_there(f, h, m, "shuffled by hand") for m in machines if m is not None]


def _still_there(f: Facts, h: Heard, machine: Heard, how: str) -> Finding:
    e = machine.event
    assert isinstance(e, ev.DeviceInstalled)
    name = e.asset or e.kind
    gone = (r for r in f.later(h, ev.DeviceRemoved) if r.event.kind == e.kind)
    near = next((r for r in gone if unsure(r, h)), None)
    return Finding(
        atom="33.12(k)", deciding=h, cause="order" if near else "coverage" if e.kind in f.doubted else None,
        absence=Absence("installations", machine.when, h.when),
        supporting=(machine,) if near is None else (machine, near), scope=Scope("device", device=name),
        interpretations=("I-33-k",),
        observed=f"Cards were {how} while {name} was still on the table.",
    )  # fmt: skip
