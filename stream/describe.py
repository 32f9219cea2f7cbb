"""The law told to people: a rule set, a paragraph, an atom or an interpretation, by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from msgspec import to_builtins

from stream.deal.verdicts import NOT_SPECIFIED
from stream.deal.words import Setting
from stream.rulebook.paragraphs import Atom, Interpretation, Law, Paragraph, ids, load

WIDTH = 110


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
                {
                    **to_builtins(p),
                    "cite": rules.citation(p.cite),
                    "atoms": [{**to_builtins(a), "checks": list(checked(self.law, a))} for a in atoms],
                }
                for p, atoms in self.paragraphs
            ],
            "interpretations": {i: to_builtins(rules.interpretation[i]) for i in self.interpretations},
            **({"settings": to_builtins(rules.settings)} if self.whole else {}),
        }


def names() -> list[str]:
    """Every name that can be asked for."""
    out: dict[str, None] = {}
    for law in map(load, ids()):
        rules = law.rules
        every = [rules.id, *law.atoms, *map(rules.citation, law.paragraphs), *rules.interpretation]
        out |= dict.fromkeys(every)
    return list(out)


def find(name: str) -> list[Named]:
    """What a name stands for, in each rule set that has it; empty where none has."""
    return [n for law in map(load, ids()) if (n := _find(law, " ".join(name.split()))) is not None]


def _find(law: Law, name: str) -> Named | None:
    rules = law.rules
    if name == rules.id:
        every = tuple((p, tuple(a for a in rules.atom if a.cite == p.cite)) for p in rules.paragraph)
        return Named(law, every, tuple(rules.interpretation), whole=True)
    if name in rules.interpretation:
        used = [a for a in rules.atom if name in a.interpretations]
        cites = dict.fromkeys(a.cite for a in used)
        by_cite = tuple((law.paragraphs[c], tuple(a for a in used if a.cite == c)) for c in cites)
        return Named(law, by_cite, (name,))
    atom = law.atoms.get(name)
    if atom is not None:
        return Named(law, ((law.paragraphs[atom.cite], (atom,)),), atom.interpretations)
    for paragraph in rules.paragraph:
        if name in (rules.citation(paragraph.cite), rules.short + paragraph.cite):
            atoms = tuple(a for a in rules.atom if a.cite == paragraph.cite)
            read = dict.fromkeys(i for a in atoms for i in a.interpretations)
            return Named(law, ((paragraph, atoms),), tuple(read))
    return None


def checked(law: Law, atom: Atom) -> Iterator[str]:
    """What is checked for an atom, in the words of the checks themselves."""
    seen: set[object] = set()
    for bound in (b for kept in law.module.CHECKS.values() for b in kept):
        if atom.id in bound.atoms and bound.check not in seen:
            seen.add(bound.check)
            yield " ".join((bound.check.__doc__ or bound.check.__name__).split())
    for part, owner in law.rules.departures.atoms.items():
        if owner == atom.id:
            yield f"Each {part} card against the deal that is due: its order, place and facing; none left out or extra."


def described(named: Named) -> str:
    """A block of text for people."""
    return "\n".join(_described(named))


def _described(named: Named) -> Iterator[str]:
    rules = named.law.rules
    yield f"{rules.game} ({rules.id})"
    yield f"{rules.source}; {rules.edition}; held from {rules.in_force}"
    for paragraph, atoms in named.paragraphs:
        yield ""
        yield f"{rules.citation(paragraph.cite)}  {paragraph.heading}"
        yield _wrapped("", paragraph.meaning, "  ")
        for atom in atoms:
            yield ""
            yield from _atom(named.law, atom)
    for name in named.interpretations:
        yield ""
        yield from _interpretation(name, rules.interpretation[name])
    if named.whole and rules.settings:
        yield ""
        yield "  Settings: " + ", ".join(f"{k} = {_said(v)}" for k, v in rules.settings.items())


def _atom(law: Law, atom: Atom) -> Iterator[str]:
    yield f"  Atom {atom.id}: {atom.code}, {atom.kind}, {atom.severity}, scope {atom.scope}"
    for label, text in (
        ("what", atom.what),
        ("expected", atom.expected),
        ("remedy", _remedy(atom)),
        *((("checked", c) for c in checked(law, atom)) if atom.unmonitored is None else ()),
        ("not monitored", atom.unmonitored),
        ("alike", atom.alike),
        ("senses", ", ".join(atom.senses)),
        ("list", f"table.opened must give `{atom.needs_list}`" if atom.needs_list else None),
        ("read as", ", ".join(atom.interpretations)),
    ):
        if text:
            yield _wrapped(label, text)


def _remedy(atom: Atom) -> str:
    r = atom.remedy
    if r.code == NOT_SPECIFIED:
        return "not specified in the cited text"
    more = [f"before {r.due}" if r.due else "", f"by {r.actor}" if r.actor else "", r.paragraph or ""]
    return ", ".join(p for p in (r.text or r.code, *more) if p)


def _interpretation(name: str, i: Interpretation) -> Iterator[str]:
    yield f"  Interpretation {name}"
    others = [v for v in i.values if v != i.default]
    yield _wrapped("question", i.question)
    yield _wrapped("default", _said(i.default))
    yield _wrapped("other", ", ".join(map(_said, others)) if others else "any other value of its kind")
    yield _wrapped("why", i.why)


def _said(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wrapped(label: str, text: str, indent: str = "    ") -> str:
    head = f"{indent}{label:13} " if label else indent
    return fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
