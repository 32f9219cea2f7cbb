"""The tables and the picture of docs/truth.md, written between its marks."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from stream.rulebook.paragraphs import ids, load
from stream.simulate.faults import FAULTS

from .run import ALONE, LAWFUL, MIX, WRONG, counted
from .tally import Tally

BEGIN: Final = "<!-- figures: python -m bench.truth --page -->"
END: Final = "<!-- end of figures -->"
Counts = Mapping[tuple[str, str, str], Tally]

_WIDE: Final = 260
_HIGH: Final = 16
_COLOURS: Final = {
    "found": "#2b7a4b", "silent": "#c8cdd2", "undetermined": "#e0a526", "wrong": "#7d5ba6", "false": "#c0392b",
}  # fmt: skip


def write(counts: Counts, docs: Path) -> None:
    """Put the tables into the page, and the picture beside it."""
    page = docs / "truth.md"
    text = page.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(before + BEGIN + "\n\n" + "\n\n".join(_tables(counts)) + "\n\n" + END + after)
    (docs / "truth.svg").write_text(picture(counts))


def _sum(counts: Counts, mode: str, kind: str, rules: str | None = None) -> Tally:
    out = Tally()
    for (r, m, k), t in counts.items():
        if (m, k) == (mode, kind) and rules in (None, r):
            out.add(t)
    return out


def _table(head: str, rows: Iterable[Sequence[object]]) -> str:
    """A table of modes; the first cell of a row is the mode's id."""
    lines = [f"| mode | {head} |", "|---" * (head.count("|") + 2) + "|"]
    return "\n".join([*lines, *(f"| `{row[0]}` | " + " | ".join(str(c) for c in row[1:]) + " |" for row in rows)])


def _wrong(t: Tally) -> int:
    return t.n["wrong seat"] + t.n["wrong paragraph"] + t.n["wrong status"]


def _spread(t: Tally) -> str:
    spread = t.plain()["verdicts_per_error"]
    return " / ".join(str(x) for x in spread) if spread else ""


def _causes(t: Tally) -> str:
    return ", ".join(
        f"{k.partition(': ')[2]} {v}" for k, v in sorted(t.n.items()) if k.startswith("undetermined: ") and v
    )


_ALONE_HEAD: Final = (
    "errors | told | silent | false | advisories | undetermined | more than one | by cause | published | taken back |"
    " none late | verdicts an error"
)
_WRONG_HEAD: Final = (
    "rounds | found | undetermined | missed | of these, error told | wrong seat | wrong paragraph | wrong status |"
    " false beside | published | taken back | what decides kept | of these found | verdicts a round"
)
_RATES_HEAD: Final = "rate | of a" + "".join(
    f" | {counted} {times}" for times in ("×1", "×10") for counted in ("rounds", "errors", "false", "undetermined")
)
_GAME_HEAD: Final = (
    "lawful: errors | told | silent | false | undetermined | irregular: rounds | found | undetermined | missed | wrong"
    " | false beside"
)


def _alone(t: Tally) -> tuple[object, ...]:
    n = t.n
    return (
        n["errors"], n["found"], n["silent"], n["false"], n["advisory"], n["undetermined"],
        n["undetermined_more_than_one"], _causes(t), n["published"], n["withdrawn"], n["withdrawn, none late"],
        _spread(t),
    )  # fmt: skip


def _beside(t: Tally) -> tuple[object, ...]:
    n = t.n
    return (
        n["errors"], n["found"], n["undetermined"], n["missed"], n["missed, error told"], n["wrong seat"],
        n["wrong paragraph"], n["wrong status"], n["false"], n["published"], n["withdrawn"],
        n["errors"] - n["deciding report lost"], n["found of the rest"], _spread(t),
    )  # fmt: skip


