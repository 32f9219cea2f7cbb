"""An event in its place: the order of a table's events, and what clocks can and cannot tell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from typing_extensions import TypeVar

from stream.deal.events import AnyEvent

MS = 1000  # microseconds

E_co = TypeVar("E_co", bound=AnyEvent, covariant=True, default=AnyEvent)

if TYPE_CHECKING:
    # As the type checker shall see it: any two compare, whatever their events; a tuple would not have that.
    class Heard(Generic[E_co]):  # noqa: D101  # documented below
        when: int
        device: str
        boot: int
        seq: int
        at: int
        event: E_co
        mark: int

        def __init__(
            self, when: int, device: str, boot: int, seq: int, at: int, event: E_co, mark: int = 0
        ) -> None: ...
        def __lt__(self, other: "Heard[Any]") -> bool: ...
        def __gt__(self, other: "Heard[Any]") -> bool: ...
        def __ge__(self, other: "Heard[Any]") -> bool: ...
        def __getitem__(self, item: slice | int) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def _replace(self, **fields: Any) -> "Heard[E_co]": ...
else:

    class Heard(NamedTuple, Generic[E_co]):
        """An event with the key that orders it among the events of its table.

        `when` is the running maximum of `at` within its device, microseconds since 1970, so that within a device
        the order is that of (`boot`, `seq`) and never of time; `at` is what the event itself says. `mark` is the
        caller's own, where the event was found; nothing here reads it.
        """

        when: int
        device: str
        boot: int
        seq: int
        at: int
        event: E_co
        mark: int = 0


def unsure(a: Heard[Any], b: Heard[Any]) -> bool:
    """Whether the clocks of two devices leave open which of two events came first.

    Within one device the order is always known. Contract, section 1: two devices' events whose difference in
    `at` is within the sum of their `clock_ms` have no known order.
    """
    if a.device == b.device:
        return False
    return bool(abs(a.at - b.at) <= (a.event.clock_ms + b.event.clock_ms) * MS)
