"""What others build on: the generated schemas and examples are up to date, and say what the code does."""

import inspect
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import msgspec
import orjson
import pytest
from story import FOLDER, judged, stories

from stream.deal import events as ev
from stream.deal.notation import parse
from stream.deal.tokens import FORMS
from stream.deal.verdicts import body, withdrawn
from stream.deal.wire import Reader, Refusal, canonical, encode
from stream.schemas import NOTATION, examples, generate, headers, meanings, tokens, write
from stream.worker.owner import Owner
from stream.worker.topics import TOPICS

ROOT: Final = Path(__file__).parents[1]
SCHEMAS: Final = ROOT / "schemas"
OFFICIAL: Final = Path(__file__).parent / "data" / "asyncapi-3.1.0.json"
TAGS: Final = sorted(ev.TYPES)

Json = dict[str, Any]


def load(name: str) -> Any:
    """A committed file of schemas/, read."""
    return json.loads((SCHEMAS / name).read_text("utf-8"))


def example(tag: str) -> Json:
    """The committed example of an event type."""
    found: Json = load(f"examples/{tag}.json")
    return found


# Without formats: 2020-12 lets a validator ignore them, so the schema must not rest on them.
EVENTS: Final = jsonschema_rs.Draft202012Validator(load("events.schema.json"), validate_formats=False)
VERDICT: Final = jsonschema_rs.Draft202012Validator(load("verdict.schema.json"), validate_formats=False)
ASYNCAPI: Final[Json] = load("asyncapi.json")
FILES: Final = generate()
STORIES: Final = [s for path in sorted(FOLDER.glob("*.txt")) for s in stories(path)]


# --- drift


@pytest.mark.parametrize("path", sorted(FILES))
def test_committed_file_is_what_the_types_give(path: str) -> None:
    """A generated file that differs from the types fails; `make schemas` writes it anew."""
    assert (ROOT / path).read_bytes() == FILES[path], "make schemas"


def test_docs_have_the_table_of_tokens() -> None:
    """The table in the docs is that of the forms and defaults; `make schemas` writes it anew."""
    page = (ROOT / NOTATION).read_text("utf-8")
    assert tokens.put_into(page) == page, "make schemas"


def test_no_example_is_left_over() -> None:
    """Every file among the examples is generated."""
    assert {str(p.relative_to(ROOT)) for p in (SCHEMAS / "examples").iterdir()} <= FILES.keys()


def test_write_writes_what_differs_and_nothing_else(tmp_path: Path) -> None:
    """Written twice, the second time writes nothing; a folder without the docs is left alone."""
    with pytest.raises(FileNotFoundError):
        write(tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "docs").mkdir()
    (tmp_path / NOTATION).write_text(f"before\n{tokens.BEGIN}\nold\n{tokens.END}\nafter\n", "utf-8")
    assert set(write(tmp_path)) == {*FILES, NOTATION}
    assert write(tmp_path) == []
    assert (tmp_path / NOTATION).read_text("utf-8").startswith(f"before\n{tokens.BEGIN}\n| event |")


def test_a_page_without_marks_is_refused() -> None:
    """A lost mark is said, not papered over."""
    with pytest.raises(ValueError, match="end"):
        tokens.put_into(tokens.BEGIN)


def test_every_field_has_a_meaning_and_every_meaning_a_field() -> None:
    """A new field without a meaning stops the generator; no meaning is left over."""
    with pytest.raises(LookupError, match=r"CardDrawn\.colour"):
        meanings.meaning(meanings.EVENTS, "CardDrawn", "colour")
    for file, known in (("events", meanings.EVENTS), ("verdict", meanings.VERDICTS)):
        schema = load(f"{file}.schema.json")
        parts = {**schema["$defs"], schema["title"]: schema}
        fields = [(k, f) for k, part in parts.items() for f in part.get("properties", {})]
        used = {f"{k}.{f}" if f"{k}.{f}" in known else f for k, f in fields}
        assert used == set(known)


# --- telemetry


def test_schemas_are_schemas() -> None:
    """Both are themselves valid by the dialect they name."""
    for name in ("events.schema.json", "verdict.schema.json"):
        jsonschema_rs.meta.validate(load(name))