def _tables(counts: Counts) -> Iterable[str]:
    kinds = {k for _, _, k in counts}
    if ALONE in kinds:
        yield "### Lawful rounds with exactly one error, all games"
        yield _table(_ALONE_HEAD, [(m, *_alone(_sum(counts, m, ALONE))) for m in FAULTS])
    if WRONG in kinds:
        yield "### Rounds with exactly one irregularity and one error, all games"
        yield _table(_WRONG_HEAD, [(m, *_beside(_sum(counts, m, WRONG))) for m in FAULTS if counted(m, WRONG)])
    if LAWFUL[1] in kinds:
        yield "### Lawful rounds at the planning rates, and at ten times those, all games"
        yield _table(_RATES_HEAD, [_rates_row(counts, m) for m in (*FAULTS, MIX)])
    yield "### By game"
    for rules in ids():
        yield f"**{load(rules).rules.game}** (`{rules}`)"
        yield _table(_GAME_HEAD, [_game_row(counts, m, rules) for m in FAULTS])


def _rates_row(counts: Counts, mode: str) -> tuple[object, ...]:
    fault = FAULTS.get(mode)
    both = [_sum(counts, mode, kind) for kind in LAWFUL]
    cells = [c for t in both for c in (t.rounds, t.n["errors"], t.n["false"], t.n["undetermined"])]
    return (mode, *((f"{fault.rate:g}", fault.per) if fault else ("", "")), *cells)


def _game_row(counts: Counts, mode: str, rules: str) -> tuple[object, ...]:
    a, w = _sum(counts, mode, ALONE, rules), _sum(counts, mode, WRONG, rules)
    beside = (w.n["errors"], w.n["found"], w.n["undetermined"], w.n["missed"], _wrong(w), w.n["false"])
    lawful = (a.n["errors"], a.n["found"], a.n["silent"], a.n["false"], a.n["undetermined"])
    return (mode, *lawful, *(beside if counted(mode, WRONG) else [""] * len(beside)))


def picture(counts: Counts) -> str:
    """Bars a mode: what came of an error in a lawful round, and of an irregularity with an error beside it."""
    left, gap, top = 100, 40, 46
    high = top + len(FAULTS) * (_HIGH + 5) + 34
    wide = left + 2 * _WIDE + gap + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" font-family="sans-serif"',
        'font-size="11">',
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        f'<text x="{left}" y="18" font-weight="bold">a lawful round, one error</text>',
        f'<text x="{left}" y="34">share of errors</text>',
        f'<text x="{left + _WIDE + gap}" y="18" font-weight="bold">an irregularity and an error in one round</text>',
        f'<text x="{left + _WIDE + gap}" y="34">share of irregularities</text>',
    ]
    for i, mode in enumerate(FAULTS):
        y = top + i * (_HIGH + 5)
        out.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{mode}</text>')
        a, w = _sum(counts, mode, ALONE), _sum(counts, mode, WRONG)
        quiet = max(0, a.n["errors"] - a.n["rounds: told"] - a.n["rounds: undetermined"] - a.n["rounds: false"])
        out += _bar(left, y, {
            "found": a.n["rounds: told"], "silent": quiet, "undetermined": a.n["rounds: undetermined"],
            "false": a.n["rounds: false"],
        })  # fmt: skip
        out += _bar(left + _WIDE + gap, y, {
            "found": w.n["found"], "undetermined": w.n["undetermined"], "wrong": _wrong(w), "false": w.n["missed"],
        })  # fmt: skip
    x, y = left, high - 18
    for name, text in (
        ("found", "told, or found"), ("silent", "nothing said"), ("undetermined", "undetermined"),
        ("wrong", "found, wrong seat, paragraph or status"), ("false", "false, or missed"),
    ):  # fmt: skip
        out.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{_COLOURS[name]}"/>')
        out.append(f'<text x="{x + 14}" y="{y + 9}">{text}</text>')
        x += 24 + 6 * len(text)
    return "\n".join([*out, "</svg>"]) + "\n"


def _bar(x: float, y: int, parts: Mapping[str, int]) -> Iterable[str]:
    total = sum(parts.values())
    for name, count in parts.items():
        width = _WIDE * count / total if total else 0
        if width:
            yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_HIGH}" fill="{_COLOURS[name]}"/>'
        x += width
