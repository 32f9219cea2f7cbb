"""What rules may read: wagers, draws, placements, calls, decks, hands. Kept by the engine, read by checks and duties.

The persistent part goes from round to round as `Standing`; the rest begins anew with each round.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stream.deal import events as ev
from stream.deal.words import ButtonPlace, Facing, Hand, Into, Position, Seat, Sense, Setting, Source
from stream.rulebook.findings import Finding
from stream.rulebook.heard import Heard, unsure
from stream.rulebook.noting import NOTES, Up, Wager, is_call
from stream.rulebook.standing import DeckDoubt, Load, Standing, Tally
from stream.rulebook.steps import Plan, Step, Terms

WAIT: Final = object()

_NO_STEP: Final[dict[int, Step]] = {}


class Facts:
    """The facts of one round, as they stand after the last event noted."""

    __slots__ = (
        "_later", "absent", "acks", "assets", "astray", "back", "bets", "beyond", "boxed", "burned", "button", "button_then", "calls", "cards", "chosen",
        "closed", "collected", "complete_at", "completes", "counts", "dealt_from", "decided", "decisions", "deck_doubts", "decks",
        "discarded", "draws", "due", "endings", "explained", "faces", "first_draw", "folded", "folding", "gates", "handled",
        "hidden", "holding", "installed", "last_draw", "last_placed", "left", "loads", "missed", "opened", "orders",
        "over", "placed", "placements", "plan", "requested", "returned", "reveal", "round", "seated", "settings", "settled",
        "side", "source", "sources", "steps", "stub_left", "stub_out", "stubs", "taken", "takes", "terms", "touches", "turn", "turns", "twice", "uncounted", "ups",
        "viewed", "voids", "wagers",
    )  # fmt: skip

    def __init__(self, opened: ev.TableOpened, standing: Standing, settings: Mapping[str, Setting]) -> None:
        self.opened = opened
        self.settings = settings
        self.decks = dict(standing.decks)
        self.loads = dict(standing.loads)
        self.assets = dict(standing.assets)
        self.holding = standing.holding
        self.installed = dict(standing.installed)
        self.side = standing.side
        self.uncounted = standing.stubs
        self.stub_out = standing.stub_out
        self.stub_left: tuple[Heard, str | None] | None = None  # out of the rack when this round was dealt
        self.button = standing.button
        self.turn = standing.turn
        self.missed = standing.missed
        self.astray: ButtonPlace | None = None  # where the button should have been put for this round, and was not
        self.absent = dict(standing.absent)
        self.seated = dict(standing.seated)
        self.orders = standing.orders
        self.button_then: ButtonPlace | None = None  # where it stood at the first draw
        self.round: Heard | None = None
        self.closed: Heard | None = None
        self.over = False  # no later event can be of this round
        self.first_draw: Heard | None = None
        self.dealt_from: Load | None = None  # what the first card was drawn from
        self.deck_doubts: tuple[DeckDoubt, ...] = ()  # what was wrong with it, as its shuffler told
        self.sources: list[tuple[Heard, str]] = []  # the first draw from each deck
        self.last_draw = 0
        self.source: Source | None = None
        self.draws: dict[int, Heard] = {}
        self.placements: list[Heard] = []
        self.placed: dict[int, Heard] = {}  # draw -> its latest placement
        self.last_placed: Heard | None = None
        self.faces: dict[tuple[Position, int], Facing] = {}
        self.ups: list[Up] = []
        self.cards: dict[str, int] = {}  # identity read -> draw
        self.twice = False  # one identity was read of two draws
        self.boxed: list[Heard] = []  # found face up in the source or in the stub
        self.calls: list[Heard] = []
        self.voids: list[Heard] = []
        self.bets: list[Heard] = []
        self.gates: list[Heard] = []  # what ended a stretch of the deal
        self.turns: list[Heard] = []
        self.settled: list[Heard] = []
        self.wagers: dict[tuple[Seat, str], Wager] = {}
        self.decided: set[Seat] = set()
        self.decisions: list[Heard] = []
        self.folded: dict[Seat, int] = {}  # seat -> betting rounds closed before
        self.burned: list[Heard] = []
        self.returned: dict[int, Heard] = {}
        self.discarded: dict[int, Heard] = {}
        self.collected: dict[Position, int] = {}
        self.takes: list[Heard] = []  # cards taken up and counted
        self.taken: dict[Position, Heard] = {}  # when a hand's cards were first taken up
        self.touches: list[Heard] = []
        self.handled: dict[Seat, Heard] = {}
        self.viewed: dict[Seat, Heard] = {}
        self.requested: dict[Seat, Heard] = {}
        self.left: list[Heard] = []  # players who went away in this round
        self.back: list[Heard] = []  # players who came back in this round
        self.acks: list[Heard] = []
        self.stubs: list[Heard] = []  # removed, counted, discarded
        self.counts: list[Heard] = []  # of the stub
        self.chosen: Hand | None = None
        # What the explained plan says: kept by the engine beside each matching act.
        self.terms: Terms | None = None
        self.due: Step | None = None  # while folding: the step that is due next
        self.plan: Plan = ()  # a whole round: the deal as it was due
        self.endings: dict[str, Heard] = {}  # a whole round: the irregularities by which it had to end, by atom
        self.steps = _NO_STEP  # a whole round: draw -> what it was
        self.hidden: set[tuple[Position, int]] = set()  # cards that lie face down and shall
        self.complete_at: Heard | None = None  # the act that completed the deal, once it has come
        self.completes: Heard | None = None  # the same, known ahead when a whole round is judged
        self.reveal: Heard | None = None  # the first lawfully hidden common card turned up, not by a player
        self.explained: dict[tuple[str, int, int], Step] = {}
        self.folding = True
        self.beyond: Sequence[Heard] = ()
        self._later: list[Heard] | None = None

    def standing(self) -> Standing:
        """What of these facts outlives the round."""
        return Standing(
            dict(self.decks),
            dict(self.loads),
            dict(self.assets),
            self.holding,
            dict(self.installed),
            self.side,
            self.uncounted,
            self.stub_out,
            self.button,
            self.turn,
            self.missed,
            dict(self.absent),
            dict(self.seated),
            self.orders,
        )

    def setting(self, name: str) -> Setting:
        """A setting of the table: its own, else the rule set's default."""
        return self.settings[name]

    # --- looking ahead

    def look(self, events: list[Heard] | None, beyond: Sequence[Heard] = ()) -> None:
        """Let checks see the events that follow (the whole round is judged), or not (it is being folded).

        `beyond` are the events of later rounds that a duty of this one can end with.
        """
        self._later = events
        self.beyond = beyond
        self.folding = events is None

    def later(self, after: Heard, *kinds: type[ev.Event]) -> Iterator[Heard]:
        """Events of some types (none named: of any) after one, in order; none while folding."""
        wanted = kinds or (ev.Event,)
        for heard in self._later or ():
            if heard > after and isinstance(heard.event, wanted):
                yield heard

    def wait(self) -> tuple[Finding, ...]:
        """Only later events can tell: makes the engine judge the round as a whole."""
        return (WAIT,) if self.folding else ()  # type: ignore[return-value]  # a mark, never read as a finding

    # --- questions that several rule sets ask

    def call_after(self, moment: Heard | None) -> Heard | None:
        """The last "No more bets" heard so far in this round that was heard after a moment."""
        call = self.calls[-1] if self.calls else None
        return call if call is not None and (moment is None or call > moment) else None

    def maybe_after(self, moment: Heard) -> Heard | None:
        """A "No more bets" heard before a moment that the clocks allow to have come after it."""
        return next((c for c in reversed(self.calls) if c < moment and unsure(c, moment)), None)

    def maybe_call(self, moment: Heard) -> Heard | None:
        """A "No more bets" heard after a moment that the clocks allow to have come before it."""
        return next((c for c in self.later(moment, ev.Announced) if is_call(c) and unsure(c, moment)), None)

    def sees(self, *senses: Sense) -> bool:
        """Whether the table can see all of these."""
        return set(senses) <= set(self.opened.senses)

    def load_of(self, into: Into) -> Load | None:
        """The deck in a shoe or a hand, if its loading was seen."""
        return self.loads.get(into)

    def size_of(self, deck: str) -> int:
        """How many cards a deck has when it is whole; 52 where the table does not say."""
        return next((d.cards for d in self.opened.decks if d.id == deck), 52)

    @property
    def deck(self) -> str | None:
        """The deck that this round is dealt from, if its loading was seen."""
        return self.dealt_from.deck if self.dealt_from else None

    @property
    def ending(self) -> Heard | None:
        """The first irregularity by which the round had to end."""
        return min(self.endings.values(), default=None)

    @property
    def tally(self) -> Tally | None:
        """What was dealt from this round's deck since it was last known to be whole."""
        deck = self.decks.get(self.deck) if self.deck else None
        return deck.tally if deck else None

    def staked(self, *areas: str) -> tuple[Seat, ...]:
        """The seats with chips on any of these areas now, S1 first."""
        return tuple(sorted({s for (s, a), w in self.wagers.items() if a in areas and w.amount > 0}))

    def all_settled(self) -> bool:
        """Whether every wager placed has ended, and at least one was settled."""
        return bool(self.settled) and all(w.settled or w.amount <= 0 for w in self.wagers.values())

    def accounted(self) -> set[int]:
        """The draws that are known to have gone elsewhere than to the layout."""
        return {*self.returned, *self.discarded}

    def step_of(self, draw: int) -> Step | None:
        """The step of the deal that a draw serves: as explained, or while folding the one that is due."""
        return self.due if self.folding else self.steps.get(draw)

    def counted(self, position: Position) -> int:
        """How many cards lie at a position, each draw where it was last placed."""
        n = 0
        for h in self.placements:
            draw = h.event.draw  # type: ignore[union-attr]  # a card.placed
            last = self.placed[draw].event if draw is not None else h.event
            n += last.position == position  # type: ignore[union-attr]  # a card.placed
        return n

    # --- noting

    def note(self, heard: Heard) -> None:
        """Take an event in."""
        noted = NOTES.get(type(heard.event))
        if noted is not None:
            noted(self, heard, heard.event)