@pytest.mark.parametrize("tag", TAGS)
def test_example_of_every_type(tag: str) -> None:
    """Every event type has an example that the reader takes and the schema too, with no field unknown to us."""
    reader = Reader()
    event = reader.read((SCHEMAS / f"examples/{tag}.json").read_bytes())
    assert not isinstance(event, Refusal)
    assert type(event) is ev.TYPES[tag]
    assert reader.unknown_fields == 0
    assert orjson.loads(encode(event)) == example(tag)
    EVENTS.validate(example(tag))


def test_events_of_all_stories_fit() -> None:
    """What the stories' devices report fits the schema."""
    for story in STORIES:
        for event in story.events():
            EVENTS.validate(orjson.loads(encode(event)))


def test_unknown_fields_and_null_are_accepted() -> None:
    """A field we do not know, and null for one left out, are taken by both."""
    for more in ({"firmware": "2.1"}, {"hand": None}):
        changed = example("card.drawn") | more
        assert not isinstance(Reader().read(orjson.dumps(changed)), Refusal)
        EVENTS.validate(changed)


BROKEN: Final[dict[str, tuple[str, Json]]] = {
    "a word of no list": ("card.placed", {"facing": "sideways"}),
    "a card of no deck": ("card.drawn", {"card": "1h"}),
    "a time without offset": ("card.drawn", {"at": "2026-01-05T12:00:00"}),
    "a time that is no text": ("card.drawn", {"at": 1767614400}),
    "a year long gone": ("card.drawn", {"at": "1970-01-01T00:00:00Z"}),
    "a negative seq": ("card.drawn", {"seq": -1}),
    "an integer of 40 digits": ("card.drawn", {"boot": 10**39}),
    "an integer beyond 53 bits": ("wager.placed", {"amount": 2**53}),
    "an integer in a text": ("card.drawn", {"seq": "3"}),
    "a fraction": ("card.drawn", {"clock_ms": 0.5}),
    "a blank in an id": ("card.drawn", {"device": "shoe 12"}),
    "a blank in an id of a list": ("table.opened", {"approved": ["SH 1"]}),
    "a letter that is not ASCII in an id": ("card.drawn", {"table": "Tisch-ä"}),
    "an empty id": ("round.opened", {"round": ""}),
    "an id of 65 letters": ("card.drawn", {"device": "d" * 65}),
    "more than all confidence": ("card.placed", {"confidence": 1001}),
    "a place before the first": ("card.placed", {"index": 0}),
    "a deck of 54": ("table.opened", {"decks": [{"id": "A", "cards": 54}]}),
    "no deck": ("table.opened", {"decks": []}),
    "a setting that is a fraction": ("table.opened", {"options": {"auto_shoe": 0.5}}),
    "the button at the common cards": ("button.moved", {"to": "C"}),
    "a type of no such name": ("card.drawn", {"type": "card.flipped"}),
    "null where a card is required": ("card.drawn", {"card": None}),
    "a correction of a correction": ("event.corrected", {"event": example("event.corrected")}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_event_is_refused_by_both(what: str) -> None:
    """What breaks a bound is refused by the reader, and by the schema too."""
    tag, changes = BROKEN[what]
    changed = example(tag) | changes
    assert isinstance(Reader().read(json.dumps(changed, ensure_ascii=False).encode()), Refusal)
    assert not EVENTS.is_valid(changed)


@pytest.mark.parametrize("tag", TAGS)
def test_a_required_field_left_out_is_refused_by_both(tag: str) -> None:
    """Each required field is required by both, and no other is."""
    for name in example(tag):
        changed = {k: v for k, v in example(tag).items() if k != name}
        assert isinstance(Reader().read(orjson.dumps(changed)), Refusal) is not EVENTS.is_valid(changed), name


ONLY_READER: Final[dict[str, bytes]] = {
    "a key that stands twice": orjson.dumps(example("card.burned")).replace(b'"draw"', b'"draw":1,"draw"'),
    "more than 64 KiB": orjson.dumps(example("card.burned") | {"note": "x" * 65536}),
    "a day that no month has": orjson.dumps(example("card.burned") | {"at": "2026-02-30T12:00:00Z"}),
    "a time past the last year by its offset": orjson.dumps(
        example("card.burned") | {"at": "2099-12-31T23:30:00-01:00"}
    ),
    "an integer written as a fraction": orjson.dumps(example("card.burned") | {"seq": 5.0}),
}


@pytest.mark.parametrize("what", ONLY_READER)
def test_what_only_the_reader_refuses(what: str) -> None:
    """What no schema can say, or what JSON Schema takes for the same; the reader has the last word."""
    value = ONLY_READER[what]
    assert isinstance(Reader().read(value), Refusal)
    assert EVENTS.is_valid(json.loads(value))


def test_what_is_no_json_never_reaches_a_schema() -> None:
    """Bytes that are no UTF-8, also in a field that nobody reads."""
    value = orjson.dumps(example("card.burned") | {"note": "x"}).replace(b'"x"', b'"\xff"')
    assert isinstance(Reader().read(value), Refusal)
    with pytest.raises(UnicodeDecodeError):
        json.loads(value)


@pytest.mark.parametrize(
    ("at", "taken"),
    [
        ("2026-01-05T12:00:00Z", True),
        ("2026-01-05T12:00:00.5+11:00", True),
        ("2026-01-05T12:00:00.123456-05:00", True),
        ("2026-01-05t12:00:00z", True),
        ("2026-01-05 12:00:00Z", True),
        ("1999-12-31T23:30:00-01:00", True),  # 2000 in UTC
        ("2100-01-01T00:30:00+01:00", True),  # 2099 in UTC
        ("2026-01-05T12:00Z", False),
        ("2026-01-05T24:00:00Z", False),
        ("2026-01-05T12:00:60Z", False),
        ("2026-13-05T12:00:00Z", False),
        ("2026-01-05T12:00:00+24:00", False),
        ("2026-01-05T12:00:00.Z", False),
        ("2026-01-05", False),
        ("1998-12-31T23:30:00Z", False),
        ("2101-01-01T00:00:00Z", False),
    ],
)
def test_reader_and_schema_agree_on_times(at: str, taken: bool) -> None:
    """A time is taken by both or by neither."""
    changed = example("card.burned") | {"at": at}
    assert isinstance(Reader().read(orjson.dumps(changed)), Refusal) is not taken
    assert EVENTS.is_valid(changed) is taken


# --- verdicts


def test_verdict_example_is_what_a_replay_gives() -> None:
    """The example is a published body, byte for byte once it is canonical."""
    found: Json = load("examples/verdict.json")
    assert canonical(found) == body(examples.verdict())
    VERDICT.validate(found)


def test_verdicts_of_all_stories_fit() -> None:
    """Whatever a story makes the engine say fits the schema, and taken back it still does."""
    count = 0
    for story in STORIES:
        for verdict in judged(story.events()):
            VERDICT.validate(orjson.loads(body(verdict)))
            VERDICT.validate(orjson.loads(body(withdrawn(verdict, "A late event explains it."))))
            count += 1
    assert count, "stories without verdicts prove nothing"


@pytest.mark.parametrize(
    "changes",
    [
        {"reason": None},
        {"severity": "dire"},
        {"affected": {"amount": 0.5}},
        {"affected": {"positions": []}},  # empty lists are left out
        {"interpretations": []},
        {"id": "7169402DD8079DD8"},
        {"at": "2026-01-05T12:00:00Z"},
        {"kind": "undetermined"},  # without its cause
        {"status": "withdrawn"},  # without its reason
        {"new_field": True},
        {"new_field": {"deep": [1, None]}},
    ],
    ids=str,
)
def test_broken_verdict_is_refused(changes: Json) -> None:
    """No null, no fraction, no true or false, nothing empty, and what a kind or a status needs is there."""
    assert not VERDICT.is_valid(load("examples/verdict.json") | changes)


def test_a_later_version_may_add_fields() -> None:
    """A new field of integers and strings is no breach of the schema."""
    assert VERDICT.is_valid(load("examples/verdict.json") | {"new_field": {"deep": [1, "two"]}})


# --- the topics


def test_asyncapi_is_valid_by_its_official_schema() -> None:
    """The document is AsyncAPI 3.1.0 by the schema that its makers publish."""
    content = OFFICIAL.read_bytes()
    assert sha256(content).hexdigest() in (OFFICIAL.parent / "README.md").read_text("utf-8"), (
        "not the file as published"
    )
    validator = jsonschema_rs.Draft7Validator(json.loads(content))
    validator.validate(ASYNCAPI)
    broken = deepcopy(ASYNCAPI)
    broken["operations"]["set-aside"]["action"] = "throw"
    assert not validator.is_valid(broken)


def references(value: Any) -> Iterator[str]:
    """Every `$ref` in a document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def resolve(reference: str, home: str) -> Any:
    """What a reference of a file in schemas/ points to. Raises KeyError where it points to nothing."""
    file, _, pointer = reference.partition("#")
    found = load(file or home)
    for step in pointer.split("/")[1:]:
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


@pytest.mark.parametrize("home", ["asyncapi.json", "events.schema.json", "verdict.schema.json"])
def test_every_reference_leads_somewhere(home: str) -> None:
    """All references point to what is there."""
    for reference in set(references(load(home))):
        assert isinstance(resolve(reference, home), dict), reference


def payload(schema: Json) -> jsonschema_rs.Draft202012Validator:
    """A validator of a payload schema, its reference into a file beside it followed."""
    file, _, pointer = schema.get("$ref", "").partition("#")
    if file:
        schema = load(file)
    if pointer:
        schema = {"$defs": schema["$defs"], "$ref": f"#{pointer}"}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


@pytest.mark.parametrize("name", sorted(ASYNCAPI["components"]["messages"]))
def test_examples_of_messages_fit_them(name: str) -> None:
    """Every message has an example, which fits its payload and headers, and a key that fits."""
    message = ASYNCAPI["components"]["messages"][name]
    assert message["name"] == name
    assert message["examples"]
    for shown in message["examples"]:
        payload(message["payload"]).validate(shown["payload"])
        if "headers" in message:
            payload(message["headers"]).validate(shown["headers"])
    if name in ev.TYPES:
        others = [t for t in TAGS if t != name]
        assert not any(payload(message["payload"]).is_valid(example(t)) for t in others)


def test_channels_are_the_topics_as_declared() -> None:
    """Each topic is a channel with its name, retention and messages; every type is on the topic of its events."""
    channels = {c["address"]: c for c in ASYNCAPI["channels"].values()}
    assert channels.keys() == {t.name for t in TOPICS}
    for topic in TOPICS:
        kafka = channels[topic.name]["bindings"]["kafka"]
        assert kafka["topicConfiguration"]["retention.ms"] == int(topic.config["retention.ms"])
        assert ("partitions" in kafka) is not topic.partitioned
    on = {tag: {a.split(".")[1] for a, c in channels.items() if tag in c["messages"]} for tag in TAGS}
    every = {"card-reader", "shuffler", "floor"}
    assert on == {tag: {kind.topic} if kind.topic else every for tag, kind in ev.TYPES.items()}


def test_headers_of_dead_letters_are_those_written() -> None:
    """The worker adds these headers and no other."""
    written = re.findall(r'\("(misdeal-[a-z]+)"', inspect.getsource(Owner._odd))
    assert list(headers.dead_letter_example()) == written


def test_a_header_without_a_meaning_stops_the_generator() -> None:
    """A header that the worker writes and nobody has explained is not published."""
    with pytest.raises(KeyError):
        headers.schema({"misdeal-mood": "good"})


# --- the table of tokens


def test_table_of_tokens_is_whole() -> None:
    """Every event type has one row and at least one form; every form stands in the table."""
    rows = tokens.table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(ev.TYPES)
    for row, kind in zip(rows, ev.TYPES.values(), strict=True):
        templates = [f.template for f in FORMS if f.kind is kind]
        assert templates
        assert all(f"`{t}`" in row for t in templates)
        assert row.count("|") == 4, "a cell must not hold what parts cells"


@pytest.mark.parametrize("tag", TAGS)
def test_defaults_are_what_the_notation_fills_in(tag: str) -> None:
    """An event written by its type, with only what has no default, reads back with the defaults of the table."""
    kind = ev.TYPES[tag]
    defaults = tokens.defaults(kind)
    given = {k: v for k, v in example(tag).items() if k in kind.__struct_fields__ and k not in defaults}
    block = ",".join(f"{k}={orjson.dumps(v).decode()}" for k, v in given.items() if k != "at")
    event = parse(f"- {tag}{{{block}}}")[-1]
    assert {name: getattr(event, name) for name in defaults} == defaults
    assert msgspec.to_builtins(event)["type"] == tag
