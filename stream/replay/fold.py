"""The fast path: a round's events one by one against the plan, as long as all is lawful.

`Fold` asks of each event only whether it is the act that is due and whether a check finds anything. At the first
doubt it stops following: from then on `stream.replay.judge` judges the round as a whole. Both run the same facts
and the same checks, and a test holds that they agree at every prefix.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from re import fullmatch
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.words import Sense, Setting
from stream.replay.carry import Carry, Watch
from stream.replay.deck import bypassed, doubts
from stream.rulebook.checks import Bound, FirstDraw
from stream.rulebook.facts import Facts
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import Law, load
from stream.rulebook.standing import doubting
from stream.rulebook.steps import Burn, Close, Deal, Due, Plan, Terms, Variant

ENGINE_SETTINGS: Final[Mapping[str, Setting]] = {
    "rounds_kept": 60,
    "minutes_kept": 120,
    "silence_s": 30,
    "identity_confidence": 900,
}

# What is still of a round after it closed: it clears the round away.
CLEARING: Final = frozenset(
    {ev.CardsCollected, ev.CardsDiscarded, ev.StubRemoved, ev.StubCounted, ev.StubDiscarded, ev.WagerSettled,
     ev.WagerRemoved}
)  # fmt: skip
# What counts whether a round is open or not: decks, machines, the button, who is there, directions.
BETWEEN: Final = frozenset(
    {ev.DeckLoaded, ev.DeckUnloaded, ev.DeckRemoved, ev.DeckHeld, ev.ShuffleStarted, ev.ShuffleCompleted,
     ev.ShuffleJammed, ev.ShuffleStopped, ev.ShuffleAborted, ev.DeviceInstalled, ev.DeviceRemoved, ev.ButtonMoved,
     ev.PlayerLeft, ev.PlayerReturned, ev.SeatTaken, ev.SupervisorDirected, ev.SupervisorNoted}
)  # fmt: skip
# They come in a round; after one has closed they show that the opening of the next was lost.
CARDS: Final = frozenset({ev.CardDrawn, ev.CardPlaced})
# After these the deal is over: a step not taken by then was left out.
ENDING: Final = frozenset({ev.RoundClosed, ev.WagerSettled})


def counts_between(kind: type[ev.AnyEvent], facts: Facts) -> bool:
    """Whether an event counts that came while no round was open; a card then shows that one's opening was lost."""
    if kind in CARDS and facts.closed is not None:
        facts.stray()
    return kind in BETWEEN or (kind in CLEARING and facts.round is not None and not facts.strayed)


def _folds(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.PlayerDecided) and event.act == "fold"


def _ends(heard: Heard, facts: Facts) -> bool:
    """Whether an event ends the deal: the round's close, or a wager won or lost by a hand that is still in play."""
    e = heard.event
    if isinstance(e, ev.WagerSettled):
        return e.outcome != "returned" and e.seat not in facts.folded
    return True


class Setup(Struct, frozen=True):
    """A table's rule set with the table's own settings, ready for judging."""

    law: Law
    settings: Mapping[str, Setting]
    senses: frozenset[Sense]
    checks: Mapping[type[ev.Event], tuple[Bound, ...]]
    monitored: frozenset[str]
    odd: tuple[str, ...]  # options that no one knows or with a value that can't be used; the default stands
    deals: bool  # whether placements can be followed at all
    closes: frozenset[type[ev.Event]]  # what ends a stretch of the deal, as far as the table sees it


def number(settings: Mapping[str, Setting], name: str) -> int:
    """A whole-number setting, or its default where the table gave something else."""
    value = settings.get(name)
    default = ENGINE_SETTINGS[name]
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else int(default)


@lru_cache(maxsize=4096)
def _setup(rules: str, senses: frozenset[Sense], approved: bool, options: tuple[tuple[str, Setting], ...]) -> Setup:
    law = load(rules)
    readings = {k: i.default for k, i in law.rules.interpretation.items()}
    defaults = {**ENGINE_SETTINGS, **law.rules.settings, **readings}
    odd = tuple(k for k, v in options if not _usable(law, defaults, k, v))
    settings = {**defaults, **{k: v for k, v in options if k not in odd}}
    monitored = frozenset(a.id for a in law.rules.atom if law.monitored(a, senses, approved=approved))
    checks = {
        moment: kept
        for moment, bound in law.module.CHECKS.items()
        if (kept := tuple(b for b in bound if b.atoms & monitored))
    }
    closes = frozenset(t for t in law.module.CLOSES if senses.issuperset(t.carries))
    return Setup(law, settings, senses, checks, monitored, odd, "placements" in senses, closes)


