"""A rule set as data: its paragraphs and atoms, read from the TOML beside its procedure, checked at load."""

import tomllib
from datetime import date
from functools import cache
from importlib import import_module, resources
from types import ModuleType
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from stream.deal.verdicts import NOT_SPECIFIED, Kind, Level, Remedy, Severity
from stream.deal.words import Sense, Setting
from stream.rulebook.standing import DeckDoubt

Spared = Literal["auto_shoe", "hand shuffle"]
"""Decks that a text on decks can leave out: dealt by an automated dealing shoe, or shuffled by hand."""


class RulebookError(Exception):
    """A rule set that does not hang together; raised at load, never by telemetry."""


class Interpretation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that the text leaves open, how we read it, and the other readings a table may set."""

    question: str
    default: Setting
    values: tuple[Setting, ...] = ()  # empty: any value of the default's type
    why: str


class Paragraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The smallest unit that is cited: its heading and meaning in our own words."""

    cite: str  # without the rule set's prefix, e.g. (a)2.iv
    heading: str
    meaning: str


class Atom(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judged duty of a paragraph.

    `senses` are what a table must be able to see for it; `alike` says how a device's fault can look the same;
    `unmonitored` says why no telemetry can show it, and then there is no code for it.
    """

    id: str
    cite: str
    code: str
    kind: Kind = "breach"
    severity: Severity = "minor"
    scope: Level = "round"
    senses: tuple[Sense, ...] = ()
    what: str
    expected: str
    remedy: Remedy = Remedy(NOT_SPECIFIED)
    interpretations: tuple[str, ...] = ()
    alike: str
    urgent: bool = False
    needs_list: Literal["approved"] | None = None  # a list of table.opened without which it can't be judged
    unmonitored: str | None = None
    inject: tuple[str, ...] = ()  # the simulator's ways to bring it about, by name
    sets_aside: dict[str, str] = {}  # citation of a paragraph that gives way to this one -> why
    manual: bool = False  # only a person's report can show it


class Departures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How departures from the plan are weighed and whose they are."""

    costs: dict[str, Annotated[int, Meta(ge=1)]]  # edit -> cost; the cheapest explanation holds
    atoms: dict[str, str]  # part of the deal -> atom; a part whose departures break nothing has none
    parts: dict[str, str]  # position (`seat`, `D`, `C`) -> the part that owns it
    budget: Annotated[int, Meta(ge=1)] = 400


class RuleSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule set: what it is, since when it holds, and all its paragraphs."""

    id: str
    game: str
    prefix: str  # of citations, e.g. 13:69F-17.8
    short: str  # of atom ids, e.g. 17.8
    edition: str
    in_force: date
    source: str
    paragraph: tuple[Paragraph, ...]
    atom: tuple[Atom, ...]
    departures: Departures
    settings: dict[str, Setting] = {}  # of the plan, with their defaults
    allowed: dict[str, tuple[Setting, ...] | str] = {}  # of a plan setting: its values, or a pattern
    ends_round: tuple[str, ...] = ()  # atoms that end the round: what is open below them becomes moot
    yields: tuple[str, ...] = ()  # of them those that count only once they were acted on, and give way to the others
    survives: tuple[str, ...] = ()  # atoms about decks and machines, which the end of a round leaves open
    decks_covered: dict[DeckDoubt, tuple[str, ...]] = {}  # what is wrong with a deck -> atoms that judge it
    decks_spared: tuple[Spared, ...] = ()  # decks of which those atoms do not speak
    lasting: tuple[str, ...] = ()  # atoms whose duties can end in a later round
    device_removal: str | None = None  # atom that has a machine taken away before its work is done another way
    uncaused_void: str | None = None  # atom of a misdeal declared with no cause seen; none: an advisory
    interpretation: dict[str, Interpretation] = {}

    def citation(self, cite: str) -> str:
        """The full citation of a paragraph."""
        return self.prefix + cite


class Law(Struct, frozen=True):
    """A loaded rule set: its data, the module with its procedure and checks, and its atoms by id."""

    rules: RuleSet
    module: ModuleType
    atoms: dict[str, Atom]
    paragraphs: dict[str, Paragraph]

    def monitored(self, atom: Atom, senses: frozenset[Sense], *, approved: bool) -> bool:
        """Whether a table with these senses (and a list of approved assets) can see this atom."""
        if atom.unmonitored is not None or not senses.issuperset(atom.senses):
            return False
        return atom.needs_list is None or approved


@cache
def ids() -> tuple[str, ...]:
    """The ids of all rule sets held, in alphabetical order: every TOML file in this package is one."""
    here = resources.files(__package__ or "stream.rulebook")
    return tuple(sorted(f.name[:-5].replace("_", "-") for f in here.iterdir() if f.name.endswith(".toml")))


@cache
def load(rules: str) -> Law:
    """A rule set by id. Raises `RulebookError` where data and code do not hang together, KeyError if unknown."""
    if rules not in ids():
        raise KeyError(rules)
    name = rules.replace("-", "_")
    text = (resources.files("stream.rulebook") / f"{name}.toml").read_text()
    try:
        data = msgspec.convert(tomllib.loads(text), RuleSet)
    except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
        raise RulebookError(f"{name}.toml: {error}") from error
    law = Law(
        data,
        import_module(f"stream.rulebook.{name}"),
        {a.id: a for a in data.atom},
        {p.cite: p for p in data.paragraph},
    )
    complaints = list(_complaints(law))
    if complaints:
        raise RulebookError(f"{name}: " + "; ".join(complaints))
    return law


_INTERFACE: Final = (
    "ATOMS", "CHECKS", "DUTIES", "CLOSES", "procedure", "variants", "terms", "had_wager", "reading",
    "advice", "DEAL_RESTS_ON",
)  # fmt: skip


def _complaints(law: Law) -> list[str]:
    """Everything that does not hang together between the data and the code of a rule set."""
    rules, module = law.rules, law.module
    out = [f"the module lacks {name}" for name in _INTERFACE if not hasattr(module, name)]
    if out:
        return out
    if len(law.atoms) != len(rules.atom) or len(law.paragraphs) != len(rules.paragraph):
        out.append("an atom or a paragraph stands twice")
    judged = {*module.ATOMS, *module.DUTIES, *rules.departures.atoms.values(), *filter(None, (rules.uncaused_void,))}
    for atom in rules.atom:
        if atom.cite not in law.paragraphs:
            out.append(f"atom {atom.id} cites {atom.cite}, which is no paragraph")
        if atom.unmonitored is None and atom.id not in judged:
            out.append(f"atom {atom.id} is to be monitored and no code judges it")
        if (atom.kind == "irregularity") != (atom.id in module.DUTIES):
            out.append(f"atom {atom.id} is an irregularity without a duty, or has a duty and is none")
        if atom.unmonitored is not None and atom.id in judged:
            out.append(f"atom {atom.id} is said to be unmonitored and code judges it")
        out += [f"atom {atom.id} names {i}, which is no interpretation" for i in atom.interpretations
                if i not in rules.interpretation]  # fmt: skip
        out += [f"atom {atom.id} sets aside {c}, which is no paragraph" for c in atom.sets_aside
                if c not in law.paragraphs]  # fmt: skip
    judged |= {
        *rules.ends_round,
        *rules.yields,
        *rules.survives,
        *rules.lasting,
        *filter(None, (rules.device_removal,)),
    }
    judged |= {a for atoms in rules.decks_covered.values() for a in atoms}
    out += [f"code judges {a}, which is no atom" for a in sorted(judged - law.atoms.keys())]
    cited = {a.cite for a in rules.atom}
    out += [f"paragraph {p.cite} has no atom" for p in rules.paragraph if p.cite not in cited]
    return out
