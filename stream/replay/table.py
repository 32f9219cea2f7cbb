"""The state of one table: its kept events in order, cut into rounds, each with its verdicts.

`hear` takes events in any order of arrival; `arrange` puts them in their places and folds them; `settle` brings the
verdicts up to date. What is in force then is a function of the set of events heard: a late event goes to its place, and
the rounds that it can change are judged again, once for the set. In the ordinary case an event is appended and folded,
and nothing is judged twice. Both can be told to do no more than so much at once, and go on when they are called again:
no event holds up other tables, whatever came before it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.verdicts import Scope, Verdict, identify
from stream.deal.wire import canonical, full, micros
from stream.replay.carry import SECOND, Alive, Carry, Interruption
from stream.replay.faults import came_too_late
from stream.replay.fold import Fold, number, setup
from stream.replay.judge import LONGEST, NOTHING, Judged, judge
from stream.replay.order import cut, ordered
from stream.replay.outages import Span, alive_since, awaited, faulted, interruptions, lasting, seen_from
from stream.replay.segment import LOOKAHEAD, Key, Order, Outline, Segment, consequent
from stream.replay.tail import Tail
from stream.rulebook.heard import Heard

USED_ROUNDS_KEPT: Final = 500  # ids of rounds that have left the kept history, to notice one used again
WARM: Final = 2  # the newest segments stay as events: most late events are of these
LOOKBACK: Final = 5  # rounds before a round that it can rest on
PORTION: Final = 1500  # events gone through at once that hold up nobody: some milliseconds
SEARCHING: Final = 800  # what judging a round costs besides, in events folded
JUDGING: Final = 2  # and each event of it
_SPECIAL: Final = frozenset({ev.TableOpened, ev.EventCorrected, ev.DeviceOnline})


def _lasts(segment: Segment) -> bool:
    """Whether a later round can still change what a closed one says: a duty of it is judged by what comes there."""
    config = segment.opened.event if segment.opened else None
    s = setup(config) if isinstance(config, ev.TableOpened) else None
    lasting = s.law.rules.lasting if s else ()
    return any(v.atom in lasting for v in (segment.verdicts or {}).values())


class Past(Struct, frozen=True, array_like=True):
    """What of a round that has left the kept history those after it can rest on."""

    first: Order
    found: tuple[Interruption, ...]


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
        self.past: list[Past] = []  # the last rounds that have left it, for those that can still rest on them
        self.used: dict[str, None] = {}  # rounds that have left the kept history, oldest first
        self.segments: list[Segment] = [Segment([])]
        self.tails: dict[str, Tail] = {}
        self.corrections: dict[Key, Heard] = {}
        self.first_opened: Heard | None = None  # under which what came before it is judged
        self.counts = Counts()
        self.left: list[Verdict] = []  # verdicts of rounds that have left the kept history
        self.late: set[tuple[str, int]] = set()  # device and boot of which an event came too late, since the start
        self.touched: set[str] = set()  # names of segments judged or taken apart, until somebody clears it
        self.judged: set[str] = set()  # of these, judged as they are now, until somebody clears it
        self.arranged = True  # whether all that was heard is in its place and folded
        self._waiting: dict[Key, Heard] = {}  # to be put into the ordered whole
        self._lifted = 0  # how far the order may change where an event was taken out: what it began, and what it lifted
        self._from = 0  # the first segment that is not folded
        self._unjudged = 0  # the first segment that may have to be judged
        self._opening = False  # the first table.opened is to be looked for
        self._alive: Alive | None = None  # since when each sense is known to be carried; None: to be told anew
        self._outages: tuple[Interruption, ...] | None = None  # of the kept history; None: to be told anew
        self._judged_with: tuple[Alive, tuple[Interruption, ...]] = ((), ())  # these two, as rounds were judged by last
        self._spare = 0.0  # what of the portion of this call is left, in events folded

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
        self._alive = self._outages = None
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
            held = segment.find(key)
            if held is not None:
                self._again(segment, held, event, mark)
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
            self._unjudged = min(self._unjudged, self.segments.index(segment))
            return
        self.counts.conflicting += 1
        if canonical(full(event)) < canonical(full(heard.event)):
            self._take_out(heard[1:4])
            at = micros(event.at)
            self._insert(Heard(at, event.device, event.boot, event.seq, at, event, mark))
            self._merge()
            segment = next(s for s in self.segments if s.find(heard[1:4]) is not None)
            self._relearn(event.device)
            self._opening = self.base.opened is None
        segment.conflicts.add(heard[1:4])
        segment.stale, segment.saved = True, False
        self._unjudged = min(self._unjudged, self.segments.index(segment))

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
        self._alive = self._outages = None
        self.tails[device].relearn(kept, anew=self.fresh)

    def _take_out(self, key: Key) -> None:
        """Remove an event, so that another can stand in its place."""
        self._merge()
        for k, segment in enumerate(self.segments):
            if segment.find(key) is None:
                continue
            self._lifted = max(self._lifted, segment.events[-1].when)
            segment.events = [h for h in segment.events if h[1:4] != key]
            segment.conflicts.discard(key)
            segment.restart()
            self._from = min(self._from, max(0, k - 1))

    # --- order

    def _insert(self, new: Heard) -> None:
        """An event that is to be put into the ordered whole, with all that come before the next settling."""
        self._waiting[new[1:4]] = new

    def _merge(self) -> None:
        """Put what waits into the ordered whole: the rounds that it can touch are ordered and cut anew.

        An event lifts later ones of its device to its own time at most: rounds that begin after that stay as they are.
        """
        if not self._waiting:
            return
        new = list(self._waiting.values())
        self._waiting = {}
        outlines = [s.outline for s in self.segments]
        k = min(self._from, *(self._place_of(h, outlines) for h in new))
        carry = self._carry_into(k)
        old = self.segments[k : self._end_of(new, k, outlines)]
        conflicts = {c for s in old for c in s.conflicts}
        spare = {s.events[0][:4]: s for s in old if s.events}
        self.touched.update(s.name for s in old if s.name)
        self.judged.difference_update(self.touched)
        parts: list[Segment] = []
        for events in cut(ordered([*(h for s in old for h in s.events), *new], carry)):
            same = spare.get(events[0][:4])
            if same is not None and same.events == events:
                parts.append(same)
                continue
            segment = Segment(events)
            if conflicts:
                segment.conflicts = conflicts & {h[1:4] for h in events}
            parts.append(segment)
        if k == 0 and self.fresh and parts[0].round is not None:
            parts.insert(0, Segment([]))  # what lies before the first round
        self.segments[k : k + len(old)] = parts
        self.segments[k].carry = carry
        self._from = min(self._from, k)
        self._unjudged = min(self._unjudged, k)
        self._outages = None
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

    def _end_of(self, new: Sequence[Heard], k: int, outlines: Sequence[Outline | None]) -> int:
        """The first segment after k that new events can't touch: each is timed as it says, or as its device's last."""
        latest = max(self._lifted, *(self._timed(h, outlines) for h in new))
        self._lifted = 0
        later = (i for i in range(k + 1, len(outlines)) if (o := outlines[i]) is not None and o.first[0] > latest)
        return next(later, len(outlines))

    def _timed(self, new: Heard, outlines: Sequence[Outline | None]) -> int:
        """When a new event is in the order: not before what its device sent earlier."""
        for segment, outline in zip(reversed(self.segments), reversed(outlines), strict=True):
            span = outline.spans.get(new.device) if outline is not None else None
            if span is not None and span[0] < new[2:4]:
                before = (h.when for h in segment.events if h.device == new.device and h[2:4] < new[2:4])
                return max(new.when, *before)
        return new.when

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
                self._unjudged = min(self._unjudged, k)

    def settle(self, *, portion: bool = False) -> bool:
        """Arrange, then judge what is in doubt, the newest first; whether `in_force` is up to date afterwards.

        With `portion` no more is done than holds up nobody; the next call goes on.
        """
        return self.arrange(portion=portion) and self._judge_rounds()

    def arrange(self, *, portion: bool = False) -> bool:
        """Put what was heard in its place, fold it, and let go what is too old; only what leaves is judged.

        Whether all is arranged; with `portion` (see `settle`) it may not be.
        """
        self._spare = PORTION if portion else float("inf")
        self._merge()
        if self._opening:
            self._look_for_opening()
        k = self._from
        self._unjudged = min(self._unjudged, k)
        while k < len(self.segments) and self._fold_segment(k):
            k += 1
            while self._is_folded(k) and self._handed_on(k):
                k += 1
        self._from = min(k, len(self.segments) - 1)
        self.arranged = k >= len(self.segments) and self._forget()
        return self.arranged

    def outstanding(self) -> set[str]:
        """The names of rounds that may have to be judged."""
        return {s.name for s in self.segments[self._unjudged :]}

    def stale(self) -> set[str]:
        """The names of rounds of which something came that they were not judged by."""
        last = self.segments[-1]
        return {s.name for s in self.segments if s.stale or s.judged_as is None or s.judged_as[0] == (s is last)}

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

    def _is_folded(self, k: int) -> bool:
        """Whether a segment that is not the last has nothing to be folded."""
        if k + 1 >= len(self.segments):
            return False
        segment = self.segments[k]
        return segment.cold or (segment.carry is not None and segment.folded == len(segment.events))

    def _handed_on(self, k: int) -> bool:
        """Whether the segment after k knows what it begins with."""
        after = self.segments[k + 1]
        return after.cold or after.carry is not None

    def _fold_segment(self, k: int) -> bool:
        """Fold one segment to its end, or to where the next round opens; the rest becomes the next segment.

        It hands its state on to the next. False where the portion was used up before its end.
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
        if segment.fold is None and self._is_folded(k) and self._handed_on(k) and events:
            return True
        anew = segment.fold is None
        if segment.fold is None:
            config = opened.event if opened else None
            segment.fold = Fold(carry, config if isinstance(config, ev.TableOpened) else None)
            segment.folded = 0
        self._step(segment, segment.fold, k)
        if segment.folded < len(segment.events):
            return False
        found = segment.fold.watch.found
        if anew or len(found) != len(segment.found):
            told = self._told(segment, found)
            if told != segment.found:
                segment.found, self._outages = told, None
        if k + 1 < len(self.segments):
            self._hand_on(segment, segment.fold.carry(), self.segments[k + 1])
        return True

    def _step(self, segment: Segment, fold: Fold, k: int) -> None:
        """Fold events as far as the portion reaches."""
        begin, events = segment.folded, segment.events
        end = int(min(len(events), begin + max(1, self._spare)))
        for i in range(begin, end):
            heard = events[i]
            if type(heard.event) is ev.RoundOpened and (i or (k == 0 and self.fresh)):
                self._split(segment, k, i)
                end = i
                break
            fold.step(heard)
        segment.folded = end
        self._spare -= end - begin

    def _hand_on(self, segment: Segment, out: Carry, after: Segment) -> None:
        segment.out = out
        if after.cold:
            _ = after.events  # warm, with what it begins with
        if after.carry != out:
            after.begin_with(out)

    def _split(self, segment: Segment, k: int, i: int) -> None:
        """From event i on a segment is another round."""
        rest = Segment(segment.events[i:])
        segment.events = segment.events[:i]
        segment.stale, segment.saved = True, False
        if segment.conflicts:
            rest.conflicts = segment.conflicts & {h[1:4] for h in rest.events}
            segment.conflicts -= rest.conflicts
        self.segments.insert(k + 1, rest)

    # --- judging

    def _judge_rounds(self) -> bool:
        """Judge what changed, and what turns out to have been interrupted; whether all was judged."""
        last = len(self.segments) - 1
        if self._unjudged < last or self.segments[last].judged_as is None:
            self._note_reuse()
        self._look_around()
        for k in range(last, max(0, self._unjudged - LOOKAHEAD) - 1, -1):
            if (k >= self._unjudged or self.segments[k].pending) and not self._judge_round(k):
                self._unjudged = min(self._unjudged, k)
                return False
        self._unjudged = last
        return True

    def _look_around(self) -> None:
        """What devices were away, and since when senses are carried: where that has changed every round is in doubt."""
        if self._outages is None:
            self._outages = interruptions(self._every_found(), self.tails)
        if self._alive is None:
            self._alive = alive_since(self.tails)
        if (self._alive, self._outages) != self._judged_with:
            self._judged_with, self._unjudged = (self._alive, self._outages), 0

    def _every_found(self) -> Iterator[Interruption]:
        """The interruptions that rounds found, in the order of these."""
        yield from chain(*(p.found for p in self.past), *(s.found for s in self.segments))

    def _told(self, segment: Segment, found: Sequence[Interruption]) -> tuple[Interruption, ...]:
        """The interruptions that a segment shows, with the ids of the verdicts that tell of them."""
        if not found:
            return ()
        config = segment.opened.event if segment.opened else None
        s = setup(config) if isinstance(config, ev.TableOpened) else None
        first = segment.ends[0] if segment.ends else None

        def fault(i: Interruption) -> str:
            where: str | ev.Identity = segment.round or ev.Identity(*i.noticed[1:4])
            if segment.round is not None and segment.reused and first is not None:
                where = ev.Identity(*first[1:4])
            return identify(self.name, where, s.law.rules.id if s else None, i.code, Scope("device", device=i.device))

        return faulted(found, fault)

    def _note_reuse(self) -> None:
        """Which of the rounds that may have to be judged have the id of an earlier one."""
        seen = {s.round for s in self.segments[: self._unjudged]}
        for segment in self.segments[self._unjudged :]:
            rnd = segment.round
            reused = rnd is not None and (rnd in self.used or rnd in seen)
            seen.add(rnd)
            if reused != segment.reused and segment.events:
                segment.reused, self._outages = reused, None
                segment.found = self._told(segment, segment.found)

    def _judge_round(self, k: int) -> bool:
        """Judge one round if it is in doubt; False where the portion has no room for that."""
        segment = self.segments[k]
        alive, known = self._judged_with
        closed = k + 1 < len(self.segments)
        beyond = self._beyond(k) if closed and (segment.pending or segment.stale) else segment.beyond
        if beyond != segment.beyond:
            segment.beyond, segment.stale, segment.saved = beyond, True, False
        own = segment.ends
        mine = seen_from(known, own, self._reach(k, own)) if known and own else ()
        judged_as = (closed, segment.reused, mine, alive)
        unknown = segment.verdicts is None and segment.name in self.touched
        if not segment.stale and judged_as == segment.judged_as and not unknown:
            return True
        beyond = self._beyond(k) if closed else ()
        judged = NOTHING if self._is_plain(k, mine) else self._judged(k, mine, beyond)
        if judged is None:
            return False
        segment.verdicts, segment.rests_on = {v.id: v for v in judged.verdicts}, judged.rests_on
        segment.saved = segment.saved and judged_as == segment.judged_as
        segment.pending = closed and _lasts(segment)
        segment.beyond = beyond
        segment.judged_as, segment.stale = judged_as, False
        segment.full = any(v.code == "round_too_long" for v in judged.verdicts)
        if segment.name:
            self.touched.add(segment.name)
            self.judged.add(segment.name)
        return True

    def _begins(self, k: int) -> bool:
        """Whether nothing of this table came before a segment."""
        return self.fresh and (k == 0 or (k == 1 and not self.segments[0].events))

    def _is_plain(self, k: int, mine: tuple[Interruption, ...]) -> bool:
        """Whether the fold tells by itself that there is nothing to say of a segment."""
        segment = self.segments[k]
        if not segment.events:
            return True
        fold = segment.fold
        clean = fold is not None and fold.clean and not (k + 1 < len(self.segments) and fold.unfinished)
        return clean and not mine and not segment.conflicts and not segment.reused and not self._begins(k)

    def _judged(self, k: int, mine: tuple[Interruption, ...], beyond: tuple[Heard, ...]) -> Judged | None:
        """What a segment means; None where the portion has no room for that: more than half of it is used up."""
        segment = self.segments[k]
        events, carry = segment.events, segment.carry
        assert carry is not None
        cost = SEARCHING + JUDGING * min(len(events), LONGEST)
        if self._spare < min(cost, PORTION // 2):
            return None
        self._spare -= cost
        alive, _ = self._judged_with
        return judge(
            self.name,
            carry,
            segment.opened,
            events,
            interruptions=mine,
            alive=alive,
            conflicts=[h for h in events if h[1:4] in segment.conflicts],
            reused=segment.reused,
            closed=k + 1 < len(self.segments),
            first=self._begins(k),
            beyond=beyond,
            memo=segment.memo,
        )

    def _beyond(self, k: int) -> tuple[Heard, ...]:
        """What the rounds after a segment show that one of its duties can end with."""
        after = self.segments[k + 1 : k + 1 + LOOKAHEAD]
        return tuple(h for s in after for h in consequent(s.events))

    def _reach(self, k: int, own: Span) -> Span:
        """What a round rests on: from the rounds in which its deck was shuffled, to those in which its duties end."""
        here = [e[0] for s in self.segments[max(0, k - LOOKBACK) : k + 1] if (e := s.ends)]
        begins = [*(p.first for p in self.past), *here][-LOOKBACK - 1 :]
        beyond = self.segments[k].beyond
        return begins[0], max(own[1], beyond[-1][:4]) if beyond else own[1]

    def unheard(self, segment: str, verdict: str) -> bool:
        """Whether a device that could still show what a verdict says was not seen has not been heard since."""
        rests_on = next((s.rests_on for s in self.segments if s.name == segment), {}).get(verdict, ())
        fold = self.segments[-1].fold
        return awaited(rests_on, self.tails, fold.watch.down if fold is not None else {})

    # --- how much is kept

    def _forget(self) -> bool:
        """Let rounds beyond the kept history go, judged; False where the portion has no room for that.

        What they said stands, and no late event can change it.
        """
        while self._too_much():
            if self._unjudged <= LOOKAHEAD:
                self._note_reuse()
                self._look_around()
                if not self._judge_round(0):
                    return False
            self._drop(self.segments[0])
        return True

    def _too_much(self) -> bool:
        """Whether more is kept than the table's settings say."""
        last, oldest = self.segments[-1], self.segments[0]
        if last is oldest:
            return False
        config = last.opened.event if last.opened else None
        s = setup(config) if isinstance(config, ev.TableOpened) else None
        settings = s.settings if s else {}
        begin = last.ends[0][0] - number(settings, "minutes_kept") * 60 * SECOND if last.ends else 0
        rounds = len(self.segments) - 1 - (oldest.round is None)
        old = oldest.ends is not None and oldest.ends[1][0] < begin
        return old or rounds > number(settings, "rounds_kept")

    def _drop(self, oldest: Segment) -> None:
        self.base = self._carry_into(1)
        if oldest.ends is not None:
            self.past.append(Past(oldest.ends[0], oldest.found))
            if len(self.past) > LOOKBACK and (leaving := self.past.pop(0)).found:
                self._outages = None
                first, found = self.past[0].first, self.past[0].found
                self.past[0] = Past(first, (*lasting(leaving.found, self._every_found(), first), *found))
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
        self._unjudged = max(0, self._unjudged - 1)

    def cool(self) -> None:
        """Keep closed segments that are judged, but the newest, as their records: a third of the memory."""
        for segment in reversed(self.segments[: min(self._unjudged, max(0, len(self.segments) - WARM))]):
            if segment.cold:
                break
            segment.freeze()

    # --- what is in force

    def in_force(self) -> Iterator[Verdict]:
        """The verdicts of the kept rounds, oldest round first."""
        for segment in self.segments:
            yield from (segment.verdicts or {}).values()

    def resume(self) -> None:
        """The segments were put in from outside: all but the last are folded."""
        self.segments[-1].restart()
        self._from = self._unjudged = len(self.segments) - 1

    def closed(self) -> Iterator[tuple[str, Segment]]:
        """The closed segments with their names."""
        for segment in self.segments[:-1]:
            if segment.name:
                yield segment.name, segment