def _usable(law: Law, defaults: Mapping[str, Setting], name: str, value: Setting) -> bool:
    """Whether an option is known, of its default's type, and one of the readings that there are."""
    if name not in defaults or type(value) is not type(defaults[name]):
        return False
    interpretation = law.rules.interpretation.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        return False
    allowed = law.rules.allowed.get(name)
    if isinstance(allowed, str):
        return isinstance(value, str) and fullmatch(allowed, value) is not None
    if allowed is not None:
        return value in allowed
    return interpretation is None or not interpretation.values or value in interpretation.values


def setup(opened: ev.TableOpened) -> Setup | None:
    """What a table is judged by; None where its rule set is not held."""
    options = tuple(sorted(opened.options.items()))
    try:
        return _setup(opened.rules, frozenset(opened.senses), opened.approved is not None, options)
    except KeyError:
        return None


@lru_cache(maxsize=65536)
def plan_of(rules: str, terms: Terms, settings: tuple[tuple[str, Setting], ...], *, closes: bool) -> Plan:
    """The deal that is due on these terms: the procedure, listed, and of it what is a step of the deal."""
    due: Iterator[Due] = load(rules).module.procedure(terms, dict(settings))
    kinds = (Deal, Burn, Close) if closes else (Deal, Burn)
    return tuple(step for step in due if isinstance(step, kinds))


@lru_cache(maxsize=4096)
def variants_of(
    rules: str, terms: Terms, settings: tuple[tuple[str, Setting], ...], *, closes: bool, seats: int
) -> tuple[Variant, ...]:
    """The rule set's whole deals that are wrong in one way, on these terms, at a table with so many seats."""
    return tuple(load(rules).module.variants(plan_of(rules, terms, settings, closes=closes), terms, seats))


def plan_settings(s: Setup) -> tuple[tuple[str, Setting], ...]:
    """The settings that a plan may depend on."""
    return tuple((k, s.settings[k]) for k in sorted(s.law.rules.settings))


