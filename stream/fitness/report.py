"""The report: everything that was found, for people and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from msgspec import to_builtins

from stream.deal import events as ev
from stream.deal.wire import from_micros
from stream.fitness.clocks import clocks, pairs
from stream.fitness.findings import Finding
from stream.fitness.history import History, histories
from stream.fitness.keys import ADVICE, keys, partition
from stream.fitness.numbers import numbers
from stream.fitness.opening import opening
from stream.fitness.rounds import rounds
from stream.fitness.schema import schema
from stream.fitness.senses import came, senses
from stream.fitness.telemetry import Telemetry

NAMED = 5  # places, and different things of one kind, that the text names
LISTED = 20  # unreadable lines that the text names; the JSON names all


@dataclass(frozen=True)
class Report:
    """What was read, and what was found in it."""

    telemetry: Telemetry
    histories: tuple[History, ...]
    findings: tuple[Finding, ...]
    partitions: int

    @property
    def fits(self) -> bool:
        """Whether nothing is wrong; remarks do not count."""
        return all(f.grade == "remark" for f in self.findings)


def examine(telemetry: Telemetry, partitions: int) -> Report:
    """Look at everything; errors first, in the order in which an integrator mends them."""
    known = tuple(histories(telemetry))
    found = [
        *schema(telemetry),
        *opening(telemetry, known),
        *numbers(telemetry, known),
        *clocks(telemetry, known),
        *rounds(telemetry, known),
        *senses(telemetry, known),
        *keys(known),
    ]
    return Report(telemetry, known, tuple(sorted(found, key=lambda f: f.grade == "remark")), partitions)


def as_json(report: Report) -> dict[str, Any]:
    """The report as builtins."""
    telemetry = report.telemetry
    return {
        "fits": report.fits,
        "lines": telemetry.lines,
        "events": sum(telemetry.types.values()),
        "types": dict(sorted(telemetry.types.items())),
        "findings": [{k: v for k, v in asdict(f).items() if v is not None} for f in report.findings],
        "unreadable": to_builtins(telemetry.unreadable),
        "unknown_fields": [
            {"type": kind, "field": name, "count": seen.count, "first": seen.first}
            for (kind, name), seen in sorted(telemetry.unknown.items())
        ],
        "tables": [_table(h, report.partitions) for h in report.histories],
        "keys": ADVICE,
    }


def _table(history: History, partitions: int) -> dict[str, Any]:
    opened = history.opened[-1][1] if history.opened else None
    seen = came(history)
    kinds = Counter(n.kind for n in history.notes)
    found, _ = pairs(history)
    return {
        "table": history.table,
        "rules": opened.rules if opened else None,
        "rounds": {"opened": kinds[ev.RoundOpened], "closed": kinds[ev.RoundClosed]},
        "senses": {s: {"declared": s in (opened.senses if opened else ()), "events": seen[s]}
                   for s in sorted({*seen, *(opened.senses if opened else ())})},
        "partition": partition(history.table, partitions),
        "partitions": partitions,
        "devices": [
            {
                "device": d.name,
                "events": len(d.notes),
                "boots": len({n.boot for n in d.notes}),
                "first": from_micros(min(n.at for n in d.notes)),
                "last": from_micros(max(n.at for n in d.notes)),
                "clock_ms": [min(n.clock_ms for n in d.notes), max(n.clock_ms for n in d.notes)],
            }
            for d in history.devices.values()
        ],
        "draw_to_placement": [
            {"drawing": p.drawing, "placing": p.placing, "cards": len(p.delays), "least_ms": round(min(p.delays)),
             "median_ms": round(median(p.delays)), "most_ms": round(max(p.delays))}
            for p in found.values()
        ],
    }  # fmt: skip


def as_text(report: Report, *, every: bool = False) -> Iterator[str]:
    """The report in lines for people: the answer, what is wrong, remarks, then what came."""
    telemetry = report.telemetry
    wrong = [f for f in report.findings if f.grade == "wrong"]
    remarks = [f for f in report.findings if f.grade == "remark"]
    yield (
        f"{'The telemetry fits' if report.fits else 'The telemetry does not fit'}:"
        f" {len(wrong)} wrong, {len(remarks)} remarks; {telemetry.lines} lines, {sum(telemetry.types.values())} events,"
        f" {len(report.histories)} tables"
    )
    for title, found in (("Wrong", wrong), ("Remarks", remarks)):
        if found:
            yield f"\n{title}"
            yield from _findings(found, every=every)
    if telemetry.unreadable:
        yield "\nUnreadable lines"
        listed = telemetry.unreadable if every else telemetry.unreadable[:LISTED]
        yield from (f"  {u.place}: {u.code}: {u.detail}" for u in listed)
        if len(listed) < len(telemetry.unreadable):
            yield f"  and {len(telemetry.unreadable) - LISTED} more; --all names them, --format json too"
    for history in report.histories:
        yield from _table_lines(_table(history, report.partitions))
    if telemetry.types:
        yield "\nEvents"
        yield from (f"  {count:9}  {name}" for name, count in sorted(telemetry.types.items()))
        yield f"\nKeys\n  {ADVICE}"


def _findings(found: Sequence[Finding], *, every: bool) -> Iterator[str]:
    """What was found: of each kind the remedy once, below it what and where, the same thing at several places once."""
    kinds: dict[tuple[str, str, str], dict[str, list[Finding]]] = {}
    for f in found:
        kinds.setdefault((f.about, f.code, f.remedy), {}).setdefault(f.what, []).append(f)
    for (about, code, remedy), group in kinds.items():
        yield f"  {about}: {code}. Remedy: {remedy}."
        shown = list(group.items()) if every else list(group.items())[:NAMED]
        for what, same in shown:
            places = [" ".join(p for p in (f.table, f.device) if p) for f in same]
            named = ", ".join(places[:NAMED]) + (f" and {len(same) - NAMED} more" if same[NAMED:] else "")
            first = next((f.first for f in same if f.first), None)
            times = f" ({sum(f.count for f in same)}, first at {first})" if first else ""
            yield f"    {named}{': ' if named else ''}{what}{times}"
        if len(shown) < len(group):
            yield f"    and {len(group) - len(shown)} more; --all names them"


def _table_lines(t: dict[str, Any]) -> Iterator[str]:
    yield (
        f"\nTable {t['table']}: {t['rules'] or 'not opened'}; {t['rounds']['opened']} rounds opened,"
        f" {t['rounds']['closed']} closed; partition {t['partition']} of {t['partitions']}"
    )
    declared = {s: x["events"] for s, x in t["senses"].items() if x["declared"]}
    if declared:
        silent = ", ".join(s for s, n in declared.items() if not n)
        said = ", ".join(f"{s} {n}" for s, n in declared.items() if n)
        yield "  declared: " + "; ".join(p for p in (said, f"nothing came of {silent}" if silent else "") if p)
    for d in t["devices"]:
        low, high = d["clock_ms"]
        yield (
            f"  {d['device']}: {d['events']} events, boots {d['boots']}, clock within {low}"
            f"{f' to {high}' if high != low else ''} ms, {d['first'][:19]} to {d['last'][:19]} UTC"
        )
    for p in t["draw_to_placement"]:
        yield (
            f"  from {p['drawing']} to {p['placing']}: {p['least_ms']} to {p['most_ms']} ms,"
            f" median {p['median_ms']} ms ({p['cards']} cards)"
        )
