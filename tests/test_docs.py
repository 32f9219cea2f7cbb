"""The pages say what the code does: links, commands, settings, terms, the digest's recipe, the rule set to copy."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final, cast, get_args

import click
import msgspec
import pytest
from click.testing import CliRunner
from story import FOLDER, judged, stories, told

from stream.cli import main
from stream.deal import verdicts
from stream.deal.notation import parse
from stream.replay.fold import ENGINE_SETTINGS
from stream.rulebook import paragraphs
from stream.tell import tell
from stream.worker.app import Worker
from stream.worker.health import WorkerMetrics
from stream.worker.owner import Counts
from stream.worker.settings import _OTHERS, VARIABLES
from stream.worker.topics import declared

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
README: Final = (ROOT / "README.md").read_text("utf-8")
GLOSSARY: Final = (ROOT / "GLOSSARY.md").read_text("utf-8")
CONTRIBUTING: Final = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
OPERATIONS: Final = (ROOT / "docs" / "operations.md").read_text("utf-8")
VERDICTS: Final = (ROOT / "docs" / "verdicts.md").read_text("utf-8")

Json = dict[str, Any]


def fenced(page: str, language: str) -> list[str]:
    """The code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def prose(page: str) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings, as they are turned into anchors."""
    headings = re.findall(r"^#+ (.*)$", prose(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.name))
def test_every_relative_link_resolves(page: Path) -> None:
    """A link leads to a file that is there, and to a heading that it has."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        if path.startswith(("http://", "https://")):
            continue
        found = page if not path else (page.parent / path).resolve()
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def commands(page: str) -> Iterator[list[str]]:
    """Every `misdeal` command line of a page, in indented lines and in code spans; pipelines in pieces."""
    spans = [" ".join(s.split()) for s in re.findall(r"`(misdeal\s[^`]+)`", prose(page))]
    lines = [line.strip() for line in prose(page).splitlines() if line.startswith("    ")]
    for text in [*spans, *lines]:
        for piece in text.split(" | "):
            if piece.startswith("misdeal "):
                yield shlex.split(piece)[1:]


QUOTED: Final = [(p.name, args) for p in PAGES for args in commands(p.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "arguments"), QUOTED, ids=lambda x: x if isinstance(x, str) else " ".join(x))
def test_every_quoted_command_parses(page: str, arguments: list[str]) -> None:
    """A command line on a page names commands and options that there are, with the arguments they need."""
    command: click.Command = main
    context = click.Context(command, info_name="misdeal")
    rest = list(arguments)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"{page}: no command {name}"
        command, context = found, click.Context(found, info_name=name, parent=context)
    values, _, _ = command.make_parser(context).parse_args(rest)
    missing = [
        p.name for p in command.params
        if isinstance(p, click.Argument) and p.required and not values.get(p.name or "") and "help" not in values
    ]  # fmt: skip
    assert missing == [], page


def test_the_readme_is_short() -> None:
    """One sitting."""
    assert len(README.splitlines()) < 200


def test_the_readme_explains_a_real_verdict() -> None:
    """The verdict of the README is what the commands above it print, and each of its fields is explained."""
    (quoted,) = (json.loads(block) for block in fenced(README, "json"))
    (line,) = re.findall(r"^    (misdeal simulate .* \| misdeal replay -)$", README, re.MULTILINE)
    simulate, replay = (shlex.split(piece)[1:] for piece in line.split(" | "))
    telemetry = CliRunner().invoke(main, simulate)
    verdict = CliRunner().invoke(main, replay, input=telemetry.stdout)
    assert json.loads(verdict.stdout) == quoted, "the verdict in README.md is out of date: run the command above it"
    fields = {f.encode_name for f in msgspec.structs.fields(verdicts.Verdict)}
    table = README[README.index("| field | says here |") : README.index("`misdeal replay --format text -`")]
    explained = {
        name
        for row in table.splitlines()
        for name in re.findall(r"`(\w+)`", row.split("|")[1:2][0] if "|" in row else "")
    }
    assert explained <= fields
    assert explained == quoted.keys()


