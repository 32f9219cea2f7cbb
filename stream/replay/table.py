"""The state of one table: its kept events in order, cut into rounds, each with its verdicts.

`hear` takes events in any order of arrival; `settle` brings the verdicts up to date. What is in force then is a
function of the set of events heard: a late event goes to its place, and the rounds from there on are judged
again, once for the set. In the ordinary case an event is appended and folded, and nothing is judged twice.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.verdicts import Verdict
from stream.deal.wire import canonical, full, micros
from stream.deal.words import Sense
from stream.replay.carry import SECOND, Alive, Carry, Interruption, possible_senses, senses_of
from stream.replay.faults import came_too_late
from stream.replay.fold import Fold, number, setup
from stream.replay.judge import NOTHING, Judged, judge
from stream.replay.order import cut, ordered, overlapping
from stream.replay.segment import LOOKAHEAD, Key, Order, Outline, Segment, consequent
from stream.replay.tail import Tail
from stream.rulebook.heard import Heard

USED_ROUNDS_KEPT: Final = 500  # ids of rounds that have left the kept history, to notice one used again
WARM: Final = 2  # the newest segments stay as events: most late events are of these
GIVEN_UP: Final = 600 * SECOND  # a device silent for so long is not waited for
LOOKBACK: Final = 5  # rounds before a round that it can rest on
_SPECIAL: Final = frozenset({ev.TableOpened, ev.EventCorrected, ev.DeviceOnline})


def _lasts(segment: Segment) -> bool:
    """Whether a later round can still change what a closed one says: a duty of it is judged by what comes there."""
    config = segment.opened.event if segment.opened else None
    s = setup(config) if isinstance(config, ev.TableOpened) else None
    lasting = s.law.rules.lasting if s else ()
    return any(v.atom in lasting for v in (segment.verdicts or {}).values())


class Counts(Struct):
    """What happened to events that made no difference, for metrics and for saying so."""

    repeated: int = 0
    too_late: int = 0
    conflicting: int = 0


class Table:
    """One table; see the module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.base = Carry()
        self.fresh = True  # nothing of this table came before the kept history
        self.used: dict[str, None] = {}  # rounds that have left the kept history, oldest first
        self.segments: list[Segment] = [Segment([])]
        self.tails: dict[str, Tail] = {}
        self.corrections: dict[Key, Heard] = {}
        self.first_opened: Heard | None = None  # under which what came before it is judged
        self.counts = Counts()
        self.left: list[Verdict] = []  # verdicts of rounds that have left the kept history
        self.late: set[tuple[str, int]] = set()  # device and boot of which an event came too late, since the start
        self.touched: set[str] = set()  # names of segments judged or taken apart, until somebody clears it
        self._waiting: dict[Key, Heard] = {}  # to be put into the ordered whole
        self._from = 0  # the first segment that is not settled
        self._opening = False  # the first table.opened is to be looked for
        self._alive: Alive | None = None  # since when each sense is known to be carried; None: to be told anew

    # --- hearing

    def hear(self, event: ev.AnyEvent, mark: int = 0) -> None:
        """Take one event in, whenever it comes; `mark` goes with it (see `Heard`)."""
        at = micros(event.at)
        if self.corrections and (event.device, event.boot, event.seq) in self.corrections:
            self.counts.repeated += 1  # whatever it says, the right one stands in its place
            return
        tail = self.tails.get(event.device)
        if tail is None:
            tail = self.tails[event.device] = Tail(event.boot, event.seq, at)
        elif (event.boot, event.seq) > (tail.boot, tail.seq):
            tail.boot, tail.seq = event.boot, event.seq
            tail.when = max(tail.when, at)
            if at < tail.first:
                tail.first, self._alive = at, None
        else:
            self._hear_late(event, at, mark)
            return
        heard = Heard(tail.when, event.device, event.boot, event.seq, at, event, mark)
        kind = type(event)
        if kind not in tail.kinds or kind in _SPECIAL:
            self._note_kind(heard, tail)
            tail.when = max(tail.when, at)  # a correction may have moved what came before it
            heard = heard._replace(when=tail.when)
        last = self.segments[-1]
        events = last.events
        if not events or heard > events[-1]:
            events.append(heard)
            last.stale = last.stale or (kind is not ev.DeviceHeartbeat and not last.full)
            last.saved = False
        elif len(self.segments) == 1 or heard > events[0]:
            place = bisect_left(events, heard)
            events.insert(place, heard)
            last.saved = False
            if place < last.folded and last.fold and last.fold.beat_late(heard, events[place + 1 : last.folded + 1]):
                last.folded += 1
                return
            last.stale = True
            if place < last.folded:
                last.restart()
        else:
            self._insert(heard)

    def _note_kind(self, heard: Heard, tail: Tail) -> None:
        event = heard.event
        tail.kinds.add(type(event))
        self._alive = None
        if isinstance(event, ev.TableOpened):
            self._opening = self.base.opened is None
        elif isinstance(event, ev.EventCorrected):
            self._correct(heard, event)
        elif isinstance(event, ev.DeviceOnline) and event.sense is None:
            tail.online = max(tail.online or heard, heard, key=lambda h: h[2:4])

    def _hear_late(self, event: ev.AnyEvent, at: int, mark: int) -> None:
        """Not the newest of its device: a repeat, a conflict, one that fills a gap, or too late."""
        key = (event.device, event.boot, event.seq)
        if key in self._waiting:
            self._merge()
        for segment in reversed(self.segments):
            if not segment.may_hold(key):
                continue
            for heard in segment.events:
                if heard[1:4] == key:
                    self._again(segment, heard, event, mark)
                    return
        last = self.base.last.get(event.device)
        if last is not None and (event.boot, event.seq) <= (last.boot, last.seq):
            self._tell_late(Heard(at, *key, at, event, mark))
            return
        heard = Heard(at, *key, at, event, mark)
        self._note_kind(heard, self.tails[event.device])
        self._insert(heard)

    def _tell_late(self, heard: Heard) -> None:
        """An event whose round has left the kept history is not judged; of each boot of a device the first is told."""
        self.counts.too_late += 1
        if (heard.device, heard.boot) not in self.late:
            self.late.add((heard.device, heard.boot))
            opened = self.segments[-1].opened or self.base.opened
            self.left.append(came_too_late(self.name, opened, heard))

    def _again(self, segment: Segment, heard: Heard, event: ev.AnyEvent, mark: int) -> None:
        """An identity that has been heard: a repeat, or a device fault.

        A repeat changes nothing, but its round is judged again: a worker that starts anew may find in a round's
        record an event whose verdict was never published.
        """
        if event == heard.event:
            self.counts.repeated += 1
            segment.stale = True
            self._from = min(self._from, self.segments.index(segment))
            return
        self.counts.conflicting += 1
        if canonical(full(event)) < canonical(full(heard.event)):
            self._take_out(heard[1:4])
            at = micros(event.at)
            self._insert(Heard(at, event.device, event.boot, event.seq, at, event, mark))
            self._merge()
            segment = next(s for s in self.segments if any(h[1:4] == heard[1:4] for h in s.events))
            self._relearn(event.device)
            self._opening = self.base.opened is None
        segment.conflicts.add(heard[1:4])
        segment.stale, segment.saved = True, False
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
        tail = self.tails.setdefault(key[0], Tail(key[1], key[2], at))
        tail.boot, tail.seq = max((tail.boot, tail.seq), key[1:])
        self._opening = self.base.opened is None
        last = self.base.last.get(key[0])
        if last is None or key[1:] > last[2:4]:
            self._insert(Heard(at, *key, at, event.event, heard.mark))
            self._merge()
            self._relearn(key[0])

    def _relearn(self, device: str) -> None:
        kept = (h for s in self.segments for h in s.events if h.device == device)
        self._alive = None
        self.tails[device].relearn(kept, anew=self.fresh)

    def _take_out(self, key: Key) -> None:
        """Remove an event, so that another can stand in its place."""
        self._merge()
        for k, segment in enumerate(self.segments):
            if not segment.may_hold(key) or all(h[1:4] != key for h in segment.events):
                continue
            segment.events = [h for h in segment.events if h[1:4] != key]
            segment.conflicts.discard(key)
            segment.restart()
            self._from = min(self._from, max(0, k - 1))

    # --- order

    def _insert(self, new: Heard) -> None:
        """An event that is to be put into the ordered whole, with all that come before the next settling."""
        self._waiting[new[1:4]] = new

    def _merge(self) -> None:
        """Put what waits into the ordered whole: from the first round it can touch all is ordered and cut anew."""
        if not self._waiting:
            return
        new = list(self._waiting.values())
        self._waiting = {}
        outlines = [s.outline for s in self.segments]
        k = min(self._from, *(self._place_of(h, outlines) for h in new))
        carry = self._carry_into(k)
        old = self.segments[k:]
        pool = [h for s in old for h in s.events]
        conflicts = {c for s in old for c in s.conflicts}
        spare = {s.events[0][:4]: s for s in old if s.events}
        self.touched.update(s.name for s in old if s.name)
        del self.segments[k:]
        for events in cut(ordered([*pool, *new], carry)):
            same = spare.get(events[0][:4])
            if same is not None and same.events == events:
                self.segments.append(same)
                continue
            segment = Segment(events)
            if conflicts:
                segment.conflicts = conflicts & {h[1:4] for h in events}
            self.segments.append(segment)
        if k == 0 and self.fresh and self.segments[0].round is not None:
            self.segments.insert(0, Segment([]))  # what lies before the first round
        self.segments[k].carry = carry
        self._from = k
        self._opening = self.base.opened is None  # the first opening may have another place now
        self._learn_again(new)

    def _learn_again(self, new: Sequence[Heard]) -> None:
        """What is known of the devices of events that came late: the running maximum, as it is now, and since when."""
        missing = {h.device for h in new}
        for h in new:
            self.tails[h.device].first = min(self.tails[h.device].first, h.at)
        for segment in reversed(self.segments):
            for h in reversed(segment.events):
                if h.device in missing:
                    self.tails[h.device].when = h.when
                    missing.discard(h.device)
            if not missing:
                break
        self._alive = None

    def _carry_into(self, k: int) -> Carry:
        """The state that segment k begins with; all segments before it are settled."""
        if k == 0:
            return self.base
        out = self.segments[k - 1].out or self.segments[k].begins_with
        assert out is not None, "a settled segment has handed on its state"
        return out

    def _place_of(self, new: Heard, outlines: Sequence[Outline | None]) -> int:
        """The first segment that a new event can change: where it comes in, or where its device goes on."""
        for k, outline in enumerate(outlines):
            if outline is None:
                continue
            span = outline.spans.get(new.device)
            comes_after = outline.last < new[:4] and (span is None or span[1] < new[2:4])
            if not comes_after:
                before_all = outline.first > new[:4] or (span is not None and span[0] > new[2:4])
                return max(0, k - before_all)
        return len(self.segments) - 1

    # --- settling

    def recall(self, names: set[str]) -> None:
        """Judge these segments again at the next settling: somebody needs to know what they say."""
        self._merge()
        for k, segment in enumerate(self.segments):
            if names and segment.name in names and (segment.verdicts is None or not segment.stale):
                segment.stale = True
                self._from = min(self._from, k)

    def settle(self) -> None:
        """Fold what is new, judge what is in doubt; afterwards `in_force` is up to date."""
        self._merge()
        if self._opening:
            self._look_for_opening()
        begin = k = self._from
        while k < len(self.segments):
            out = self._settle_segment(k)
            k += 1
            if k < len(self.segments) and out is not None:
                after = self.segments[k]
                _ = after.events
                if after.carry != out:
                    after.carry = out
                    after.restart()
            while self._is_settled(k) and self._handed_on(k):
                k += 1
        self._from = len(self.segments) - 1
        self._rejudge(begin)
        self._forget()

    def _look_for_opening(self) -> None:
        """What came before the first table.opened is judged under it."""
        self._opening = False
        events = (h for s in self.segments for h in s.events)
        opened = next((h for h in events if isinstance(h.event, ev.TableOpened)), None)
        if opened != self.first_opened:
            self.first_opened = opened
            for segment in self.segments:
                segment.restart()
            self._from = 0

    def _is_settled(self, k: int) -> bool:
        """Whether a segment that is not the last has nothing to be folded."""
        if k + 1 >= len(self.segments):
            return False
        segment = self.segments[k]
        return segment.cold or (segment.carry is not None and segment.folded == len(segment.events))

    def _handed_on(self, k: int) -> bool:
        """Whether the segment after k knows what it begins with."""
        after = self.segments[k + 1]
        return after.cold or after.carry is not None

    def _settle_segment(self, k: int) -> Carry | None:
        """Fold one segment to its end, or to where the next round opens; the rest becomes the next segment.

        Returns what it hands on, or None where nothing of that changed.
        """
        segment = self.segments[k]
        carry = segment.carry if segment.carry is not None and not segment.cold else self._carry_into(k)
        if k == 0:
            carry = self.base
        events = segment.events
        segment.carry = carry
        opened = carry.opened or self.first_opened
        if segment.opened is not opened and segment.opened != opened:
            segment.restart()
        segment.opened = opened
        if segment.fold is None and self._is_settled(k) and self._handed_on(k) and events:
            return None
        if segment.fold is None:
            config = opened.event if opened else None
            segment.fold = Fold(carry, config if isinstance(config, ev.TableOpened) else None)
            segment.folded = 0
        fold = segment.fold
        for i in range(segment.folded, len(events)):
            heard = events[i]
            if type(heard.event) is ev.RoundOpened and (i or (k == 0 and self.fresh)):
                self._split(segment, k, i)
                break
            fold.step(heard)
        segment.folded = len(segment.events)
        segment.found = tuple(fold.watch.found)
        if k + 1 == len(self.segments):
            return None
        segment.out = fold.carry()
        return segment.out

    def _split(self, segment: Segment, k: int, i: int) -> None:
        """From event i on a segment is another round."""
        rest = Segment(segment.events[i:])
        segment.events = segment.events[:i]
        segment.stale, segment.saved = True, False
        if segment.conflicts:
            rest.conflicts = segment.conflicts & {h[1:4] for h in rest.events}
            segment.conflicts -= rest.conflicts
        self.segments.insert(k + 1, rest)

    def _rejudge(self, begin: int) -> None:
        """Judge what changed, and what turns out to have been interrupted."""
        known = self._known_interruptions()
        if known or any(s.judged_as and s.judged_as[2] for s in self.segments[:begin]):
            begin = 0
        shifted = begin < len(self.segments) - 1
        new = self.segments[-1].judged_as is None
        rounds = [s.round for s in self.segments] if shifted or new else []
        alive = self._alive_since()
        begin = self._awaiting(begin)
        for k in range(begin, len(self.segments)):
            segment = self.segments[k]
            closed = k + 1 < len(self.segments)
            if rounds and (rnd := rounds[k]) is not None:
                segment.reused = rnd in self.used or rounds.index(rnd) < k
            if closed and (segment.pending or segment.stale):
                segment.beyond = self._beyond(k)
            mine = overlapping(known, self._reach(k)) if known else ()
            judged_as = (closed, segment.reused, mine, alive)
            unknown = segment.verdicts is None and segment.name in self.touched
            if not segment.stale and judged_as == segment.judged_as and not unknown:
                continue
            judged = self._judged(k, segment, mine, alive, closed=closed)
            segment.verdicts, segment.rests_on = {v.id: v for v in judged.verdicts}, judged.rests_on
            segment.saved = segment.saved and judged_as == segment.judged_as
            segment.pending = closed and _lasts(segment)
            segment.beyond = self._beyond(k) if closed else ()
            segment.judged_as, segment.stale = judged_as, False
            segment.full = any(v.code == "round_too_long" for v in judged.verdicts)
            if segment.name:
                self.touched.add(segment.name)

    def _awaiting(self, begin: int) -> int:
        """Mark the rounds whose duties what came since can end; the first segment to be looked at."""
        first = begin
        for k in range(max(0, begin - LOOKAHEAD), len(self.segments) - 1):
            segment = self.segments[k]
            if segment.pending and self._beyond(k) != segment.beyond:
                segment.stale, segment.saved = True, False
                first = min(first, k)
        return first

    def _beyond(self, k: int) -> tuple[Heard, ...]:
        """What the rounds after a segment show that one of its duties can end with."""
        after = self.segments[k + 1 : k + 1 + LOOKAHEAD]
        return tuple(h for s in after for h in consequent(s.events))

    def _judged(
        self, k: int, segment: Segment, mine: tuple[Interruption, ...], alive: Alive, *, closed: bool
    ) -> Judged:
        begins = self.fresh and (k == 0 or (k == 1 and not self.segments[0].events))
        events = segment.events
        if not events:
            return NOTHING
        assert segment.carry is not None
        clean = segment.fold is not None and segment.fold.clean and not (closed and segment.fold.unfinished)
        if clean and not mine and not segment.conflicts and not segment.reused and not begins:
            return NOTHING
        return judge(
            self.name,
            segment.carry,
            segment.opened,
            events,
            interruptions=mine,
            alive=alive,
            conflicts=[h for h in events if h[1:4] in segment.conflicts],
            reused=segment.reused,
            closed=closed,
            first=begins,
            beyond=self._beyond(k) if closed else (),
            memo=segment.memo,
        )

    def _reach(self, k: int) -> tuple[Order, Order] | None:
        """What a round rests on: from the rounds in which its deck was shuffled, to those in which its duties end."""
        ends = self.segments[k].ends
        before = self.segments[max(0, k - LOOKBACK)].ends
        if ends is None or before is None:
            return None
        beyond = self.segments[k].beyond
        return before[0], max(ends[1], beyond[-1][:4]) if beyond else ends[1]

    def _alive_since(self) -> Alive:
        """Since when some device that may carry a sense has been heard, by sense."""
        if self._alive is None:
            since: dict[Sense, int] = {}
            for device, tail in self.tails.items():
                first = 0 if device in self.base.last else tail.first
                for sense in possible_senses(tail.kinds, tail.online):
                    since[sense] = min(first, since.get(sense, first))
            self._alive = tuple(sorted(since.items()))
        return self._alive

    def _known_interruptions(self) -> list[Interruption]:
        """All of the kept history, each outage with its end once it is known, and what its device carries."""
        found = [i for s in self.segments for i in s.found]
        if not found:
            return []
        ends = {(i.device, i.noticed[:4]): i for i in found if i.end is not None}
        telling = {name for name, t in self.tails.items() if ev.CardPlaced in t.kinds}  # if none does, any may
        out: dict[tuple[str, str, object], Interruption] = {}
        for i in found:
            end = ends.get((i.device, i.noticed[:4]), i)
            tail = self.tails.get(i.device)
            senses = i.senses or (self._carried(tail) if tail else frozenset())
            key = (i.code, i.device, i.noticed[:4])
            places = "placements" in senses and (i.device in telling or not telling)
            out[key] = Interruption(i.code, i.device, end.begin, i.noticed, end.end, senses, places)
        return sorted(out.values(), key=lambda i: (i.noticed[:4], i.code, i.device))

    def _carried(self, tail: Tail) -> frozenset[Sense]:
        """What a device carries, and what it may carry that no other device here is known to."""
        mine = senses_of(tail.kinds, tail.online)
        others = {s for t in self.tails.values() if t is not tail for s in senses_of(t.kinds, t.online)}
        return mine | (possible_senses(tail.kinds, tail.online) - others)

    def unheard(self, segment: str, verdict: str) -> bool:
        """Whether a device that could still show what a verdict says was not seen has not been heard since.

        A device known to be away is not waited for, nor one that has said nothing for ten minutes.
        """
        rests_on = next((s.rests_on for s in self.segments if s.name == segment), {}).get(verdict, ())
        fold = self.segments[-1].fold
        away = fold.watch.down if fold is not None else {}
        for gap in rests_on:
            for device, tail in self.tails.items():
                if device in away or not gap.end - GIVEN_UP < tail.when < gap.end:
                    continue
                if gap.sense in possible_senses(tail.kinds, tail.online):
                    return True
        return False

    # --- how much is kept

    def _forget(self) -> None:
        """Let rounds beyond the kept history go: what they said stands, and no late event can change it."""
        last = self.segments[-1]
        config = last.opened.event if last.opened else None
        s = setup(config) if isinstance(config, ev.TableOpened) else None
        settings = s.settings if s else {}
        keep = number(settings, "rounds_kept")
        begin = last.ends[0][0] - number(settings, "minutes_kept") * 60 * SECOND if last.ends else 0
        while len(self.segments) > 1:
            oldest = self.segments[0]
            old = oldest.ends is not None and oldest.ends[1][0] < begin
            rounds = len(self.segments) - 1 - (oldest.round is None)
            if rounds <= keep and not old:
                break
            self._drop(oldest)

    def _drop(self, oldest: Segment) -> None:
        self.base = self._carry_into(1)
        self._alive = None
        self.fresh = self.fresh and not oldest.name
        self.left.extend((oldest.verdicts or {}).values())
        if oldest.round is not None:
            self.used[oldest.round] = None
            while len(self.used) > USED_ROUNDS_KEPT:
                del self.used[next(iter(self.used))]
        if self.corrections:
            gone = {h[1:4] for h in oldest.events}
            self.corrections = {k: h for k, h in self.corrections.items() if h[1:4] not in gone}
        del self.segments[0]
        self._from = max(0, self._from - 1)

    def cool(self) -> None:
        """Keep closed segments but the newest as their records: a third of the memory."""
        for segment in self.segments[-WARM - 2 : -WARM]:
            if not segment.cold and segment.name:
                segment.freeze()

    # --- what is in force

    def in_force(self) -> Iterator[Verdict]:
        """The verdicts of the kept rounds, oldest round first."""
        for segment in self.segments:
            yield from (segment.verdicts or {}).values()

    def resume(self) -> None:
        """The segments were put in from outside: all but the last are settled."""
        self.segments[-1].restart()
        self._from = len(self.segments) - 1

    def closed(self) -> Iterator[tuple[str, Segment]]:
        """The closed segments with their names."""
        for segment in self.segments[:-1]:
            if segment.name:
                yield segment.name, segment
