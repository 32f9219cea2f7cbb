"""The law is covered: stories for every atom, injections that exist, and a loader that refuses what does not fit."""

import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from story import FOLDER, stories

from stream.deal.events import TableOpened
from stream.deal.notation import parse
from stream.rulebook.paragraphs import Atom, Law, RulebookError, ids, load
from stream.simulate.mutations import MUTATIONS

ALL = [(rules, atom) for rules in ids() for atom in load(rules).rules.atom]
MONITORED = [(rules, atom) for rules, atom in ALL if atom.unmonitored is None]
DDS = "nj-double-down-stud-17"


def shown(rules: str) -> dict[str, set[str]]:
    """What the stories of a rule set show, by atom."""
    out: dict[str, set[str]] = {}
    path = FOLDER / f"{rules}.txt"
    for story in stories(path) if path.is_file() else ():
        out.setdefault(story.atom, set()).add(story.shows)
    return out


@pytest.mark.parametrize(("rules", "atom"), MONITORED, ids=[f"{r}-{a.id}" for r, a in MONITORED])
def test_every_monitored_atom_has_its_stories(rules: str, atom: Atom) -> None:
    """Each atom that can be judged has a story that breaks it and a near one that does not."""
    assert {"breach", "near"} <= shown(rules).get(atom.id, set()), f"tests/scenarios/{rules}.txt: {atom.id}"


OVER = {  # where the text has play go on, so that giving up a hand or the round is a breach as well
    "nj-winners-pot-33": {"33.12(b)-3", "33.12(e)", "33.12(g)", "33.12(h)"},
    "nsw-let-it-ride": {"12.5", "12.6-b"},
}
TOLD_ELSEWHERE = {"12.9": {"12.9.1", "12.9.2"}}  # followed, it is told as the way that was taken


@pytest.mark.parametrize("rules", ids())
def test_every_duty_has_its_stories(rules: str) -> None:
    """Each atom with a duty has a story in which what is due is done, and one in which it is not."""
    law, found = load(rules), shown(rules)
    missing = [
        atom
        for atom in law.module.DUTIES
        if not all("remedied" in found[a] for a in TOLD_ELSEWHERE.get(atom, {atom})) or "breach" not in found[atom]
    ]
    assert missing == [], f"tests/scenarios/{rules}.txt"


@pytest.mark.parametrize("rules", ids())
def test_every_duty_stands_both_ways(rules: str) -> None:
    """Of each atom with a duty some story ends with it remedied, and some with it breached."""
    ends = {
        tuple(line.split()[:3:2])
        for story in stories(FOLDER / f"{rules}.txt")
        for line in story.expected()
        if line.split()[1] == "irregularity"
    }
    wanted = {
        (a, status)
        for atom in load(rules).module.DUTIES
        for status, atoms in (("breached", {atom}), ("remedied", TOLD_ELSEWHERE.get(atom, {atom})))
        for a in atoms
    }
    assert wanted <= ends


@pytest.mark.parametrize(("rules", "atom"), [(r, a) for r, atoms in OVER.items() for a in sorted(atoms)])
def test_every_protected_round_has_its_story(rules: str, atom: str) -> None:
    """Where the text has play go on, a story shows that giving up is told."""
    over = [s for s in stories(FOLDER / f"{rules}.txt") if (s.atom, s.shows) == (atom, "over")]
    assert any(line.startswith(f"{atom} irregularity breached") for s in over for line in s.expected())


def test_every_reading_has_its_story() -> None:
    """Each reading that a table may set is the one of some story's table."""
    missing = set()
    for rules in ids():
        told = [line for s in stories(FOLDER / f"{rules}.txt") for line in (f"- {s.table}", f"- {s.given}", *s.deals)]
        opened = [e for t in sorted(set(told)) if "open:" in t for e in parse(t) if isinstance(e, TableOpened)]
        for name, i in load(rules).rules.interpretation.items():
            used = {e.options.get(name, i.default) for e in opened}
            missing |= {(rules, name, value) for value in i.values if value not in used}
    assert missing == set()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda p: str(p.stem))
def test_every_story_is_of_an_atom(path: Path) -> None:
    """A story names an atom of its rule set, in its head and in what it expects."""
    atoms = load(path.stem).atoms
    unknown = [s.place for s in stories(path) if s.atom not in atoms]
    assert unknown == []


@pytest.mark.parametrize(("rules", "atom"), ALL, ids=[f"{r}-{a.id}" for r, a in ALL])
def test_every_injection_exists(rules: str, atom: Atom) -> None:
    """The simulator knows each way that an atom names to bring it about; an unmonitored one names none."""
    assert [i for i in atom.inject if i not in MUTATIONS] == [], rules
    assert atom.unmonitored is None or not atom.inject


