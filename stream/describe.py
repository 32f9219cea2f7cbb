"""The law told to people: a rule set, a paragraph, an atom or an interpretation, by name."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import to_builtins

from stream.deal.verdicts import NOT_SPECIFIED
from stream.deal.words import Setting
from stream.rulebook.paragraphs import Atom, Interpretation, Law, Paragraph, ids, load

SCENARIOS: Final = Path(__file__).parents[1] / "tests" / "scenarios"
SHOWS: Final = ("breach", "near", "remedied", "over", "undetermined")
MANUAL: Final = "by a person's report only"


@dataclass(frozen=True)
class Scenario:
    """A story of a rule set: the atom it is about, what it shows of it, and where it stands."""

    atom: str
    shows: str
    title: str
    file: str
    line: int


def scenarios(rules: str) -> tuple[Scenario, ...] | None:
    """The stories of a rule set, in order; None outside of a checkout, or without the file."""
    path = SCENARIOS / f"{rules}.txt"
    if not path.is_file():
        return None
    out: list[Scenario] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head, colon, title = line.partition(":")
        atom, _, shows = head.partition(" ")
        if colon and shows in SHOWS:
            out.append(Scenario(atom, shows, title.strip(), path.name, number))
    return tuple(out)


def counts(told: tuple[Scenario, ...] | None, atom: str) -> dict[str, int] | None:
    """How many stories an atom has, by what they show; None where they are not at hand."""
    if told is None:
        return None
    mine = [s.shows for s in told if s.atom == atom]
    return {shows: mine.count(shows) for shows in SHOWS if shows in mine}


def counted(found: dict[str, int] | None) -> str:
    """Scenario counts in words, `-` for none, empty where they are not at hand."""
    if found is None:
        return ""
    return ", ".join(f"{s} {found[s]}" for s in SHOWS if found.get(s)) or "-"


@dataclass(frozen=True)
class Named:
    """What a name stands for in one rule set: paragraphs, or else interpretations."""

    law: Law
    paragraphs: tuple[tuple[Paragraph, tuple[Atom, ...]], ...]
    interpretations: tuple[str, ...]
    whole: bool = False  # the rule set itself

    @property
    def plain(self) -> dict[str, Any]:
        """As builtins, for JSON."""
        rules = self.law.rules
        return {
            "rules": rules.id,
            "game": rules.game,
            "edition": rules.edition,
            "in_force": rules.in_force.isoformat(),
            "source": rules.source,
            "paragraphs": [
                {**to_builtins(p), "cite": rules.citation(p.cite), "atoms": [self._atom(a) for a in atoms]}
                for p, atoms in self.paragraphs
            ],
            "interpretations": {i: to_builtins(rules.interpretation[i]) for i in self.interpretations},
            **({"settings": to_builtins(rules.settings)} if self.whole else {}),
        }

    def _atom(self, atom: Atom) -> dict[str, Any]:
        told = scenarios(self.law.rules.id)
        return {
            **to_builtins(atom),
            "checks": list(checked(self.law, atom)),
            "duty": duty_of(self.law, atom),
            "set_aside_by": [a.id for a in set_aside_by(self.law, atom)],
            "ends_round": atom.id in self.law.rules.ends_round,
            "scenarios": None if told is None else [asdict(s) for s in told if s.atom == atom.id],
        }


def names() -> list[str]:
    """Every name that can be asked for."""
    out: dict[str, None] = {}
    for law in map(load, ids()):
        rules = law.rules
        every = [rules.id, *law.atoms, *map(rules.citation, law.paragraphs), *rules.interpretation]
        out |= dict.fromkeys([*every, *(a.code for a in rules.atom)])
    return list(out)


def find(name: str) -> list[Named]:
    """What a name stands for, in each rule set that has it, whatever its case; empty where none has."""
    wanted = " ".join(name.split()).casefold()
    return [n for law in map(load, ids()) if (n := _find(law, wanted)) is not None]


def _find(law: Law, name: str) -> Named | None:
    rules = law.rules
    if name == rules.id:
        every = tuple((p, tuple(a for a in rules.atom if a.cite == p.cite)) for p in rules.paragraph)
        return Named(law, every, tuple(rules.interpretation), whole=True)
    for interpretation in rules.interpretation:
        if name == interpretation.casefold():
            return _with_atoms(law, [a for a in rules.atom if interpretation in a.interpretations], (interpretation,))
    for atom in rules.atom:
        if name == atom.id.casefold():
            return _with_atoms(law, [atom], atom.interpretations)
    for paragraph in rules.paragraph:
        if name in (rules.citation(paragraph.cite).casefold(), (rules.short + paragraph.cite).casefold()):
            return _with_atoms(law, [a for a in rules.atom if a.cite == paragraph.cite])
    coded = [a for a in rules.atom if name == a.code]
    return _with_atoms(law, coded) if coded else None


def _with_atoms(law: Law, atoms: list[Atom], interpretations: tuple[str, ...] | None = None) -> Named:
    cites = dict.fromkeys(a.cite for a in atoms)
    by_cite = tuple((law.paragraphs[c], tuple(a for a in atoms if a.cite == c)) for c in cites)
    read = tuple(dict.fromkeys(i for a in atoms for i in a.interpretations))
    return Named(law, by_cite, read if interpretations is None else interpretations)


# --- what is known of an atom


def checked(law: Law, atom: Atom) -> Iterator[str]:
    """What is checked for an atom, in the words of the checks themselves."""
    if atom.unmonitored is not None:
        return
    seen: set[object] = set()
    for bound in (b for kept in law.module.CHECKS.values() for b in kept):
        if atom.id in bound.atoms and bound.check not in seen:
            seen.add(bound.check)
            yield _said_of(bound.check)
    owned = [part for part, owner in law.rules.departures.atoms.items() if owner == atom.id]
    for part in owned:
        yield f"Each {part} card against the deal that is due: its order, place and facing; none left out or extra."
    if atom.id == law.rules.uncaused_void:
        yield "A misdeal is declared and nothing that was seen explains it."
    elif not seen and not owned:
        yield "The cards dealt against the deal that is due: departures that the text counts here."


def duty_of(law: Law, atom: Atom) -> str | None:
    """What is then asked of later events, in the words of the duty itself; None where nothing is ordered."""
    duty = law.module.DUTIES.get(atom.id)
    return None if duty is None else _said_of(duty)


def set_aside_by(law: Law, atom: Atom) -> list[Atom]:
    """The atoms before which this one gives way; within its own paragraph, to those that come later in the text."""
    place = law.rules.atom.index(atom)
    return [a for n, a in enumerate(law.rules.atom) if atom.cite in a.sets_aside and (a.cite != atom.cite or n > place)]


def remedy_words(atom: Atom) -> str:
    """What is ordered, before what, by whom, where; or that the cited text orders nothing."""
    r = atom.remedy
    if r.code == NOT_SPECIFIED:
        return "not specified in the cited text"
    where = f"ordered in {r.paragraph}" if r.paragraph else ""
    more = [f"before: {r.due}" if r.due else "", f"by the {r.actor}" if r.actor else "", where]
    return "; ".join(p.rstrip(".") for p in (r.text or r.code, *more) if p) + f" (`{r.code}`)"


def values_words(i: Interpretation) -> str:
    """The readings that a table may set, the default first and named."""
    others = [v for v in i.values if v != i.default]
    if others:
        return f"{said(i.default)} (default), {', '.join(map(said, others))}"
    return f"{said(i.default)} ({'the only one held' if i.values else 'default; any value of its kind'})"


def said(value: Setting) -> str:
    """A setting as people write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _said_of(function: Callable[..., object]) -> str:
    return " ".join((function.__doc__ or function.__name__).split())


