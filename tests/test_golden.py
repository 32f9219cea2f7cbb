"""Whole shifts whose verdicts are history: bytes in, verdict bytes out."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

GOLDEN = Path(__file__).parent / "golden"
SHIFTS = sorted(path.name.removesuffix(".jsonl.zst") for path in GOLDEN.glob("*.jsonl.zst"))


def _make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden_make", GOLDEN / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _make()


@pytest.mark.parametrize("rules", SHIFTS)
def test_a_past_shift_judges_the_same_for_ever(rules: str) -> None:
    """The telemetry of a past shift gives the verdicts that it gave, byte for byte."""
    before = (GOLDEN / f"{rules}.verdicts.jsonl").read_bytes()
    now = make.judged(make.read(rules))
    gone, new = set(before.splitlines()) - set(now.splitlines()), set(now.splitlines()) - set(before.splitlines())
    assert now == before, (
        f"{rules}: {len(gone)} verdicts of the golden file are not in force, {len(new)} are that it does not hold. If "
        "this is meant, run tests/golden/make.py and add a line to the changelog: rule set, in force from, which "
        "verdicts change."
    )


@pytest.mark.parametrize("rules", SHIFTS)
def test_a_shift_is_worth_keeping(rules: str) -> None:
    """A golden shift holds verdicts, repeated events, and events that came out of order."""
    lines = make.read(rules).splitlines()
    assert len(set(lines)) < len(lines)
    assert len((GOLDEN / f"{rules}.verdicts.jsonl").read_bytes().splitlines()) >= make.WRONG
    assert make.judged(b"\n".join(lines[::-1])) == make.judged(b"\n".join(lines))