def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]) -> Law:
    """Load a copy of a rule set whose data was changed."""
    name = f"{DDS.replace('-', '_')}.toml"
    text = (resources.files("stream.rulebook") / name).read_text()
    changed = change(text)
    assert changed != text
    (tmp_path / name).write_text(changed)
    monkeypatch.setattr("stream.rulebook.paragraphs.resources.files", lambda _package: tmp_path)
    law: Law = load.__wrapped__(DDS)  # past the cache
    return law


def test_the_copy_itself_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that only differs by a comment loads, so that what follows fails for its own reason."""
    law = broken(tmp_path, monkeypatch, lambda text: text + "# nothing\n")
    assert law.rules == load(DDS).rules


ATOM = """
[[atom]]
id = "17.8(e)-new"
cite = "(e)"
code = "something_new"
what = "Something."
expected = "Something else."
alike = "Anything."
"""

BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "a citation without a paragraph": (
        lambda t: t.replace('id = "17.8(e)"\ncite = "(e)"', 'id = "17.8(e)"\ncite = "(f)"'),
        r"atom 17\.8\(e\) cites \(f\), which is no paragraph",
    ),
    "a monitorable atom without code": (
        lambda t: t + ATOM,
        r"atom 17\.8\(e\)-new is to be monitored and no code judges it",
    ),
    "code for an atom that is none": (
        lambda t: t.replace('id = "17.8(e)"', 'id = "17.8(e)-renamed"'),
        r"code judges 17\.8\(e\), which is no atom",
    ),
    "code for an atom that is said to be unseen": (
        lambda t: t.replace('id = "17.8(e)"', 'id = "17.8(e)"\nunmonitored = "Nobody looks."'),
        r"atom 17\.8\(e\) is said to be unmonitored and code judges it",
    ),
    "a departure whose atom is none": (
        lambda t: t.replace('common = "17.8(b)-2"', 'common = "17.8(b)-9"'),
        r"code judges 17\.8\(b\)-9, which is no atom",
    ),
    "a paragraph without an atom": (
        lambda t: t + '\n[[paragraph]]\ncite = "(f)"\nheading = "New"\nmeaning = "New."\n',
        r"paragraph \(f\) has no atom",
    ),
    "an interpretation that is none": (
        lambda t: t.replace('interpretations = ["I-17-a1"]', 'interpretations = ["I-17-a2"]'),
        "names I-17-a2, which is no interpretation",
    ),
    "an atom that stands twice": (lambda t: t + ATOM.replace("-new", ""), "stands twice"),
    "an irregularity without a duty": (
        lambda t: t.replace('id = "17.8(e)"\n', 'id = "17.8(e)"\nkind = "irregularity"\n'),
        r"atom 17\.8\(e\) is an irregularity without a duty",
    ),
    "a paragraph set aside that is none": (
        lambda t: t.replace('id = "17.8(e)"\n', 'id = "17.8(e)"\nsets_aside = { "(z)" = "Why." }\n'),
        r"atom 17\.8\(e\) sets aside \(z\), which is no paragraph",
    ),
    "an atom that ends a round and is none": (
        lambda t: t.replace('short = "17.8"\n', 'short = "17.8"\nends_round = ["17.8(z)"]\n'),
        r"code judges 17\.8\(z\), which is no atom",
    ),
    "two complaints at once": (
        lambda t: t.replace('id = "17.8(e)"\ncite = "(e)"', 'id = "17.8(e)"\ncite = "(f)"').replace(
            'short = "17.8"\n', 'short = "17.8"\nlasting = ["x"]\n'
        ),
        r"atom 17\.8\(e\) cites \(f\), which is no paragraph[\s\S]*code judges x, which is no atom",
    ),
    "a field that is none": (lambda t: t + ATOM + 'sense = ["draws"]\n', "sense"),
    "a sense that is none": (lambda t: t.replace('["draws"]', '["draw"]', 1), "draw"),
    "no TOML": (lambda t: t + "[[atom\n", "toml"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_set_does_not_load(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not hang together between text, data and code is refused at load, and named."""
    change, said = BROKEN[case]
    with pytest.raises(RulebookError, match=said):
        broken(tmp_path, monkeypatch, change)


def test_the_data_is_read_as_written() -> None:
    """Every atom of the data file is an atom of the loaded rule set: none is lost on the way."""
    for rules in ids():
        text = (resources.files("stream.rulebook") / f"{rules.replace('-', '_')}.toml").read_text()
        assert [a["id"] for a in tomllib.loads(text)["atom"]] == list(load(rules).atoms)
