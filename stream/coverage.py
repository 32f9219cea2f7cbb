"""What of each rule set is judged: every paragraph and atom, by what senses, and why not; as rows and as a page.

`python -m stream.coverage` writes the page, docs/coverage.md, of a checkout.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Final

from stream.deal import events as ev
from stream.deal.verdicts import NOT_SPECIFIED
from stream.deal.wire import Reader
from stream.describe import MANUAL, Scenario, counted, counts, said, scenarios
from stream.files import lines
from stream.rulebook.paragraphs import Atom, Interpretation, Law, Paragraph, ids, load

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "coverage.md"


@dataclass(frozen=True)
class Row:
    """One atom, or a paragraph without any; `scenarios` is None where the scenario files are not at hand."""

    rules: str
    paragraph: str  # the full citation
    heading: str
    atom: str | None
    code: str | None
    kind: str | None
    remedy: str | None  # the code of what is ordered; None where the cited text orders nothing
    monitored: bool
    why_not: str | None
    senses: tuple[str, ...]
    needs_list: str | None
    interpretations: tuple[str, ...]
    manual: bool  # only a person's report can show it
    scenarios: dict[str, int] | None

    @property
    def covered(self) -> bool:
        """Whether it is judged, and shown broken and nearly so; where no story is at hand, whether it is judged."""
        return self.monitored and (self.scenarios is None or {"breach", "near"} <= self.scenarios.keys())


def rows(law: Law, table: ev.TableOpened | None = None) -> list[Row]:
    """Every paragraph of a rule set in the order of the text, its atoms one a row.

    With a table: monitored or not by that table's senses and lists; else whether any table can.
    """
    told = scenarios(law.rules.id)
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
    told: tuple[Scenario, ...] | None,
) -> Row:
    why = "no atom of it is entered" if atom is None else why_not(law, atom, table)
    ordered = atom.remedy.code if atom and atom.remedy.code != NOT_SPECIFIED else None
    return Row(
        rules=law.rules.id,
        paragraph=law.rules.citation(paragraph.cite),
        heading=paragraph.heading,
        atom=atom.id if atom else None,
        code=atom.code if atom else None,
        kind=atom.kind if atom else None,
        remedy=ordered,
        monitored=why is None,
        why_not=why,
        senses=atom.senses if atom else (),
        needs_list=atom.needs_list if atom else None,
        interpretations=atom.interpretations if atom else (),
        manual=atom.manual if atom else False,
        scenarios=counts(told, atom.id) if atom else None,
    )


def why_not(law: Law, atom: Atom, table: ev.TableOpened | None) -> str | None:
    """Why an atom is not monitored, at a table or (without one) anywhere; None where it is."""
    if atom.unmonitored is not None:
        return atom.unmonitored
    if table is None or law.monitored(atom, frozenset(table.senses), approved=table.approved is not None):
        return None
    missing = lacking(atom.senses, table)
    if missing:
        return f"the table lacks {', '.join(missing)}"
    return f"table.opened gives no list {atom.needs_list}"


def lacking(senses: Sequence[str], table: ev.TableOpened) -> list[str]:
    """Which of some senses a table has not."""
    return [s for s in senses if s not in table.senses]


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


# --- the page

WIDTH: Final = 110
_INTRODUCTION: Final = (
    "Every paragraph of every rule set, and what is judged of it. An atom is one judged duty; it is *monitored* at a"
    " table that declares the senses it needs (and, where said, gives the list), and never *compliant* at any other."
    " *Due* is what the text orders after it; where nothing stands there, it orders nothing. *Read as* names the"
    " questions that the text leaves open; each table of atoms is followed by theirs, with the readings that a table"
    " may set. The last column counts the stories of `tests/scenarios` by what they show."
    " `misdeal rules coverage --table FILE` says what is monitored at the tables of a file; `misdeal rules show` tells"
    " more of each."
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
    yield ""
    yield "| game | rule set | paragraphs | atoms | monitored | with something due |"
    yield "|---|---|---|---|---|---|"
    every = [(load(rules), rows(load(rules))) for rules in ids()]
    for law, found in every:
        yield _cells(law.rules.game, f"`{law.rules.id}`", len(law.rules.paragraph), *_sums(found))
    yield _cells("all", "", sum(len(law.rules.paragraph) for law, _ in every), *_sums([r for _, f in every for r in f]))
    for law, found in every:
        yield from _section(law, found)


def _sums(found: Sequence[Row]) -> tuple[int, int, int]:
    return len(found), sum(r.monitored for r in found), sum(r.remedy is not None for r in found)


def _section(law: Law, found: Sequence[Row]) -> Iterator[str]:
    yield ""
    yield f"## {law.rules.game}: {law.rules.id}"
    yield ""
    told = f"[tests/scenarios/{law.rules.id}.txt]({_told(law)})"
    yield fill(
        f"{law.rules.source}; {law.rules.edition}. Stories: {told}.",
        WIDTH,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield ""
    yield "| paragraph | what it is about | atom | monitored | senses | due | read as | stories |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from (_line(law, row) for row in found)
    if law.rules.interpretation:
        yield ""
        yield "| question | asked | by default | or |"
        yield "|---|---|---|---|"
        yield from (_asked(name, i) for name, i in law.rules.interpretation.items())


def _told(law: Law) -> str:
    return f"../tests/scenarios/{law.rules.id}.txt"


def _line(law: Law, row: Row) -> str:
    wanted = [*row.senses, *([f"list `{row.needs_list}`"] if row.needs_list else [])]
    seen = MANUAL if row.manual else "yes"
    return _cells(
        row.paragraph,
        row.heading,
        f"`{row.atom}` {row.code}" if row.atom else "",
        seen if row.monitored else f"no: {row.why_not}",
        ", ".join(wanted),
        row.remedy or "",
        ", ".join(row.interpretations),
        f"[{counted(row.scenarios)}]({_told(law)})" if row.scenarios else "",
    )


def _asked(name: str, i: Interpretation) -> str:
    others = ", ".join(f"`{said(v)}`" for v in i.values if v != i.default)
    return _cells(name, i.question, f"`{said(i.default)}`", others or ("" if i.values else "any other of its kind"))


def _cells(*cells: object) -> str:
    return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
