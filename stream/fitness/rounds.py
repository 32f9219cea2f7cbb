"""Rounds: opened, closed, their ids, and acts that lie in none."""

from collections.abc import Iterator, Sequence
from typing import Final

from stream.deal import events as ev
from stream.fitness.findings import Finding
from stream.fitness.history import History
from stream.fitness.telemetry import Note, Telemetry

# Acts that only a round can hold.
IN_A_ROUND: Final = (
    ev.CardDrawn, ev.CardPlaced, ev.CardTurned, ev.CardBurned, ev.CardReturned, ev.WagerPlaced, ev.PlayerDecided,
    ev.BettingClosed,
)  # fmt: skip


def rounds(telemetry: Telemetry, histories: Sequence[History]) -> Iterator[Finding]:
    """Rounds that were not closed, ids used again, and acts outside of any round, for each table."""
    for history in histories:
        yield from _edges(telemetry, history)
        yield from _ids(telemetry, history)
        yield from _outside(telemetry, history)


def _edges(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    begun: Note | None = None
    unclosed: list[Note] = []
    unopened: list[Note] = []
    for note in history.notes:
        if note.kind is ev.RoundOpened:
            if begun is not None:
                unclosed.append(begun)
            begun = note
        elif note.kind is ev.RoundClosed:
            if begun is None:
                unopened.append(note)
            begun = None
    for code, notes, what, remedy in (
        ("round_not_closed", unclosed, "rounds were not closed before the next one opened",
         "send round.closed at the end of each round; what a round still owes is judged there"),
        ("round_not_opened", unopened, "round.closed came where no round was open",
         "send round.opened before the first wager of each round"),
    ):  # fmt: skip
        if notes:
            where = telemetry.where(notes[0].place)
            yield Finding("rounds", code, "wrong", what, remedy, history.table, notes[0].device, len(notes), where)
    if begun is not None:
        yield Finding(
            "rounds", "last_round_open", "remark", "the last round is not closed", "nothing, if it was still in play",
            history.table, begun.device, 1, telemetry.where(begun.place),
        )  # fmt: skip


def _ids(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    used: set[int | str | None] = set()
    again: list[Note] = []
    for note in history.notes:
        if note.kind is ev.RoundOpened:
            if note.about in used:
                again.append(note)
            used.add(note.about)
    if again:
        yield Finding(
            "rounds", "round_reused", "wrong", f"round ids were used again, first {again[0].about}",
            "give each round an id that this table never uses again, over days and restarts",
            history.table, again[0].device, len(again), telemetry.where(again[0].place),
        )  # fmt: skip


def _outside(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    inside = False
    found: dict[type[ev.AnyEvent], list[Note]] = {}
    for note in history.notes:
        if note.kind in (ev.RoundOpened, ev.RoundClosed):
            inside = note.kind is ev.RoundOpened
        elif not inside and note.kind in IN_A_ROUND:
            found.setdefault(note.kind, []).append(note)
    for kind, notes in found.items():
        yield Finding(
            "rounds", "outside_round", "wrong", f"{kind.__struct_config__.tag} lies outside of any round",
            "send round.opened before, round.closed after all that is of a round; and compare the clocks",
            history.table, notes[0].device, len(notes), telemetry.where(notes[0].place),
        )  # fmt: skip
