"""The fast path: a round's events one by one against the plan, as long as all is lawful.

`Fold` asks of each event only whether it is the act that is due and whether a check finds anything. At the first
doubt it stops following: from then on `stream.replay.judge` judges the round as a whole. Both run the same facts
and the same checks, and a test holds that they agree at every prefix.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from stream.deal import events as ev
from stream.deal.words import Seat, Setting
from stream.replay.carry import Carry, Watch
from stream.rulebook.checks import Bound, FirstDraw
from stream.rulebook.facts import Facts
from stream.rulebook.heard import Heard
from stream.rulebook.paragraphs import Law, load
from stream.rulebook.steps import Deal, Due, Plan, Variant

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
# What counts whether a round is open or not: decks, machines, devices.
BETWEEN: Final = frozenset(
    {ev.DeckLoaded, ev.DeckUnloaded, ev.DeckRemoved, ev.DeckHeld, ev.ShuffleStarted, ev.ShuffleCompleted,
     ev.ShuffleJammed, ev.ShuffleStopped, ev.ShuffleAborted, ev.DeviceInstalled, ev.DeviceRemoved}
)  # fmt: skip
# After these the deal is over: a step not taken by then was left out.
ENDING: Final = frozenset({ev.RoundClosed, ev.WagerSettled})


class Setup(Struct, frozen=True):
    """A table's rule set with the table's own settings, ready for judging."""

    law: Law
    settings: Mapping[str, Setting]
    senses: frozenset[str]
    checks: Mapping[type[ev.Event], tuple[Bound, ...]]
    monitored: frozenset[str]
    odd: tuple[str, ...]  # options that no one knows or with a value that can't be used; the default stands
    deals: bool  # whether placements can be followed at all


def number(settings: Mapping[str, Setting], name: str) -> int:
    """A whole-number setting, or its default where the table gave something else."""
    value = settings.get(name)
    default = ENGINE_SETTINGS[name]
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else int(default)


@lru_cache(maxsize=4096)
def _setup(rules: str, senses: frozenset[str], approved: bool, options: tuple[tuple[str, Setting], ...]) -> Setup:
    law = load(rules)
    readings = {k: i.default for k, i in law.rules.interpretation.items()}
    defaults = {**ENGINE_SETTINGS, **law.rules.settings, **readings}
    odd = tuple(k for k, v in options if not _usable(law, defaults, k, v))
    settings = {**defaults, **{k: v for k, v in options if k not in odd}}
    monitored = frozenset(
        a.id
        for a in law.rules.atom
        if law.monitored(a, senses, approved=approved)  # type: ignore[arg-type]  # senses
    )
    checks = {
        moment: kept
        for moment, bound in law.module.CHECKS.items()
        if (kept := tuple(b for b in bound if b.atoms & monitored))
    }
    return Setup(law, settings, senses, checks, monitored, odd, "placements" in senses)


def _usable(law: Law, defaults: Mapping[str, Setting], name: str, value: Setting) -> bool:
    """Whether an option is known, of its default's type, and one of the readings that there are."""
    if name not in defaults or type(value) is not type(defaults[name]):
        return False
    interpretation = law.rules.interpretation.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        return False
    return interpretation is None or not interpretation.values or value in interpretation.values


def setup(opened: ev.TableOpened) -> Setup | None:
    """What a table is judged by; None where its rule set is not held."""
    options = tuple(sorted(opened.options.items()))
    try:
        return _setup(opened.rules, frozenset(opened.senses), opened.approved is not None, options)
    except KeyError:
        return None


@lru_cache(maxsize=65536)
def plan_of(rules: str, seats: tuple[Seat, ...], settings: tuple[tuple[str, Setting], ...]) -> Plan:
    """The deal that is due with these seats in play: the procedure, listed, and of it the cards."""
    due: Iterator[Due] = load(rules).module.procedure(seats, dict(settings))
    return tuple(step for step in due if isinstance(step, Deal))


