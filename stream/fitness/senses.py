"""The senses that tables declare, against what came."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from stream.deal import events as ev
from stream.deal.words import Sense
from stream.fitness.findings import Finding
from stream.fitness.history import History
from stream.fitness.telemetry import Note, Telemetry
from stream.rulebook.paragraphs import ids, load

# What every round shows; of any other sense it may be that nothing happened.
EVERY_ROUND: Final[tuple[Sense, ...]] = (
    "draws", "identity", "placements", "facing", "wagers", "settlement", "announcements",
)  # fmt: skip
# A placement has a facing whether or not the reader can tell one; a table that can't does not declare it.
ALWAYS_SENT: Final = ("facing",)


def senses(telemetry: Telemetry, histories: Sequence[History]) -> Iterator[Finding]:
    """Senses declared of which nothing came, and what came of senses not declared; then what devices name."""
    for history in histories:
        if history.opened:
            yield from _declared(history)
            yield from _undeclared(telemetry, history)
        yield from _named(telemetry, history)


def came(history: History) -> Counter[Sense]:
    """How many events carried each sense."""
    return Counter(s for n in history.notes for s in n.senses)


def _declared(history: History) -> Iterator[Finding]:
    _, opened = history.opened[-1]
    seen = came(history)
    rounds = sum(n.kind is ev.RoundOpened for n in history.notes)
    silent = [s for s in opened.senses if not seen[s]]
    due = [s for s in silent if rounds and (s in EVERY_ROUND or (s == "dealer_hands" and seen["draws"]))]
    if due:
        yield Finding(
            "senses", "declared_not_seen", "wrong",
            f"declared, and in {rounds} rounds no event carried it: {', '.join(due)}",
            "connect what reports it, or declare it not: what is declared and not sent is taken as not having happened",
            history.table, count=len(due),
        )  # fmt: skip
    quiet = [s for s in silent if s not in due]
    if quiet:
        yield Finding(
            "senses", "declared_not_seen", "remark", f"declared, and no event carried it: {', '.join(quiet)}",
            "nothing, where it did not happen; else connect what reports it, or declare it not",
            history.table, count=len(quiet),
        )  # fmt: skip


def _undeclared(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    found: dict[Sense, list[Note]] = {}
    declared = frozenset(history.opened[0][1].senses)
    openings = {note.key: event for note, event in history.opened}
    for note in history.notes:
        if note.key in openings:
            declared = frozenset(openings[note.key].senses)
        for sense in note.senses:
            if sense not in declared and (sense not in ALWAYS_SENT or note.kind is ev.CardSeen):
                found.setdefault(sense, []).append(note)
    rules = history.opened[-1][1].rules
    for sense, notes in sorted(found.items()):
        waiting = _needing(rules, sense)
        said = f"; not monitored for want of it: {', '.join(waiting)}" if waiting else ""
        yield Finding(
            "senses", "seen_not_declared", "wrong" if waiting else "remark",
            f"events carry {sense}, which the table does not declare{said}",
            f"add {sense} to the senses of table.opened" if waiting else f"nothing; {rules} asks for {sense} nowhere",
            history.table, notes[0].device, len(notes), telemetry.where(notes[0].place),
        )  # fmt: skip


def _needing(rules: str, sense: Sense) -> list[str]:
    """The atoms of a rule set that need a sense; none where it is not held."""
    if rules not in ids():
        return []
    return [a.id for a in load(rules).rules.atom if a.unmonitored is None and sense in a.senses]


def _named(telemetry: Telemetry, history: History) -> Iterator[Finding]:
    """What a device carries though it named its senses without it when it came online."""
    for device in history.devices.values():
        first, named = telemetry.named.get((history.table, device.name), ("", None))
        if named is None:
            continue
        more = sorted({s for n in device.notes for s in n.senses} - {*named, *ALWAYS_SENT})
        if more:
            yield Finding(
                "senses", "device_names_less", "remark", f"device.online names senses without {', '.join(more)}",
                "name all that the device carries, so that an outage of it covers them; or name none",
                history.table, device.name, first=first,
            )  # fmt: skip
