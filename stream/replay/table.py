"""The state of one table: its kept events in order, cut into rounds, each with its verdicts.

`hear` takes events in any order of arrival; `settle` brings the verdicts up to date. What is in force then is a
function of the set of events heard: a late event goes to its place, and the rounds from there on are judged
again, once for the set. In the ordinary case an event is appended and folded, and nothing is judged twice.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.verdicts import Verdict
from stream.deal.wire import canonical, full, micros
from stream.replay.carry import SECOND, Carry, Interruption, senses_of
from stream.replay.fold import Fold, number, setup
from stream.replay.judge import judge
from stream.rulebook.heard import Heard

Key = tuple[str, int, int]  # device, boot, seq
USED_ROUNDS_KEPT: Final = 2000  # ids of rounds that have left the kept history, to notice one used again

_SPECIAL: Final = frozenset({ev.TableOpened, ev.EventCorrected, ev.DeviceOnline})


class Counts(Struct):
    """What happened to events that made no difference, for metrics and for saying so."""

    repeated: int = 0
    too_late: int = 0
    conflicting: int = 0


class Tail:
    """The newest event of a device by (`boot`, `seq`), as far as it has been heard."""

    __slots__ = ("boot", "kinds", "online", "seq", "when")

    def __init__(self, boot: int, seq: int, when: int) -> None:
        self.boot = boot
        self.seq = seq
        self.when = when
        self.kinds: set[type[ev.AnyEvent]] = set()
        self.online: Heard | None = None


class Segment:
    """A round with the time after it, up to the next `round.opened`; the first one may have no round."""

    __slots__ = (
        "carry", "conflicts", "events", "fold", "folded", "found", "judged_as", "opened", "out", "reused",
        "stale", "verdicts",
    )  # fmt: skip

    def __init__(self, events: list[Heard]) -> None:
        self.carry: Carry | None = None  # what it begins with, once settled
        self.events = events
        self.opened: Heard | None = None  # the table.opened it is judged under
        self.fold: Fold | None = None
        self.folded = 0
        self.out: Carry | None = None  # what it hands on, once another segment follows
        self.found: tuple[Interruption, ...] = ()
        self.conflicts: set[Key] = set()
        self.reused = False
        self.verdicts: dict[str, Verdict] = {}
        self.judged_as: tuple[bool, bool, tuple[Interruption, ...]] | None = None
        self.stale = True  # its events changed since it was judged

    @property
    def round(self) -> str | None:
        """The id of its round."""
        event = self.events[0].event if self.events else None
        return event.round if isinstance(event, ev.RoundOpened) else None

    def restart(self) -> None:
        """Fold it from its beginning at the next settling."""
        self.fold, self.folded, self.stale = None, 0, True


class Table:
    """One table; see the module."""

    def __init__(self, name: str, carry: Carry | None = None) -> None:
        self.name = name
        self.base = carry or Carry()
        self.fresh = carry is None  # nothing of this table came before the kept history
        self.used: dict[str, None] = {}  # rounds that have left the kept history, oldest first
        self.segments: list[Segment] = [Segment([])]
        self.tails: dict[str, Tail] = {d: Tail(h.boot, h.seq, h.when) for d, h in self.base.last.items()}
        self.corrections: dict[Key, Heard] = {}
        self.counts = Counts()
        self.left: list[Verdict] = []  # verdicts of rounds that have left the kept history
        self._from = 0  # the first segment that is not settled
        self._opening = True  # the first table.opened is to be looked for

    # --- hearing

    def hear(self, event: ev.AnyEvent) -> None:
        """Take one event in, whenever it comes."""
        at = micros(event.at)
        tail = self.tails.get(event.device)
        if tail is None:
            tail = self.tails[event.device] = Tail(event.boot, event.seq, at)
        elif (event.boot, event.seq) > (tail.boot, tail.seq):
            tail.boot, tail.seq = event.boot, event.seq
            if at > tail.when:
                tail.when = at
        else:
            self._hear_late(event, at)
            return
        heard = Heard(tail.when, event.device, event.boot, event.seq, at, event)
        if type(event) not in tail.kinds:
            tail.kinds.add(type(event))
        if type(event) in _SPECIAL:
            self._special(heard, tail)
        if self.corrections and heard[1:4] in self.corrections:
            return  # the right one stands in its place already
        last = self.segments[-1]
        if not last.events or heard > last.events[-1]:
            last.events.append(heard)
            last.stale = True
        elif len(self.segments) == 1 or heard > last.events[0]:
            place = bisect_left(last.events, heard)
            last.events.insert(place, heard)
            last.stale = True
            if place < last.folded:
                last.restart()
        else:
            self._insert(heard)

    def _special(self, heard: Heard, tail: Tail) -> None:
        event = heard.event
        if isinstance(event, ev.TableOpened):
            self._opening = self.base.opened is None
        elif isinstance(event, ev.EventCorrected):
            self._correct(heard, event)
        elif isinstance(event, ev.DeviceOnline) and event.sense is None:
            if tail.online is None or heard[2:4] > tail.online[2:4]:
                tail.online = heard

    def _hear_late(self, event: ev.AnyEvent, at: int) -> None:
        """An event that is not the newest of its device: a repeat, a conflict, one that fills a gap, or too late."""
        key = (event.device, event.boot, event.seq)
        if key in self.corrections:
            self.counts.repeated += 1  # whatever it said, the right one stands in its place
            return
        for segment in reversed(self.segments):
            for heard in segment.events:
                if heard[1:4] == key:
                    self._again(segment, heard, event, at)
                    return
        last = self.base.last.get(event.device)
        if last is not None and (event.boot, event.seq) <= (last.boot, last.seq):
            self.counts.too_late += 1
            return
        heard = Heard(at, *key, at, event)
        tail = self.tails[event.device]
        tail.kinds.add(type(event))
        if type(event) in _SPECIAL:
            self._special(heard, tail)
        self._insert(heard)

    def _again(self, segment: Segment, heard: Heard, event: ev.AnyEvent, at: int) -> None:
        """An identity that has been heard: a repeat, or a device fault."""
        if event == heard.event:
            self.counts.repeated += 1
            return
        self.counts.conflicting += 1
        if canonical(full(event)) < canonical(full(heard.event)):
            self._take_out(heard[1:4])
            self._insert(Heard(at, *heard[1:4], at, event))
            segment = next(s for s in self.segments if any(h[1:4] == heard[1:4] for h in s.events))
            if isinstance(event, ev.TableOpened) or isinstance(heard.event, ev.TableOpened):
                self._opening = self.base.opened is None
        segment.conflicts.add(heard[1:4])
        segment.stale = True
        self._from = min(self._from, self.segments.index(segment))

    def _correct(self, heard: Heard, event: ev.EventCorrected) -> None:
        """Put the right event in the place of the wrong one; of several corrections the last in order holds."""
        key = (event.corrects.device, event.corrects.boot, event.corrects.seq)
        before = self.corrections.get(key)
        if before is not None and before[:4] > heard[:4]:
            return
        self.corrections[key] = heard
        self._take_out(key)
        at = micros(event.event.at)
        if key[0] not in self.tails:
            self.tails[key[0]] = Tail(key[1], key[2], at)
        self._opening = self.base.opened is None
        self._insert(Heard(at, *key, at, event.event))

    def _take_out(self, key: Key) -> None:
        """Remove an event, so that another can stand in its place."""
        for k, segment in enumerate(self.segments):
            kept = [h for h in segment.events if h[1:4] != key]
            if len(kept) != len(segment.events):
                segment.events = kept
                segment.conflicts.discard(key)
                segment.restart()
                self._from = min(self._from, max(0, k - 1))

    # --- order

    def _insert(self, new: Heard) -> None:
        """Put an event into the ordered whole: from the first round it can touch all is ordered and cut anew."""
        k = min(self._place_of(new), self._from)
        carry = self.base if k == 0 else self.segments[k - 1].out
        assert carry is not None, "a settled segment that is not the last has handed on its state"
        pool = [h for s in self.segments[k:] for h in s.events]
        conflicts = set().union(*(s.conflicts for s in self.segments[k:]))
        spare = {s.events[0][:4]: s for s in self.segments[k:] if s.events}
        del self.segments[k:]
        for events in _cut(_ordered([*pool, new], carry)):
            old = spare.get(events[0][:4])
            if old is not None and old.events == events:
                self.segments.append(old)
                continue
            segment = Segment(events)
            segment.conflicts = conflicts & {h[1:4] for h in events} if conflicts else set()
            self.segments.append(segment)
        if k == 0 and self.segments[0].round is not None:
            self.segments.insert(0, Segment([]))  # what lies before the first round
        self._from = k
        self._opening = self._opening or self.base.opened is None

    def _place_of(self, new: Heard) -> int:
        """The first segment that a new event can change: where it comes in, or where its device goes on."""
        for k, segment in enumerate(self.segments):
            for heard in segment.events:
                if heard[:4] > new[:4] or (heard.device == new.device and heard[2:4] > new[2:4]):
                    return max(0, k - (heard is segment.events[0]))
        return len(self.segments) - 1

    # --- settling

    def settle(self) -> None:
        """Fold what is new, judge what is in doubt; afterwards `in_force` is up to date."""
        if self._opening:
            self._look_for_opening()
        begin = k = self._from
        while k < len(self.segments):
            self._settle_segment(k)
            k += 1
        self._from = len(self.segments) - 1
        self._rejudge(begin)
        self._forget()

    def _look_for_opening(self) -> None:
        """What came before the first table.opened is judged under it."""
        self._opening = False
        opened = next(
            (h for s in self.segments for h in s.events if isinstance(h.event, ev.TableOpened)), None
        )
        for k, segment in enumerate(self.segments):
            under = (segment.carry.opened if segment.carry else None) or opened
            if segment.opened is not under and (segment.carry is None or segment.carry.opened is None):
                segment.restart()
                self._from = min(self._from, k)
        self._first_opened = opened

    _first_opened: Heard | None = None

    def _settle_segment(self, k: int) -> None:
        """Fold one segment to its end, or to where the next round opens; the rest becomes the next segment."""
        segment = self.segments[k]
        carry = self.base if k == 0 else self.segments[k - 1].out
        assert carry is not None
        opened = carry.opened or self._first_opened
        if segment.carry is not carry and segment.carry != carry:
            segment.restart()
        if segment.opened is not opened:
            segment.restart()
        segment.carry, segment.opened = carry, opened
        last = k + 1 == len(self.segments)
        if segment.fold is None and not segment.stale and segment.folded == len(segment.events) and not last:
            return  # settled before, and nothing that it begins with has changed
        if segment.fold is None:
            config = opened.event if opened else None
            assert config is None or isinstance(config, ev.TableOpened)
            segment.fold, segment.folded = Fold(carry, config), 0
        fold, events = segment.fold, segment.events
        for i in range(segment.folded, len(events)):
            heard = events[i]
            if type(heard.event) is ev.RoundOpened and (i or k == 0):
                self._split(k, i)
                break
            fold.step(heard)
        segment.folded = len(segment.events)
        segment.found = tuple(fold.watch.found)
        segment.out = fold.carry() if k + 1 < len(self.segments) else None

    def _split(self, k: int, i: int) -> None:
        """From event i on a segment is another round."""
        segment = self.segments[k]
        rest = Segment(segment.events[i:])
        segment.events = segment.events[:i]
        if segment.conflicts:
            rest.conflicts = segment.conflicts & {h[1:4] for h in rest.events}
            segment.conflicts -= rest.conflicts
        self.segments.insert(k + 1, rest)

    def _rejudge(self, begin: int) -> None:
        """Judge what changed, and what turns out to have been interrupted."""
        known = self._known_interruptions()
        if known or any(s.judged_as and s.judged_as[2] for s in self.segments[:begin]):
            begin = 0
        for k in range(begin, len(self.segments)):
            segment = self.segments[k]
            closed = k + 1 < len(self.segments)
            if segment.stale or begin < len(self.segments) - 1:
                segment.reused = self._is_reused(k)
            mine = _overlapping(known, segment) if known else ()
            judged_as = (closed, segment.reused, mine)
            if not segment.stale and judged_as == segment.judged_as:
                continue
            segment.judged_as, segment.stale = judged_as, False
            segment.verdicts = {v.id: v for v in self._judged(k, segment, mine, closed=closed)}
            if closed:
                segment.fold = None

    def _is_reused(self, k: int) -> bool:
        rnd = self.segments[k].round
        return rnd is not None and (rnd in self.used or any(s.round == rnd for s in self.segments[:k]))

    def _judged(
        self, k: int, segment: Segment, mine: tuple[Interruption, ...], *, closed: bool
    ) -> list[Verdict]:
        assert segment.carry is not None
        first = k == 0 and self.fresh
        begins = first or (k == 1 and self.fresh and not self.segments[0].events)
        clean = segment.fold is not None and segment.fold.clean
        if clean and not mine and not segment.conflicts and not segment.reused and not begins:
            return []
        return judge(
            self.name,
            segment.carry,
            segment.opened,
            segment.events,
            interruptions=mine,
            conflicts=[h for h in segment.events if h[1:4] in segment.conflicts],
            reused=segment.reused,
            closed=closed,
            first=begins,
        )

    def _known_interruptions(self) -> list[Interruption]:
        """All of the kept history, each outage with its end once it is known, and what its device carries."""
        found = [i for s in self.segments for i in s.found]
        if not found:
            return []
        ends = {(i.device, i.noticed[:4]): i for i in found if i.end is not None}
        out: dict[tuple[str, tuple[int, str, int, int]], Interruption] = {}
        for i in found:
            end = ends.get((i.device, i.noticed[:4]), i)
            tail = self.tails.get(i.device)
            senses = senses_of(tail.kinds, tail.online) if tail else frozenset()
            out[f"{i.code} {i.device}", i.noticed[:4]] = Interruption(
                i.code, i.device, end.begin, i.noticed, end.end, senses
            )
        return sorted(out.values(), key=lambda i: (i.noticed[:4], i.code, i.device))

    def _forget(self) -> None:
        """Let rounds beyond the kept history go: what they said stands, and no late event can change it."""
        last = self.segments[-1]
        s = setup(last.opened.event) if last.opened and isinstance(last.opened.event, ev.TableOpened) else None
        settings = s.settings if s else {}
        keep = number(settings, "rounds_kept")
        reach = number(settings, "minutes_kept") * 60 * SECOND
        begin = last.events[0].when if last.events else 0
        while len(self.segments) > 1:
            oldest = self.segments[0]
            old = not oldest.events or oldest.events[-1].when < begin - reach
            if len(self.segments) - 1 <= keep + (self.segments[0].round is None) and not (old and oldest.events):
                break
            self._drop(oldest)

    def _drop(self, oldest: Segment) -> None:
        assert oldest.out is not None
        self.base, self.fresh = oldest.out, self.fresh and not oldest.events
        self.left.extend(oldest.verdicts.values())
        if oldest.round is not None:
            self.used[oldest.round] = None
            while len(self.used) > USED_ROUNDS_KEPT:
                del self.used[next(iter(self.used))]
        gone = {h[1:4] for h in oldest.events}
        if self.corrections:
            self.corrections = {k: h for k, h in self.corrections.items() if h[1:4] not in gone}
        del self.segments[0]
        self._from = max(0, self._from - 1)

    # --- what is in force

    def in_force(self) -> Iterator[Verdict]:
        """The verdicts of the kept rounds, oldest round first."""
        for segment in self.segments:
            yield from segment.verdicts.values()


def _ordered(pool: Iterable[Heard], carry: Carry) -> list[Heard]:
    """Events in the order of the contract: within a device by (boot, seq), between devices by running time."""
    top: dict[str, int] = {d: h.when for d, h in carry.last.items()}
    out: list[Heard] = []
    for h in sorted(pool, key=lambda h: (h.device, h.boot, h.seq)):
        when = max(h.at, top.get(h.device, h.at))
        top[h.device] = when
        out.append(h if h.when == when else Heard(when, *h[1:]))
    out.sort(key=lambda h: h[:4])
    return out


def _cut(events: list[Heard]) -> Iterator[list[Heard]]:
    """Cut at each opening of a round."""
    begin = 0
    for i, heard in enumerate(events):
        if i and isinstance(heard.event, ev.RoundOpened):
            yield events[begin:i]
            begin = i
    if events:
        yield events[begin:]


def _overlapping(known: list[Interruption], segment: Segment) -> tuple[Interruption, ...]:
    if not segment.events:
        return ()
    begin, end = segment.events[0].when, segment.events[-1].when
    own = {h[1:4] for h in segment.events}
    return tuple(i for i in known if i.covers(begin, end) or i.noticed[1:4] in own)