class Fold:
    """One round (and the time after it) folded event by event; `clean` until something is to be judged."""

    __slots__ = (
        "checks", "clean", "closes", "cursor", "dealt", "end", "facts", "last_draw", "opened", "plan", "setup", "shut",
        "standing", "watch",
    )  # fmt: skip

    def __init__(self, carry: Carry, opened: ev.TableOpened | None) -> None:
        self.setup = setup(opened) if opened else None
        settings = self.setup.settings if self.setup else ENGINE_SETTINGS
        self.watch = Watch(carry, number(settings, "silence_s"))
        self.facts = Facts.begin(opened, carry.standing, settings) if opened and self.setup else None
        self.checks = self.setup.checks if self.setup else {}
        self.closes = self.setup.closes if self.setup else frozenset()
        self.opened = carry.opened
        self.standing = carry.standing
        self.shut = carry.shut
        self.clean = True
        self.plan: Plan | None = None
        self.cursor = 0
        self.dealt = 0  # how many steps of the plan there are up to its last deal
        self.end = 0  # up to the last step that is more than the close of a stretch
        self.last_draw = 0

    def step(self, heard: Heard) -> None:
        """Take the next event in order."""
        self.watch.hear(heard)
        kind = type(heard.event)
        if kind is ev.DeviceHeartbeat:
            return  # it tells of its device, and of nothing else
        if kind is ev.TableOpened:
            self.opened, self.shut = heard, None
            config = setup(heard.event)  # type: ignore[arg-type]  # a table.opened
            if config is None or config.odd:
                self.clean = False
        elif kind is ev.TableClosed:
            self.shut = heard
        elif kind is ev.RoundOpened and self.shut is not None:
            self.clean = False
        facts = self.facts
        if facts is None:
            return
        if facts.round is None or facts.closed is not None:
            if kind is ev.RoundOpened:
                facts.note(heard)
                return
            if not counts_between(kind, facts):
                return
            facts.note(heard)
        else:
            facts.note(heard)
        if self.clean:
            self._follow(heard, kind, facts)

    def beat_late(self, heard: Heard, after: Sequence[Heard]) -> bool:
        """Take in a heartbeat that came after others of its round, if that makes no difference; whether it did not.

        Devices beat within milliseconds of each other, and a table that stands idle hears nothing else for hours.
        """
        if type(heard.event) is not ev.DeviceHeartbeat or any(type(h.event) is not ev.DeviceHeartbeat for h in after):
            return False
        return self.watch.beat_late(heard, after)

    def _follow(self, heard: Heard, kind: type, facts: Facts) -> None:
        if kind is ev.CardDrawn:
            if facts.first_draw is heard:
                self._begin(heard, facts)
            if isinstance(heard.event, ev.CardDrawn) and heard.event.draw in facts.placed:
                self.clean = False  # seen to be placed before it was drawn: a matter of clocks
        elif kind is ev.CardPlaced:
            self._place(heard, facts)
            if facts.odd_card:
                self.clean = False
        elif kind in ENDING:
            if self.unfinished and _ends(heard, facts):
                self.clean = False
        elif kind is ev.CardBurned:
            self._burn(heard)
        elif kind is ev.Announced and facts.voids:
            self.clean = False
        elif self.plan is not None and _folds(heard.event):
            self._list(facts)
        if kind in self.closes:
            self._close(facts)
        for bound in self.checks.get(kind, ()):
            if bound.check(facts, heard):
                self.clean = False

    def _begin(self, heard: Heard, facts: Facts) -> None:
        """The first card: the seats in play are known, and with them the whole deal."""
        if self.plan is None:
            self._list(facts)
        if doubts(facts) or bypassed(facts) is not None:
            self.clean = False
        for bound in self.checks.get(FirstDraw, ()):
            if bound.check(facts, heard):
                self.clean = False

    def _list(self, facts: Facts) -> None:
        """The deal on the terms of now; what of it was dealt stays as it is."""
        s = self.setup
        if s is not None and s.deals:
            facts.terms = s.law.module.terms(facts)
            self.plan = plan_of(s.law.rules.id, facts.terms, plan_settings(s), closes=bool(s.closes))
            facts.due = self.plan[self.cursor] if self.cursor < len(self.plan) else None
            self.dealt = max((i for i, step in enumerate(self.plan, 1) if isinstance(step, Deal)), default=0)
            self.end = max((i for i, step in enumerate(self.plan, 1) if not isinstance(step, Close)), default=0)

    def _close(self, facts: Facts) -> None:
        """A stretch of the deal is over: is it the one that is due to end?"""
        if self.plan is None:
            return
        if isinstance(facts.due, Close):
            self._advance(facts)
        elif self.cursor < self.end:
            self.clean = False

    def _advance(self, facts: Facts) -> None:
        self.cursor += 1
        assert self.plan is not None
        facts.due = self.plan[self.cursor] if self.cursor < len(self.plan) else None

    def _burn(self, heard: Heard) -> None:
        """Is a burn due, and this the draw after the last one?"""
        facts, act = self.facts, heard.event
        assert isinstance(act, ev.CardBurned)
        if (
            facts is None
            or not isinstance(facts.due, Burn)
            or act.draw != (self.last_draw + 1 if facts.draws else None)
        ):
            self.clean = False
            return
        self.last_draw = act.draw or 0
        self._advance(facts)

    def _place(self, heard: Heard, facts: Facts) -> None:
        """Is this the card that is due, and the draw after the last one?"""
        act = heard.event
        assert isinstance(act, ev.CardPlaced)
        if self.plan is None:
            self._list(facts)
        if self.plan is None:
            return
        step = facts.due
        if not isinstance(step, Deal) or act.draw != (self.last_draw + 1 if facts.draws else None):
            self.clean = False
            return
        if step.position != act.position or step.facing != act.facing or (step.exact and step.index != act.index):
            self.clean = False
            return
        drawn = facts.draws.get(act.draw) if act.draw is not None else None
        if drawn is not None and heard.at < drawn.at:
            self.clean = False  # in order within each device, and yet before the draw: a matter of clocks
        self.last_draw = act.draw or 0
        facts.explained[heard.device, heard.boot, heard.seq] = step
        if step.facing == "down":
            facts.hidden.add((act.position, act.index))
        self._advance(facts)
        if self.cursor == self.dealt:
            facts.complete_at = heard

    @property
    def unfinished(self) -> bool:
        """Whether the deal was begun and has not come to its end, or more was drawn than dealt."""
        facts = self.facts
        if facts is None or self.plan is None:
            return False
        return self.cursor < self.end or facts.last_draw > self.last_draw

    def carry(self) -> Carry:
        """The state after the events so far."""
        watch = self.watch
        standing = self.facts.standing() if self.facts else self.standing
        return Carry(
            self.opened,
            self.shut,
            doubting(standing, {i.device for i in watch.found}) if watch.found else standing,
            last=dict(watch.last),
            beats=frozenset(watch.beats),
            down=dict(watch.down),
            deaf={device: dict(senses) for device, senses in watch.deaf.items()},
        )