# --- for people


@dataclass(frozen=True)
class Line:
    """One entry for people: a label (or none) and its text; `level` says whether it is a heading."""

    label: str
    text: str
    level: Literal["title", "heading", "entry"] = "entry"


def described(named: Named) -> Iterator[Line]:
    """Everything about what a name stands for, in order."""
    rules = named.law.rules
    yield Line("", f"{rules.game} ({rules.id})", "title")
    yield Line("source", f"{rules.source}; {rules.edition}; held from {rules.in_force}")
    if named.whole:
        yield from _whole(named.law)
    told = scenarios(rules.id)
    for paragraph, atoms in named.paragraphs:
        yield Line("", f"{rules.citation(paragraph.cite)}  {paragraph.heading}", "title")
        yield Line("meaning", paragraph.meaning)
        for atom in atoms:
            yield from _atom(named.law, atom)
            if told is None:
                continue
            if named.whole:
                yield Line("scenarios", counted(counts(told, atom.id)))
            else:
                yield from _stories([s for s in told if s.atom == atom.id])
    for name in named.interpretations:
        i = rules.interpretation[name]
        users = [a.id for a in rules.atom if name in a.interpretations]
        yield Line("", f"Interpretation {name}", "heading")
        yield Line("question", i.question)
        yield Line("read as", values_words(i))
        yield Line("why", i.why)
        yield Line("bears on", ", ".join(users) if users else "no atom: it says what is an advisory")


def _whole(law: Law) -> Iterator[Line]:
    rules = law.rules
    if rules.settings:
        yield Line("settings", ", ".join(f"{k} = {said(v)}" for k, v in rules.settings.items()))
    if rules.ends_round:
        yield Line("ends a round", ", ".join(rules.ends_round))
    if rules.survives:
        yield Line("outlasts it", ", ".join(rules.survives))


def _atom(law: Law, atom: Atom) -> Iterator[Line]:
    rules = law.rules
    yield Line("", f"Atom {atom.id}: {atom.code}, {atom.kind}, {atom.severity}, scope {atom.scope}", "heading")
    yield Line("what", atom.what)
    yield Line("expected", atom.expected)
    yield Line("remedy", remedy_words(atom))
    duty = duty_of(law, atom)
    if duty is not None:
        yield Line("followed by", duty)
    for cite, why in atom.sets_aside.items():
        yield Line("sets aside", f"{rules.citation(cite)}: {why}")
    before = set_aside_by(law, atom)
    if before:
        yield Line("gives way to", ", ".join(a.id for a in before))
    if atom.id in rules.ends_round:
        yield Line("then", "The round ends; what is open below it becomes moot, but for decks and machines.")
    for check in checked(law, atom):
        yield Line("checked", check)
    if atom.unmonitored:
        yield Line("not monitored", atom.unmonitored)
    if atom.urgent:
        yield Line("urgent", "published after the short hold time")
    if atom.manual:
        yield Line("seen", f"{MANUAL}: no device can show it.")
    yield Line("alike", atom.alike)
    yield Line("senses", ", ".join(atom.senses) or "none")
    if atom.needs_list:
        yield Line("list", f"table.opened must give `{atom.needs_list}`")
    if atom.interpretations:
        read = (f"{i} ({said(rules.interpretation[i].default)} by default)" for i in atom.interpretations)
        yield Line("read by", ", ".join(read))


def _stories(told: list[Scenario]) -> Iterator[Line]:
    if not told:
        yield Line("scenarios", "-")
    for shows in SHOWS:
        for n, s in enumerate(s for s in told if s.shows == shows):
            yield Line(shows if n == 0 else "", f"{s.title} ({s.file}:{s.line})")
