"""Reads scenario files: stories of one rule set in notation, with the verdicts that must be in force at the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stream.deal.events import Event
from stream.deal.notation import parse
from stream.deal.verdicts import Scope, Verdict, in_order
from stream.replay.table import Table

FOLDER: Final = Path(__file__).parent / "scenarios"
_NAMED: Final = re.compile(r"ack:@([^/ ]+)/")  # the verdict of this atom that is in force by then
SHOWS: Final = ("breach", "near", "remedied", "over", "undetermined")


@dataclass
class Story:
    """One scenario: the atom it is about, what it shows of it, what happens, what must be said."""

    place: str  # file:line
    atom: str
    shows: str
    title: str
    table: str = ""
    given: str = ""
    deals: list[str] = field(default_factory=list)
    then: list[str] = field(default_factory=list)

    def events(self) -> list[Event]:
        """What the devices report, in order."""
        text = "\n".join([f"- {self.table} {self.given}", *self.deals])
        while (named := _NAMED.search(text)) is not None:
            before = parse(text[: named.start()])
            known = (v.id for v in judged(before) if v.atom == named[1])
            text = text.replace(named[0], f"ack:{next(known, '0' * 16)}/", 1)
        return parse(text)

    def expected(self) -> list[str]:
        """The `then` lines, sorted, with single blanks."""
        return sorted(" ".join(line.split()) for line in self.then if line.strip() != "nothing")

    def __str__(self) -> str:
        """How pytest names it."""
        return f"{self.atom} {self.shows}: {self.title}"


def stories(path: Path) -> Iterator[Story]:
    """All stories of a file, in order."""
    table = given = ""
    story: Story | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.strip().startswith("//"):
            continue
        word, _, rest = line.strip().partition(" ")
        indent = len(line) - len(line.lstrip())
        if indent == 0 and word not in ("table", "given"):
            if story is not None:
                yield story
            head, _, title = line.partition(":")
            atom, _, shows = head.partition(" ")
            assert shows in SHOWS, f"{path.name}:{number}: {shows!r} is none of {SHOWS}"
            story = Story(f"{path.name}:{number}", atom, shows, title.strip(), table, given)
        elif indent == 0 and word == "table":
            table = rest.strip()
        elif indent == 0:
            given = rest.strip()
        else:
            assert story is not None, f"{path.name}:{number}: no story begun"
            _add(story, word, rest.strip(), line.strip())
    if story is not None:
        yield story


def _add(story: Story, word: str, rest: str, line: str) -> None:
    match word:
        case "table":
            story.table = rest
        case "given":
            story.given = rest
        case "deal":
            story.deals.append(rest)
        case "then":
            story.then.append(rest)
        case _:
            story.deals[-1] += " " + line


def judged(events: list[Event]) -> list[Verdict]:
    """The verdicts in force after these events, by `at` and `id`."""
    table = Table(events[0].table)
    for event in events:
        table.hear(event)  # type: ignore[arg-type]  # every event is one of the union
    table.settle()
    return in_order([*table.left, *table.in_force()])


def told(verdicts: Sequence[Verdict]) -> list[str]:
    """Verdicts as `then` lines tell them, sorted."""
    roots = {v.id: v.atom for v in verdicts}
    return sorted(said(v, roots) for v in verdicts)


def said(verdict: Verdict, roots: Mapping[str, str] = {}) -> str:
    """A verdict as a `then` line tells it; `roots` names atoms by id."""
    cause = f":{verdict.cause}" if verdict.cause else ""
    follows = f" follows {roots.get(verdict.root, verdict.root)}" if verdict.root else ""
    return f"{verdict.atom} {verdict.kind}{cause} {verdict.status} {scope(verdict.scope)}{follows}"


def scope(s: Scope) -> str:
    """A scope as a `then` line tells it."""
    if s.level == "card":
        return f"card:#{s.draw}" if s.draw is not None else f"card:{s.position}.{s.index}"
    if s.level == "wager":
        return f"wager:{s.position}/{s.area}"
    name = s.position or s.deck or s.device
    return f"{s.level}:{name}" if name else s.level