@lru_cache(maxsize=4096)
def variants_of(rules: str, seats: tuple[Seat, ...], settings: tuple[tuple[str, Setting], ...]) -> tuple[Variant, ...]:
    """The rule set's whole deals that are wrong in one way, for these seats."""
    return tuple(load(rules).module.variants(plan_of(rules, seats, settings)))


def plan_settings(s: Setup) -> tuple[tuple[str, Setting], ...]:
    """The settings that a plan may depend on."""
    return tuple((k, s.settings[k]) for k in sorted(s.law.rules.settings))


class Fold:
    """One round (and the time after it) folded event by event; `clean` until something is to be judged."""

    __slots__ = (
        "checks", "clean", "cursor", "facts", "last_draw", "opened", "plan", "setup", "shut", "standing",
        "watch",
    )  # fmt: skip

    def __init__(self, carry: Carry, opened: ev.TableOpened | None) -> None:
        self.setup = setup(opened) if opened else None
        settings = self.setup.settings if self.setup else ENGINE_SETTINGS
        self.watch = Watch(carry, number(settings, "silence_s"))
        self.facts = Facts(opened, carry.standing, settings) if opened and self.setup else None
        self.checks = self.setup.checks if self.setup else {}
        self.opened = carry.opened
        self.standing = carry.standing
        self.shut = carry.shut
        self.clean = True
        self.plan: Plan | None = None
        self.cursor = 0
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
            if kind in BETWEEN or (kind in CLEARING and facts.round is not None):
                facts.note(heard)
            if kind not in CLEARING or facts.round is None:
                return
        else:
            facts.note(heard)
        if self.clean:
            self._follow(heard, kind, facts)

    def _follow(self, heard: Heard, kind: type, facts: Facts) -> None:
        if kind is ev.CardDrawn:
            if facts.first_draw is heard:
                self._begin(heard, facts)
        elif kind is ev.CardPlaced:
            self._place(heard, facts)
        elif kind in ENDING:
            if self.unfinished:
                self.clean = False
        elif kind is ev.CardBurned or (kind is ev.Announced and facts.voids):
            self.clean = False
        for bound in self.checks.get(kind, ()):
            if bound.check(facts, heard):
                self.clean = False

    def _begin(self, heard: Heard, facts: Facts) -> None:
        """The first card: the seats in play are known, and with them the whole deal."""
        if self.plan is None:
            self._list(facts)
        if facts.dealt_from is not None and facts.dealt_from.sorted:
            self.clean = False
        for bound in self.checks.get(FirstDraw, ()):
            if bound.check(facts, heard):
                self.clean = False

    def _list(self, facts: Facts) -> None:
        s = self.setup
        if s is not None and s.deals:
            self.plan = plan_of(s.law.rules.id, s.law.module.in_play(facts), plan_settings(s))

    def _place(self, heard: Heard, facts: Facts) -> None:
        """Is this the card that is due, and the draw after the last one?"""
        act = heard.event
        assert isinstance(act, ev.CardPlaced)
        if self.plan is None:
            self._list(facts)
        plan, cursor = self.plan, self.cursor
        if plan is None:
            return
        due = self.last_draw + 1 if facts.draws else None
        if cursor >= len(plan) or act.draw != due:
            self.clean = False
            return
        step = plan[cursor]
        if step.position != act.position or step.facing != act.facing or (step.exact and step.index != act.index):
            self.clean = False
            return
        self.last_draw, self.cursor = act.draw or 0, cursor + 1
        facts.explained[heard.device, heard.boot, heard.seq] = step
        if step.facing == "down":
            facts.hidden.add((act.position, act.index))
        if cursor + 1 == len(plan):
            facts.complete_at = heard

    @property
    def unfinished(self) -> bool:
        """Whether the deal was begun and has not come to its end, or more was drawn than dealt."""
        facts = self.facts
        if facts is None or self.plan is None:
            return False
        return self.cursor < len(self.plan) or facts.last_draw > self.last_draw

    def carry(self) -> Carry:
        """The state after the events so far."""
        watch = self.watch
        return Carry(
            self.opened,
            self.shut,
            self.facts.standing() if self.facts else self.standing,
            last=dict(watch.last),
            beats=frozenset(watch.beats),
            down=dict(watch.down),
        )
