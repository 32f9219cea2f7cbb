"""How a rule set says its conditions: functions bound to the moments at which they are judged."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stream.deal.events import Event
from stream.rulebook.findings import Finding
from stream.rulebook.heard import Heard

if TYPE_CHECKING:
    from stream.rulebook.facts import Facts

Check = Callable[["Facts", Heard], Sequence[Finding]]

LAWFUL: Final[Sequence[Finding]] = ()


class FirstDraw(Event, frozen=True, kw_only=True, tag="moment: first draw"):
    """The moment at which the first card of the round leaves its source; never on a wire."""


class Bound(Struct, frozen=True):
    """A check and the atoms it can find broken."""

    check: Check
    atoms: frozenset[str]


class Checks:
    """The checks of one rule set, by the type of event at which each is judged.

    A check sees the facts as they are with that event, and through `facts.later()` what came after. It
    returns what it finds; where only later events can tell, `facts.wait()`.
    """

    def __init__(self) -> None:
        self.at: dict[type[Event], list[Bound]] = {}
        self.atoms: set[str] = set()

    def on(self, *moments: type[Event], atoms: Sequence[str]) -> Callable[[Check], Check]:
        """Bind a check to moments, and say which atoms it judges."""

        def bind(check: Check) -> Check:
            self.atoms.update(atoms)
            for moment in moments:
                self.at.setdefault(moment, []).append(Bound(check, frozenset(atoms)))
            return check

        return bind
