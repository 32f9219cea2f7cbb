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

USED_ROUNDS_KEPT: Final = 2000  # ids of rounds that have left the kept history, to notice one used again


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

    __slots__ = ("carry", "conflicts", "events", "fold", "folded", "judged_with", "opened", "out", "reused", "stale", "verdicts")

    def __init__(self, carry: Carry, events: list[Heard]) -> None:
        self.carry = carry
        self.events = events
        self.opened: Heard | None = None
        self.fold: Fold | None = None
        self.folded = 0
        self.out: Carry | None = None  # once another segment follows
        self.conflicts: set[tuple[str, int, int]] = set()
        self.reused = False
        self.verdicts: dict[str, Verdict] = {}
        self.judged_with: tuple[Interruption, ...] = ()
        self.stale = True

    @property
    def round(self) -> str | None:
        """The id of its round."""
        event = self.events[0].event if self.events else None
        return event.round if isinstance(event, ev.RoundOpened) else None


class Table:
    """One table; see the module."""

    def __init__(self, name: str, carry: Carry | None = None) -> None:
        self.name = name
        self.base = carry or Carry()
        self.used: dict[str, None] = {}  # rounds that have left the kept history, oldest first
        self.fresh = carry is None  # nothing of this table came before the kept history
        self.segments: list[Segment] = [Segment(self.base, [])]
        self.tails: dict[str, Tail] = {
            d: Tail(h.boot, h.seq, h.when) for d, h in self.base.last.items()
        }
        self.corrections: dict[tuple[str, int, int], Heard] = {}
        self.first_opened: Heard | None = None
        self.interruptions: dict[tuple[str, str, int, int], Interruption] = {}
        self.counts = Counts()
        self.left: list[Verdict] = []  # verdicts of rounds that have left the kept history
        self._from = 0  # the first segment that is not settled

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
        kind = type(event)
        if kind not in tail.kinds:
            tail.kinds.add(kind)
        if kind is ev.DeviceOnline or kind is ev.TableOpened or kind is ev.EventCorrected:
            self._special(heard, tail)
        if self.corrections and heard[1:4] in self.corrections:
            self._hear_late(event, at)
            return
        last = self.segments[-1]
        if not last.events or heard > last.events[-1]:
            last.events.append(heard)
            last.stale = True
        elif len(self.segments) == 1 or heard > last.events[0]:
            place = bisect_left(last.events, heard)
            last.events.insert(place, heard)
            self._reset(last, place)
        else:
            self._insert([heard])

    def _special(self, heard: Heard, tail: Tail) -> None:
        event = heard.event
        if isinstance(event, ev.DeviceOnline) and event.sense is None:
            tail.online = heard
        elif isinstance(event, ev.TableOpened):
            if self.base.opened is None and (self.first_opened is None or heard < self.first_opened):
                self.first_opened = heard
                for segment in self.segments:  # what came before is judged under it
                    self._reset(segment, 0)
                self._from = 0
        elif isinstance(event, ev.EventCorrected):
            self._correct(heard, event)

    def _reset(self, segment: Segment, place: int) -> None:
        segment.stale = True
        if place < segment.folded:
            segment.fold, segment.folded = None, 0

    def _hear_late(self, event: ev.AnyEvent, at: int) -> None:
        """An event that is not the newest of its device: a repeat, a conflict, one that fills a gap, or too late."""
        key = (event.device, event.boot, event.seq)
        for segment in reversed(self.segments):
            for i, heard in enumerate(segment.events):
                if heard[1:4] == key:
                    self._again(segment, i, heard, event, at)
                    return
        last = self.base.last.get(event.device)
        if last is not None and (event.boot, event.seq) <= (last.boot, last.seq):
            self.counts.too_late += 1
            return
        self._insert([Heard(at, event.device, event.boot, event.seq, at, event)])

    def _again(self, segment: Segment, i: int, heard: Heard, event: ev.AnyEvent, at: int) -> None:
        corrected = self.corrections.get(heard[1:4])
        if event == heard.event or (corrected is not None and event != heard.event):
            self.counts.repeated += 1  # a corrected event is heard again as it was, and stays corrected
            return
        self.counts.conflicting += 1
        segment.conflicts.add(heard[1:4])
        segment.stale = True
        self._from = min(self._from, self.segments.index(segment))
        if canonical(full(event)) < canonical(full(heard.event)):
            del segment.events[i]
            conflicts = heard[1:4]
            self._insert([Heard(at, *heard[1:4], at, event)])
            self._move_conflict(conflicts, segment)

    def _move_conflict(self, key: tuple[str, int, int], old: Segment) -> None:
        """The mark of a conflict goes where its event is now."""
        for segment in self.segments:
            if any(h[1:4] == key for h in segment.events):
                old.conflicts.discard(key)
                segment.conflicts.add(key)

    def _correct(self, heard: Heard, event: ev.EventCorrected) -> None:
        """Put the right event in the place of the wrong one; of several corrections the last in order holds."""
        key = (event.corrects.device, event.corrects.boot, event.corrects.seq)
        before = self.corrections.get(key)
        if before is not None and before > heard:
            return
        self.corrections[key] = heard
        for segment in self.segments:
            segment.events = [h for h in segment.events if h[1:4] != key]
        right = event.event
        at = micros(right.at)
        self._insert([Heard(at, *key, at, right)])

    # --- order

    def _insert(self, new: list[Heard]) -> None:
        """Put events into the ordered whole: everything from the first round they touch is ordered and cut anew."""
        k = min(self._place_of(h) for h in new)
        pool = [h for s in self.segments[k:] for h in s.events] + new
        conflicts = set().union(*(s.conflicts for s in self.segments[k:]))
        ordered = _ordered(pool, self.segments[k].carry)
        spare = {s.events[0][:4]: s for s in self.segments[k:] if s.events}
        del self.segments[k:]
        carry = self.base if k == 0 else self.segments[-1].out
        assert carry is not None or k > 0
        for events in _cut(ordered):
            old = spare.get(events[0][:4])
            if old is not None and old.events == events:
                segment = old
            else:
                segment = Segment(carry or self.base, events)
                own = {h[1:4] for h in events}
                segment.conflicts = conflicts & own
            self.segments.append(segment)
        if not self.segments[k:]:
            self.segments.append(Segment(carry or self.base, []))
        self._from = min(self._from, k)

    def _place_of(self, new: Heard) -> int:
        """The first segment that a new event can change: where it comes in, or where its device's next event stands."""
        for k, segment in enumerate(self.segments):
            for heard in segment.events:
                if heard > new or (heard.device == new.device and heard[2:4] > new[2:4]):
                    # an event before the first of a segment belongs to the segment before
                    return max(0, k - (heard is segment.events[0] and k > 0))
        return len(self.segments) - 1

    # --- settling

    def settle(self) -> None:
        """Fold what is new, judge what is in doubt; afterwards `in_force` is up to date."""
        k = self._from
        while k < len(self.segments):
            if self._settle_segment(k):
                k += 1
        self._from = len(self.segments) - 1
        self._rejudge()
        self._forget()

    def _settle_segment(self, k: int) -> bool:
        """Fold one segment; False where it was cut in two at a round's opening and is to be looked at again."""
        segment = self.segments[k]
        carry = self.base if k == 0 else self.segments[k - 1].out
        assert carry is not None
        if segment.carry is not carry and segment.carry != carry:
            segment.carry = carry
            segment.folded, segment.fold, segment.stale = 0, None, True
        opened = carry.opened or self.first_opened
        if segment.opened is not opened:
            segment.opened = opened
            segment.folded, segment.fold, segment.stale = 0, None, True
        if segment.fold is None:
            config = opened.event if opened else None
            assert config is None or isinstance(config, ev.TableOpened)
            segment.fold, segment.folded = Fold(carry, config), 0
        fold, events = segment.fold, segment.events
        for i in range(segment.folded, len(events)):
            heard = events[i]
            if i and type(heard.event) is ev.RoundOpened:
                segment.folded = i
                rest = Segment(Carry(), events[i:])
                rest.conflicts = {c for c in segment.conflicts if any(h[1:4] == c for h in rest.events)}
                segment.conflicts -= rest.conflicts
                segment.events = events[:i]
                self.segments.insert(k + 1, rest)
                break
            fold.step(heard)
        else:
            segment.folded = len(events)
        self._note_interruptions(segment, fold)
        segment.out = fold.carry() if k + 1 < len(self.segments) else None
        return True

    def _note_interruptions(self, segment: Segment, fold: Fold) -> None:
        own = {h[1:4] for h in segment.events} if fold.watch.found or self.interruptions else set()
        for key in [k for k, i in self.interruptions.items() if i.noticed[1:4] in own]:
            if segment.stale:
                del self.interruptions[key]
        for i in fold.watch.found:
            self.interruptions[(i.code, *i.noticed[1:4])] = i

    def _rejudge(self) -> None:
        """Judge what is stale or whose devices turn out to have been interrupted."""
        known = self._known_interruptions()
        used = set(self.used)
        for k, segment in enumerate(self.segments):
            rnd = segment.round
            reused = rnd is not None and rnd in used
            if rnd is not None:
                used.add(rnd)
            closed = k + 1 < len(self.segments)
            mine = _overlapping(known, segment) if known else ()
            if not segment.stale and mine == segment.judged_with and reused == segment.reused:
                continue
            segment.reused, segment.judged_with, segment.stale = reused, mine, False
            segment.verdicts = self._judged(k, segment, closed)
            if closed:
                segment.fold = None

    def _judged(self, k: int, segment: Segment, closed: bool) -> dict[str, Verdict]:
        fold = segment.fold
        first = k == 0 and self.fresh
        quiet = (
            fold is not None
            and fold.clean
            and not segment.judged_with
            and not segment.conflicts
            and not segment.reused
            and not first
            and segment.carry.shut is None
        )
        if quiet:
            return {}
        verdicts = judge(
            self.name,
            segment.carry,
            segment.opened,
            segment.events,
            interruptions=segment.judged_with,
            conflicts=[h for h in segment.events if h[1:4] in segment.conflicts],
            reused=segment.reused,
            closed=closed,
            first=first,
        )
        return {v.id: v for v in verdicts}

    def _known_interruptions(self) -> list[Interruption]:
        """All of the kept history, each outage with its end once it is known, and what its device carries."""
        if not self.interruptions:
            return []
        ends = {(i.device, i.noticed[1:4]): i for i in self.interruptions.values() if i.end is not None}
        out = []
        for i in self.interruptions.values():
            end = ends.get((i.device, i.noticed[1:4]), i)
            tail = self.tails.get(i.device)
            senses = senses_of(tail.kinds, tail.online) if tail else frozenset()
            out.append(Interruption(i.code, i.device, end.begin, i.noticed, end.end, senses))
        return sorted(out, key=lambda i: i.noticed[:4])

    def _forget(self) -> None:
        """Let rounds beyond the kept history go: what they said stands, and no late event can change it."""
        last = self.segments[-1]
        config = last.opened.event if last.opened else None
        s = setup(config) if isinstance(config, ev.TableOpened) else None
        settings = s.settings if s else {}
        keep = number(settings, "rounds_kept")
        reach = number(settings, "minutes_kept") * 60 * SECOND
        begin = last.events[0].when if last.events else 0
        while len(self.segments) > 1:
            oldest = self.segments[0]
            old = bool(oldest.events) and oldest.events[-1].when < begin - reach
            if len(self.segments) - 1 <= keep and not old:
                break
            self._drop(oldest)

    def _drop(self, oldest: Segment) -> None:
        assert oldest.out is not None
        self.base, self.fresh = oldest.out, False
        self.left.extend(oldest.verdicts.values())
        if oldest.round is not None:
            self.used[oldest.round] = None
            while len(self.used) > USED_ROUNDS_KEPT:
                del self.used[next(iter(self.used))]
        gone = {h[1:4] for h in oldest.events}
        self.interruptions = {k: i for k, i in self.interruptions.items() if i.noticed[1:4] not in gone}
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


