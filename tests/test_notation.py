"""The notation reads back what it wrote, and says where a line is wrong."""

import pytest
from generated import BEGIN, KINDS, SMALL, TABLE, event, events
from hypothesis import given
from hypothesis import strategies as st
from story import FOLDER, stories

from stream.deal import events as ev
from stream.deal.notation import NotationError, brief, parse, show
from stream.deal.tokens import FORMS

STORIES = [s for path in sorted(FOLDER.glob("*.txt")) for s in stories(path)]
# Ids as sites give them. What stands apart from these is in test_known_defects.py.
NAMES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="\\"), min_size=1, max_size=12)
ROUNDS = st.from_regex(r"[A-Za-z0-9_.\-]{1,12}", fullmatch=True)
WORLD = dict.fromkeys(
    (*("device", "rules", "day", "area", "player", "dealer", "verdict", "deck", "asset"), *("table",)), NAMES
) | {
    "round": ROUNDS,
    "table": st.just(TABLE),
    "corrects": st.builds(ev.Identity, NAMES, st.integers(0, 99), st.integers(0, 99)),
    "approved": st.none() | st.lists(NAMES, max_size=3).map(tuple),
    "players": st.none() | st.lists(NAMES, max_size=3).map(tuple),
    "decks": st.lists(st.builds(ev.Deck, NAMES, st.sampled_from([52, 53])), min_size=1, max_size=3).map(tuple),
    "options": st.dictionaries(NAMES, st.booleans() | st.integers(-9, 9) | NAMES, max_size=3),
    "currency": st.none() | st.sampled_from(["USD", "AUD"]),
}
PLAIN = WORLD | dict(SMALL)


@pytest.mark.parametrize("kind", KINDS, ids=[str(k.__struct_config__.tag) for k in KINDS])
@given(data=st.data())
def test_every_type_reads_back(kind: type[ev.Event], data: st.DataObject) -> None:
    """An event of any type, whatever its fields hold, is written and read back as it was."""
    written = data.draw(st.lists(event(kind, WORLD), min_size=1, max_size=3))
    assert parse(show(written)) == written


@given(written=st.lists(events(PLAIN), min_size=1, max_size=25))
def test_any_sequence_reads_back(written: list[ev.Event]) -> None:
    """Events of all types in any order, at any time and with any number, read back in that order."""
    assert parse(show(written)) == written


@pytest.mark.parametrize("story", STORIES, ids=[s.place for s in STORIES])
def test_stories_read_back(story: object) -> None:
    """Every story is the same story after it has been written and read again."""
    told = story.events()  # type: ignore[attr-defined]  # a Story
    again = show(told)
    assert parse(again) == told
    assert show(parse(again)) == again


@pytest.mark.parametrize("kind", KINDS, ids=[str(k.__struct_config__.tag) for k in KINDS])
def test_every_type_has_a_token(kind: type[ev.Event]) -> None:
    """Every event type has a short token, and the long one by its type is never the only way to say it."""
    assert any(form.kind is kind for form in FORMS)


@pytest.mark.parametrize(
    ("text", "where", "token"),
    [
        ("S1$ante:10 nmb S1=9x^ .", "line 1, column 16", "S1=9x^"),
        ("- open:nj-double-down-stud-17\n\nS1$ante:10  nonsense", "line 3, column 13", "nonsense"),
        ("S1$ante:10{amount}", "line 1, column 1", "S1$ante:10{amount}"),
        ("nmb{clock_ms=-1}", "line 1, column 1", "nmb{clock_ms=-1}"),
        ("nmb{clock_ms=5", "line 1, column 1", "nmb{clock_ms=5"),
        ("from:elsewhere", "line 1, column 1", "from:elsewhere"),
        ("S0=9h^", "line 1, column 1", "S0=9h^"),
    ],
)
def test_errors_say_where(text: str, where: str, token: str) -> None:
    """A line that is not in the notation is refused with line, column and token."""
    with pytest.raises(NotationError) as refused:
        parse(text)
    assert str(refused.value).startswith(f"{where}: {token!r}: ")


@given(text=st.text(st.sampled_from('S1$ante:0+=9h^v{}[]",.#*~-@nmb!CD<> \n/\\'), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever somebody types is read, or refused as notation; nothing else is ever raised."""
    try:
        read = parse(text)
    except NotationError:
        return
    assert all(e.table == TABLE for e in read)


def test_defaults_are_those_of_the_page() -> None:
    """One second passes before each token, a placement follows its draw by 300 ms, each device counts its own."""
    opened, wager, drawn, placed, burnt, away = parse("S1$ante:10 S1=9h^ *")
    assert [(e.at - BEGIN).total_seconds() for e in (opened, wager, drawn, placed, burnt, away)] == [
        0.0, 1.0, 2.0, 2.3, 3.3, 3.6,
    ]  # fmt: skip
    assert [(e.device, e.seq) for e in (opened, wager, drawn, placed, burnt)] == [
        ("floor", 0), ("floor", 1), ("shoe", 0), ("layout", 0), ("shoe", 1),
    ]  # fmt: skip


def test_brief_leaves_out_envelopes() -> None:
    """The deal line of a verdict tells the acts alone: no times, no devices, a placement for its draw."""
    told = parse("S1$ante:10{clock_ms=50} ~5 nmb beat:desk from:hand S1=9h^ C1=??v +3! * .")
    assert brief(told) == "@r1 S1$ante:10 nmb from:hand S1.1=9h^ C1=??v +3! * ."
