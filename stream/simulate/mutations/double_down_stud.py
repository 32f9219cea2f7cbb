"""What can go wrong at Double Down Stud, and at any game that is dealt from a manual shoe."""

from collections.abc import Callable
from copy import deepcopy

from stream.deal import events as ev
from stream.deal.cards import UNSEEN
from stream.simulate.mutations.registry import edited
from stream.simulate.round import Drawn, Happening, Round


def _pick(r: Round, tag: str, where: Callable[[Happening], bool] = lambda _: True) -> Happening:
    return r.random.choice([h for h in r.of(tag) if where(h)])


def _drop(r: Round, *gone: Happening) -> None:
    r.happenings = [h for h in r.happenings if not any(h is g for g in gone)]


def _pair(r: Round, place: Happening) -> tuple[Happening, Happening]:
    """The draw and the placement of one card."""
    return next(h for h in r.of("draw") if h.card is place.card), place


def _other_hand(h: Happening) -> None:
    h.fields["hand"] = "left" if h.fields["hand"] == "right" else "right"


def _at_seat(h: Happening) -> bool:
    return str(h.fields["position"]).startswith("S")


def _common(r: Round) -> list[Happening]:
    return [h for h in r.of("place") if h.fields["position"] == "C"]


# --- what the cards come from, and how the deal begins


@edited("shoe")
def auto_shoe(r: Round) -> None:
    """The cards come from an automated dealing shoe."""
    for h in r.of("draw"):
        h.fields["source"] = "auto_shoe"
        h.fields.pop("hand")
    for h in r.of("load"):
        h.fields["into"] = "auto_shoe"


@edited("shoe")
def unlisted_shoe(r: Round) -> None:
    """The deck goes into a shoe that is not on the list."""
    for h in r.of("load"):
        h.fields["asset"] = "SH-unlisted"
    r.tell("device:SH-unlisted")


def _no_first_call(r: Round) -> None:
    _drop(r, r.of("call")[0])


def _late_first_call(r: Round) -> None:
    r.of("call")[0].ms = r.of("draw")[0].ms + 1200


@edited("shoe")
def shoe_without_call(r: Round) -> None:
    """A deal from the shoe begins without the first "No more bets"."""
    _no_first_call(r)


@edited("hand")
def hand_without_call(r: Round) -> None:
    """A deal from the hand begins without the first "No more bets"."""
    _no_first_call(r)


@edited("shoe")
def shoe_late_call(r: Round) -> None:
    """In a deal from the shoe the first "No more bets" comes after the first card."""
    _late_first_call(r)


@edited("hand")
def hand_late_call(r: Round) -> None:
    """In a deal from the hand the first "No more bets" comes after the first card."""
    _late_first_call(r)


@edited("shoe")
def loaded_unshuffled(r: Round) -> None:
    """The deck is loaded without having been shuffled."""
    _drop(r, *r.of("shuffle"), *r.of("shuffled"))


@edited("hand")
def shuffled_by_hand(r: Round) -> None:
    """The deck is shuffled by hand and dealt from the hand."""
    for h in r.of("shuffle"):
        h.fields["method"] = "hand"


# --- the dealer's hands


@edited("shoe")
def wrong_hand_draws(r: Round) -> None:
    """One card is drawn with the wrong hand."""
    _other_hand(_pick(r, "draw"))


@edited("shoe")
def wrong_hand_places(r: Round) -> None:
    """One card is placed with the wrong hand."""
    _other_hand(_pick(r, "place"))