def test_the_readme_tells_a_real_duty() -> None:
    """What the README quotes of a duty is what people are told of a story's verdict, line by line."""
    (quoted,) = fenced(README, "text")
    story = next(s for s in stories(FOLDER / "nj-winners-pot-33.txt") if (s.atom, s.shows) == ("33.12(e)", "remedied"))
    (verdict,) = judged(story.events())
    assert set(quoted.splitlines()) <= set(tell(verdict).splitlines())


@pytest.mark.parametrize(
    ("rules", "atom", "shows", "said"),
    [
        ("nj-winners-pot-33", "33.12(g)", "breach", ["BREACHED", "Before: the next round's first draw", "I-33-g"]),
        ("nj-winners-pot-33", "33.12(j)", "remedied", ["REMEDIED", "By: the dealer", "what followed"]),
        ("nj-double-cross-25", "25.7(e)2-m", "breach", ["Ordered in: 13:69F-25.12", "follows verdict ", "sets aside"]),
        ("nsw-let-it-ride", "12.6-b", "over", ["BREACHED", "The round was voided.", "rule 12.6: Within the rule"]),
        ("nsw-let-it-ride", "12.12", "undetermined", ["If it happened: Void the hand", "cannot be told: the clocks"]),
        ("nj-winners-pot-33", "33.12(k)", "breach", ["it should have been done before", "By: the dealer"]),
    ],
)  # fmt: skip
def test_a_duty_is_told_to_people(rules: str, atom: str, shows: str, said: list[str]) -> None:
    """What is due, before what, by whom, whether it was done, and how the text was read: none is left out."""
    story = next(s for s in stories(FOLDER / f"{rules}.txt") if (s.atom, s.shows) == (atom, shows))
    verdict = next(v for v in judged(story.events()) if v.atom == atom)
    text = " ".join(tell(verdict).split())
    assert [s for s in said if s not in text] == []


def test_a_moot_verdict_says_why() -> None:
    """A verdict that gave way to what ended its round names it."""
    text = "@x S1$1:10 S1$2:10 S1$$:10 nmb S1=4c^ S1=5d^ S1=??v C1=??v C2=??v"
    opened = "- open:nsw-let-it-ride shuffle:A shuffled:A=52 load:A>manual_shoe#SH1\n"
    told = [tell(v) for v in judged(parse(opened + text))]
    assert any("MOOT: what was due can no longer matter. The round ended under rule 12.3." in t for t in told)


def terms() -> list[str]:
    """The terms of the glossary, in order."""
    rows = [line.split("|")[1].strip().strip('"').lower() for line in GLOSSARY.splitlines() if line.startswith("| ")]
    assert rows[0] == "term"
    return rows[1:]


def test_each_term_is_defined_once() -> None:
    """No term stands twice, all stand in alphabetical order, and each has a definition that ends."""
    found = terms()
    assert found == sorted(set(found))
    assert all(
        row.rstrip().endswith(". |") for row in GLOSSARY.splitlines() if row.startswith("| ") and "term |" not in row
    )


def test_every_setting_is_told() -> None:
    """docs/operations.md names every variable of the environment, with its default, and no other."""
    assert set(re.findall(r"MISDEAL_[A-Z_]+", OPERATIONS)) == VARIABLES.keys() | _OTHERS
    for name, (_, default, _, _) in VARIABLES.items():
        (row,) = [line for line in OPERATIONS.splitlines() if line.startswith(f"| `{name}`")]
        assert row.split("|")[2].strip().strip("`") == (default or "none")
    for name, value in ENGINE_SETTINGS.items():
        assert re.search(rf"`{name}` \({value}\b", OPERATIONS), name


def test_every_metric_is_told() -> None:
    """docs/operations.md names every metric of the worker, and no other."""
    worker = SimpleNamespace(counts=Counts(), records=SimpleNamespace(unknown_fields=0), owners={})
    found = {
        m.name + ("_total" if m.type == "counter" else "")
        for m in WorkerMetrics(cast("Worker", worker)).collect()
        if m.name.startswith("misdeal_")
    }
    assert set(re.findall(r"`(misdeal_\w+)", OPERATIONS)) == found


def test_every_topic_is_told() -> None:
    """docs/operations.md has a row for each topic that is made."""
    for topic in declared(VARIABLES["MISDEAL_GROUP"][1], ""):
        assert f"| `{topic.name}` |" in OPERATIONS


