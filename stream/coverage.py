"""What of each rule set is judged: every paragraph and atom, by what senses, and why not; as rows and as a page.

`python -m stream.coverage` writes the page, docs/coverage.md, of a checkout.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Final

from stream.deal import events as ev
from stream.deal.wire import Reader
from stream.files import lines
from stream.rulebook.paragraphs import Atom, Law, Paragraph, ids, load

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "coverage.md"
SCENARIOS: Final = ROOT / "tests" / "scenarios"
SHOWS: Final = ("breach", "near", "remedied", "over", "undetermined")


@dataclass(frozen=True)
class Row:
    """One atom, or a paragraph without any; `scenarios` is None where the scenario files are not at hand."""

    rules: str
    paragraph: str  # the full citation
    heading: str
    atom: str | None
    code: str | None
    monitored: bool
    why_not: str | None
    senses: tuple[str, ...]
    interpretations: tuple[str, ...]
    scenarios: dict[str, int] | None


def rows(law: Law, table: ev.TableOpened | None = None) -> list[Row]:
    """Every paragraph of a rule set in the order of the text, its atoms one a row.

    With a table: monitored or not by that table's senses and lists; else whether any table can.
    """
    told = stories(law.rules.id)
    out: list[Row] = []
    for paragraph in law.rules.paragraph:
        atoms = [a for a in law.rules.atom if a.cite == paragraph.cite]
        out += [_row(law, paragraph, atom, table, told) for atom in atoms or (None,)]
    return out


def _row(
    law: Law,
    paragraph: Paragraph,
    atom: Atom | None,
    table: ev.TableOpened | None,
    told: dict[str, dict[str, int]] | None,
) -> Row:
    why = "no atom of it is entered" if atom is None else why_not(law, atom, table)
    return Row(
        rules=law.rules.id,
        paragraph=law.rules.citation(paragraph.cite),
        heading=paragraph.heading,
        atom=atom.id if atom else None,
        code=atom.code if atom else None,
        monitored=why is None,
        why_not=why,
        senses=atom.senses if atom else (),
        interpretations=atom.interpretations if atom else (),
        scenarios=None if told is None or atom is None else told.get(atom.id, {}),
    )


def why_not(law: Law, atom: Atom, table: ev.TableOpened | None) -> str | None:
    """Why an atom is not monitored, at a table or (without one) anywhere; None where it is."""
    if atom.unmonitored is not None:
        return atom.unmonitored
    if table is None or law.monitored(atom, frozenset(table.senses), approved=table.approved is not None):
        return None
    missing = [s for s in atom.senses if s not in table.senses]
    if missing:
        return f"the table lacks {', '.join(missing)}"
    return f"table.opened gives no list {atom.needs_list}"


def stories(rules: str) -> dict[str, dict[str, int]] | None:
    """How many scenarios each atom has, by what they show; None outside of a checkout, or without the file."""
    path = SCENARIOS / f"{rules}.txt"
    if not path.is_file():
        return None
    out: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        head, colon, _ = line.partition(":")
        atom, _, shows = head.partition(" ")
        if colon and shows in SHOWS:
            counts = out.setdefault(atom, {})
            counts[shows] = counts.get(shows, 0) + 1
    return out


def tables_in(path: str) -> dict[str, ev.TableOpened]:
    """The latest `table.opened` of each table in a telemetry file, by `at`; raises OSError."""
    reader = Reader()
    out: dict[str, ev.TableOpened] = {}
    for _, _, line in lines((path,)):
        event = reader.read(line) if b"table.opened" in line else None
        if isinstance(event, ev.TableOpened):
            before = out.get(event.table)
            if before is None or (event.at, event.boot, event.seq) >= (before.at, before.boot, before.seq):
                out[event.table] = event
    return dict(sorted(out.items()))


def counted(scenarios: dict[str, int] | None) -> str:
    """Scenario counts in words, `-` for none, empty where they are not at hand."""
    if scenarios is None:
        return ""
    return ", ".join(f"{s} {scenarios[s]}" for s in SHOWS if scenarios.get(s)) or "-"


# --- the page

WIDTH: Final = 110
_INTRODUCTION: Final = (
    "Every paragraph of every rule set, and what is judged of it. An atom is one judged duty; it is *monitored* at a"
    " table that declares the senses it needs (and, where said, gives the list), and never *compliant* at any other."
    " `misdeal rules coverage --table FILE` says it for the tables of a file; `misdeal rules show` tells more of each."
)


def page() -> str:
    """docs/coverage.md: every rule set's paragraphs and atoms."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# What is judged"
    yield ""
    yield "<!-- generated by `python -m stream.coverage` -->"
    yield ""
    yield fill(_INTRODUCTION, WIDTH)
    for rules in ids():
        yield from _section(load(rules))


def _section(law: Law) -> Iterator[str]:
    found = rows(law)
    judged = sum(r.monitored for r in found)
    yield ""
    yield f"## {law.rules.game}: {law.rules.id}"
    yield ""
    counts = f"{len(law.rules.paragraph)} paragraphs, {len(law.rules.atom)} atoms, {judged} of them monitored"
    yield fill(f"{law.rules.source}; {law.rules.edition}. {counts} where a table has the senses.", WIDTH)
    yield ""
    yield "| paragraph | what it is about | atom | monitored | senses | read as | scenarios |"
    yield "|---|---|---|---|---|---|---|"
    yield from (_line(law, row) for row in found)


def _line(law: Law, row: Row) -> str:
    atom = law.atoms.get(row.atom or "")
    wanted = [*row.senses, *([f"list `{atom.needs_list}`"] if atom and atom.needs_list else [])]
    cells: Sequence[str] = (
        row.paragraph,
        row.heading,
        f"`{row.atom}` {row.code}" if row.atom else "",
        "yes" if row.monitored else f"no: {row.why_not}",
        ", ".join(wanted),
        ", ".join(row.interpretations),
        counted(row.scenarios),
    )
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