@edited("hand")
def hand_changed(r: Round) -> None:
    """The deck goes to the other hand in the middle of the deal."""
    draws = r.of("draw")
    at = draws[len(draws) // 2]
    held = Happening(at.ms - 100, "shoe", ev.DeckHeld, {"hand": "right", "zone": "container"}, "hold")
    for h in [*draws, *r.of("place")]:
        if h.ms >= at.ms:
            h.fields["hand"] = "left"
    r.happenings.append(held)


@edited("hand")
def deck_away(r: Round) -> None:
    """The deck is held away from the container for two seconds."""
    at = r.of("draw")[1].ms + 20
    for ms, zone in ((at, "away"), (at + 2000, "container")):
        r.happenings.append(Happening(ms, "shoe", ev.DeckHeld, {"hand": "left", "zone": zone}, "hold"))


@edited("hand")
def holding_hand_draws(r: Round) -> None:
    """The hand that holds the deck takes one card."""
    _pick(r, "draw").fields["hand"] = "left"


@edited("hand")
def second_card(r: Round) -> None:
    """One card is not the top card."""
    h = _pick(r, "draw")
    h.fields["top"] = False
    assert h.card is not None
    r.tell(h.card)


# --- the deal


@edited()
def seat_face_down(r: Round) -> None:
    """One player's card is dealt face down."""
    place = _pick(r, "place", _at_seat)
    place.fields |= {"facing": "down", "card": UNSEEN}
    r.positions = (place.fields["position"],)


@edited()
def seat_skipped(r: Round) -> None:
    """One player gets no card."""
    place = _pick(r, "place", _at_seat)
    seat = place.fields["position"]
    _drop(r, *_pair(r, place), *(h for h in r.of("rack") if h.fields.get("position") == seat))
    for h in r.of("settle"):
        h.fields["on"] = tuple(c for c in h.fields["on"] if c.position != seat)
    r.positions = (seat,)


@edited()
def seats_swapped(r: Round) -> None:
    """Two players are served in each other's place."""
    seats = [h for h in r.of("place") if _at_seat(h)]
    i = r.random.randrange(len(seats) - 1)
    a, b = seats[i], seats[i + 1]
    a.fields["position"], b.fields["position"] = b.fields["position"], a.fields["position"]
    r.positions = (b.fields["position"], a.fields["position"])


@edited()
def seat_extra(r: Round) -> None:
    """One player gets two cards."""
    place = _pick(r, "place", _at_seat)
    _again(r, place)
    r.positions = (place.fields["position"],)


def _again(r: Round, place: Happening) -> None:
    """The same position gets one card more, at once."""
    draw, _ = _pair(r, place)
    after = place.ms + 50
    for h in r.happenings:
        if h.ms > place.ms:
            h.ms += 1000
    card = Drawn(r.cards.pop())
    more = deepcopy(draw), deepcopy(place)
    for h, ms in zip(more, (after + 400, after + 700), strict=True):
        h.ms, h.card = ms, card
        h.fields["card"] = card.card if h.fields.get("facing") != "down" else UNSEEN
    top = max(h.fields["index"] for h in r.of("place") if h.fields["position"] == place.fields["position"])
    more[1].fields["index"] = top + 1
    r.happenings.extend(more)


@edited()
def hole_face_up(r: Round) -> None:
    """The hole card is dealt face up."""
    place = _common(r)[0]
    assert place.card is not None
    place.fields |= {"facing": "up", "card": place.card.card}
    _drop(r, *r.of("turn"))


@edited()
def common_face_down(r: Round) -> None:
    """One of the three open common cards is dealt face down."""
    _common(r)[r.random.randint(1, 3)].fields |= {"facing": "down", "card": UNSEEN}


@edited()
def common_first(r: Round) -> None:
    """The common cards are dealt before the players' cards."""
    places = r.of("place")
    order = [*_common(r), *(h for h in places if _at_seat(h))]
    fields = [h.fields for h in order]
    for h, f in zip(places, fields, strict=True):
        h.fields = f
        assert h.card is not None
        h.fields["card"] = h.card.card if f["facing"] == "up" else UNSEEN


@edited()
def common_extra(r: Round) -> None:
    """A fifth common card is dealt."""
    _again(r, _common(r)[-1])


# --- play


@edited()
def settled_on_neighbour(r: Round) -> None:
    """A wager is settled on another player's card."""
    h = _pick(r, "settle")
    if h.fields["outcome"] == "returned":
        h.fields["outcome"] = "collected"
    other = next(s for s in r.seats if s != h.fields["seat"])
    h.fields["on"] = tuple(ev.CardAt(other, c.index) if c.position == h.fields["seat"] else c for c in h.fields["on"])
    r.positions = (h.fields["seat"],)


def _double(r: Round, ms: int) -> None:
    """A player who has not doubled doubles at a given time."""
    doubled = {h.fields["seat"] for h in r.of("double")}
    seat = next((s for s in r.seats if s not in doubled), r.seats[0])
    for h in r.of("double"):
        if h.fields["seat"] == seat:
            _drop(r, h)
    fields = {"seat": seat, "area": "double", "amount": r.stakes[seat, "ante"]}
    r.happenings.append(Happening(ms, "floor", ev.WagerPlaced, fields, "double"))
    settled = next(h for h in r.of("settle") if h.fields["seat"] == seat)
    if not any(h.fields["seat"] == seat and h.fields["area"] == "double" for h in r.of("settle")):
        more = deepcopy(settled)
        more.ms += 200
        more.fields["area"] = "double"
        r.happenings.append(more)
    r.positions = (seat,)


@edited()
def early_double(r: Round) -> None:
    """A double is placed when two of the four common cards are down."""
    _double(r, _common(r)[1].ms + 200)


@edited()
def late_double(r: Round) -> None:
    """A double is placed after the hole card was turned."""
    _double(r, r.of("turn")[0].ms + 250)


@edited()
def double_after_call(r: Round) -> None:
    """A double is placed between the second call and the turn."""
    _double(r, (r.of("call")[1].ms + r.of("turn")[0].ms) // 2)


@edited()
def no_second_call(r: Round) -> None:
    """The hole card is turned without a second "No more bets"."""
    _drop(r, r.of("call")[1])


@edited()
def touch(r: Round) -> None:
    """A player touches a card during the round."""
    seat = r.random.choice(r.seats)
    ms = r.of("call")[1].ms - 200
    r.happenings.append(Happening(ms, "floor", ev.CardsTouched, {"seat": seat}, "touch"))
    r.tell(f"player:{seat}", seat)