def test_every_word_of_a_verdict_is_told() -> None:
    """docs/verdicts.md tells every kind, status, cause and code of a fault or an advisory."""
    for words in (verdicts.Kind, verdicts.Status, verdicts.Cause, verdicts.Severity):
        assert [word for word in get_args(words) if f"`{word}`" not in VERDICTS] == []
    source = (ROOT / "stream" / "replay" / "faults.py").read_text("utf-8")
    assert [code for code in re.findall(r'code="(\w+)"', source) if f"`{code}`" not in VERDICTS] == []


def test_the_recipe_gives_the_digest() -> None:
    """The digest's recipe of docs/verdicts.md runs, gives the digest of real verdicts, and notices a change."""
    (recipe,) = fenced(VERDICTS, "python")
    space: Json = {}
    exec(compile(recipe, "docs/verdicts.md", "exec"), space)  # noqa: S102  # it is ours
    recompute: Callable[[Json, list[bytes]], str] = space["recompute"]
    check: Callable[[bytes, list[bytes]], bool] = space["check"]
    order = [
        "simulate",
        "--rounds",
        "30",
        "--inject",
        "all",
        "--every",
        "2",
        "--faults",
        "drop:0.003",
        "--jitter",
        "500",
    ]
    telemetry = CliRunner().invoke(main, order).stdout_bytes
    bodies = CliRunner().invoke(main, ["replay", "-"], input=telemetry).stdout_bytes.splitlines()
    lines = telemetry.splitlines()
    kinds = {json.loads(body)["kind"] for body in bodies}
    assert {"breach", "device_fault"} <= kinds
    assert [body for body in bodies if not check(body, lines)] == []
    first = json.loads(bodies[0])
    altered = [line.replace(b'"clock_ms":20', b'"clock_ms":21') for line in lines]
    assert recompute(first, altered) != first["digest"]


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The rule set of CONTRIBUTING.md in place of those held; gives the file of its stories."""
    (data,) = fenced(CONTRIBUTING, "toml")
    (code,) = [block for block in fenced(CONTRIBUTING, "python") if "def procedure" in block]
    (told,) = fenced(CONTRIBUTING, "text")
    (tmp_path / "example_caribbean_stud.toml").write_text(data)
    module = ModuleType("stream.rulebook.example_caribbean_stud")
    exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)  # noqa: S102  # it is ours
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("stream.rulebook.paragraphs.resources.files", lambda _package: tmp_path)
    paragraphs.ids.cache_clear()
    paragraphs.load.cache_clear()
    path = tmp_path / "example-caribbean-stud.txt"
    path.write_text(told)
    yield path
    monkeypatch.undo()
    paragraphs.ids.cache_clear()
    paragraphs.load.cache_clear()


def test_the_rule_set_to_copy_holds(copied: Path) -> None:
    """The three files of CONTRIBUTING.md load, their stories hold, and each atom and its duty are shown."""
    found = list(stories(copied))
    for story in found:
        assert told(judged(story.events())) == story.expected(), str(story)
    law = paragraphs.load(copied.stem)
    wanted = {(atom, shows) for atom in law.atoms for shows in ("breach", "near")}
    assert law.module.DUTIES.keys() == {"CS.3"}
    assert {(s.atom, s.shows) for s in found} == wanted | {("CS.3", "remedied")}


def test_the_reported_line_is_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of a bug report and the script that turns it into telemetry give a verdict."""
    (script,) = [block for block in fenced(CONTRIBUTING, "python") if "OPENING" in block]
    (line,) = re.findall(r"^    (S1\$ante.* \.)$", CONTRIBUTING, re.MULTILINE)
    out: list[str] = []
    monkeypatch.setattr("sys.stdin", SimpleNamespace(read=lambda: line))
    exec(compile(script, "CONTRIBUTING.md", "exec"), {"print": out.append})  # noqa: S102  # it is ours
    judged_as = CliRunner().invoke(main, ["replay", "-"], input="\n".join(out))
    assert [json.loads(b)["atom"] for b in judged_as.stdout.splitlines()] == ["17.8(b)-1"]
