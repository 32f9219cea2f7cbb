"""The head merge: records of one partition of several topics in order of event time.

Kafka orders within a partition only. A backlog of three topics would be read one topic after the other; here the
record with the smallest event time among the heads goes next, and a topic that lags is waited for a moment. Within a
topic the order is never changed: the key is the running maximum of the event times.
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Generic, TypeVar

Lane = TypeVar("Lane", bound=Hashable)
Item = TypeVar("Item")
_key = itemgetter(0)


class HeadMerge(Generic[Lane, Item]):
    """Buffers of lanes (one topic's partition each); `low` items in a buffer are enough for now."""

    def __init__(self, *, low: int, patience_s: float) -> None:
        self.low = low
        self.patience_s = patience_s
        self.waiting = False  # something lies ready and waits for a lane that lags
        self._lanes: dict[Lane, list[tuple[int, Item]]] = {}
        self._since: dict[int, float] = {}

    def clear(self) -> None:
        """Forget everything buffered."""
        self._lanes.clear()
        self._since.clear()
        self.waiting = False

    def short(self, lane: Lane) -> bool:
        """Whether more of a lane should be fetched."""
        return len(self._lanes.get(lane, ())) < self.low

    def holds(self, lane: Lane) -> bool:
        """Whether anything of a lane is buffered."""
        return bool(self._lanes.get(lane))

    def push(self, lane: Lane, items: Iterable[tuple[int, Item]]) -> None:
        """Add items with their event times, in the lane's own order."""
        buffer = self._lanes.setdefault(lane, [])
        top = buffer[-1][0] if buffer else 0
        for time, item in items:
            top = max(time, top)
            buffer.append((top, item))

    def take(self, number: int, lanes: Sequence[Lane], lags: Callable[[Lane], bool], now: float) -> list[Item]:
        """What may go now of the lanes of one partition number, in order of event time.

        Nothing goes while a lane is empty and lags, for at most the patience; and nothing later than the last
        item in hand of a lane that has more to come. `now` in seconds of any steady clock.
        """
        if any(not self._lanes.get(lane) and lags(lane) for lane in lanes):
            since = self._since.setdefault(number, now)
            if now - since < self.patience_s:
                self.waiting = True
                return []
        else:
            self._since.pop(number, None)
        full = [lane for lane in lanes if self._lanes.get(lane)]
        limit = min((self._lanes[lane][-1][0] for lane in full if lags(lane)), default=None)
        out: list[tuple[int, Item]] = []
        for lane in full:
            buffer = self._lanes[lane]
            k = len(buffer) if limit is None else bisect_right(buffer, limit, key=_key)
            out += buffer[:k]
            del buffer[:k]
        out.sort(key=_key)
        return [item for _, item in out]
