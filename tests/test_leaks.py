"""A whole shift of each game: what nobody had seen is in nothing that is put out, by no way that shows in the bytes.

The readers name every card. Three looks: each body beside the unmasked record of it; the same outputs once all cards
that nobody saw are other cards; the same at every moment before a card is shown. Each fails without the mask.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import pytest
from click.testing import CliRunner
from hidden import check_body, check_words, exchanged, ordered_of, reveals, rounds, shift

from stream.cli import main
from stream.commands.replay import Replay
from stream.deal import events as ev
from stream.deal.verdicts import body
from stream.deal.wire import encode
from stream.replay.mask import Shown
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids
from stream.tell import tell

SOME: Final = 1500  # events of which every revision is looked at
HOSTILE: Final = (
    b'{"type":"card.drawn","table":"T001","device":"x","boot":0,"seq":-1,"at":"2026-01-05T12:00:00Z","card":"Kd"}',
    b'{"type":"card.placed","table":"T001","card":"Kd',
    b'{"type":"card.drawn","table":"T001","card":"Kd","card":"Kd"}',
    b'{"type":"card.drawn","table":"T001","device":"x","card":"Kd Qd"}',
    b'{"type":"Kd","table":"T001"}',
    b'{"Kd":"Kd","type":"card.burned","table":"Kd Kd"}',
    b'["Kd"]',
    b"Kd",
)  # fmt: skip


@cache
def log(rules: str) -> tuple[ev.AnyEvent, ...]:
    """The shift."""
    return tuple(shift(rules))


@cache
def in_order(rules: str) -> tuple[ev.AnyEvent, ...]:
    """The same events once each, in the order in which they happened."""
    return tuple(ordered_of(log(rules)))


def check_bodies(rules: str) -> None:
    """Every body beside its record."""
    replay = Replay(None, evidence=True)
    for number, event in enumerate(log(rules), 1):
        replay.read("telemetry", number, encode(event))
    hidden = [check_body(body(v), record) for v, record in zip(replay.in_force(), replay.evidence(), strict=True)]
    assert len(hidden) > 20
    assert sum(map(bool, hidden)) > len(hidden) // 3, "nothing was hidden, so nothing is proven"


@pytest.mark.parametrize("rules", ids())
def test_no_body_names_a_hidden_card(rules: str) -> None:
    """The deal of every verdict, its digest and its words tell only what everybody had seen by the deciding event."""
    check_bodies(rules)


def outputs(events: Sequence[ev.AnyEvent], *options: str) -> tuple[bytes, bytes]:
    """Stdout and stderr of a replay, with records among the telemetry that can't be read and hold a card."""
    lines = [encode(e) for e in events]
    for i, bad in enumerate(HOSTILE):
        lines.insert(50 * (i + 1), bad)
    told = CliRunner().invoke(main, ["replay", *options, "-"], input=b"\n".join(lines))
    assert told.exit_code == 1
    return told.stdout_bytes, told.stderr_bytes


def check_other_cards(rules: str) -> None:
    """All outputs of replay for the shift, and for the same shift with other cards where nobody saw them."""
    events = in_order(rules)
    bounds = list(rounds(events))
    other = [*events[: bounds[0][0]], *(e for begin, end in bounds for e in exchanged(events[begin:end]))]
    changed = sum(a != b for a, b in zip(events, other, strict=True))
    assert changed > 2, "no card was hidden, so nothing is proven"
    for options in ((), ("--format", "text"), ("--revisions",)):
        some = SOME if options == ("--revisions",) else len(events)
        (said, words), (same, again) = outputs(events[:some], *options), outputs(other[:some], *options)
        assert said == same, f"other bytes: {options}"
        assert words == again, f"other bytes on stderr: {options}"
        check_words("stderr", words.decode())


@pytest.mark.parametrize("rules", ids())
def test_other_hidden_cards_change_no_byte(rules: str) -> None:
    """What replay prints, as bodies, text or revisions, and on stderr, is the same whatever the unseen cards were."""
    check_other_cards(rules)


def moments(rules: str) -> Iterator[list[ev.AnyEvent]]:
    """Rounds just before a card was shown, after what came before the first round: each eighth of these moments."""
    events = in_order(rules)
    bounds = list(rounds(events))
    all_of_them = [(begin, i) for begin, end in bounds for i in range(begin, end) if reveals(events[i])]
    for begin, i in all_of_them[::8]:
        yield [*events[: bounds[0][0]], *events[begin:i]]


def said(events: Sequence[ev.AnyEvent]) -> list[tuple[bytes, str]]:
    """What is in force of some events, as bytes and as text."""
    table = Table("T001")
    for event in events:
        table.hear(event)
    table.settle()
    return [(body(v), tell(v)) for v in table.in_force()]


def check_moments(rules: str) -> None:
    """All moments of the shift before a card was shown."""
    verdicts = changed = 0
    for events in moments(rules):
        begin = next(i for i, e in enumerate(events) if isinstance(e, ev.RoundOpened))
        other = [*events[:begin], *exchanged(events[begin:])]
        if other == events:
            continue
        found = said(events)
        assert found == said(other), "the same, whatever the card"
        changed += 1
        verdicts += len(found)
    assert changed > 10
    assert verdicts > 10


@pytest.mark.parametrize("rules", ids())
def test_until_a_card_is_shown_it_could_be_any(rules: str) -> None:
    """Before a card is shown nothing that is said depends on which card it is."""
    check_moments(rules)


@pytest.mark.parametrize("check", [check_bodies, check_other_cards, check_moments])
def test_without_the_mask_each_look_fails(check: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests can fail: where events are told as they are, each of them does."""
    monkeypatch.setattr(Shown, "mask", lambda _self, event: event)
    assert callable(check)
    with pytest.raises(AssertionError, match=r"told otherwise|other bytes|the same"):
        check(ids()[0])
