"""Which cards everybody may know: identities of face-down and undealt cards stay masked until they are shown."""

from collections.abc import Iterable

from msgspec.structs import replace

from stream.deal import events as ev
from stream.deal.cards import UNSEEN
from stream.rulebook.heard import Heard


class Shown:
    """The cards of one round that had been shown up to some event."""

    __slots__ = ("draws", "places")

    def __init__(self, events: Iterable[Heard]) -> None:
        self.draws: set[int] = set()
        self.places: set[tuple[str, int]] = set()
        at: dict[tuple[str, int], int | None] = {}
        for heard in events:
            event = heard.event
            if isinstance(event, ev.CardPlaced):
                place = (event.position, event.index)
                at[place] = event.draw
                if event.facing == "up":
                    self._show(place, event.draw)
            elif isinstance(event, ev.CardTurned):
                if event.facing == "up":
                    place = (event.position, event.index)
                    self._show(place, at.get(place))
            else:
                self._found_face_up(event)

    def _found_face_up(self, event: ev.AnyEvent) -> None:
        seen = (isinstance(event, ev.CardDrawn) and event.face_up) or isinstance(event, ev.CardSeen)
        if seen and event.draw is not None:  # type: ignore[union-attr]  # one of the two
            self.draws.add(event.draw)  # type: ignore[union-attr]  # same

    def _show(self, place: tuple[str, int], draw: int | None) -> None:
        self.places.add(place)
        if draw is not None:
            self.draws.add(draw)

    def mask(self, event: ev.AnyEvent) -> ev.AnyEvent:
        """The event as everybody may see it."""
        if isinstance(event, ev.EventCorrected):
            inner = self.mask(event.event)
            return replace(event, event=inner)
        if isinstance(event, ev.CardDrawn):
            known = event.draw in self.draws
        elif isinstance(event, ev.CardPlaced):
            known = event.draw in self.draws or (event.position, event.index) in self.places
        elif isinstance(event, ev.CardTurned):
            known = (event.position, event.index) in self.places
        elif isinstance(event, ev.CardSeen):
            known = True
        else:
            return event
        return event if known else replace(event, card=UNSEEN)
