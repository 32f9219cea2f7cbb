"""Bytes to events: what is refused, what is ignored, and that nothing raises."""

import json

import pytest
from generated import KINDS, event, events
from hypothesis import given
from hypothesis import strategies as st

from stream.deal import events as ev
from stream.deal.wire import LARGEST, Reader, Refusal, canonical, encode, from_micros, full, micros

PLACED = (
    b'{"type":"card.placed","table":"T1","device":"cam","boot":0,"seq":7,"at":"2026-01-05T12:00:00Z","clock_ms":5,'
    b'"draw":3,"position":"S2","index":1,"facing":"up","card":"Qh"}'
)
OPENED = (
    b'{"type":"table.opened","table":"T1","device":"desk","boot":0,"seq":0,"at":"2026-01-05T12:00:00Z","clock_ms":5,'
    b'"rules":"r","seats":7,"shoe_side":"left","decks":[{"id":"A","cards":52}],"limits":{"min":1,"max":9},'
    b'"senses":[],"options":{"note":"\\"x\\": y"}}'
)


def changed(old: bytes, new: bytes, record: bytes = PLACED) -> bytes:
    """A record with one piece replaced."""
    assert record.count(old) == 1
    return record.replace(old, new)


HOSTILE = {
    "empty": b"",
    "blank": b"  ",
    "no json": b"Qh?",
    "null": b"null",
    "a list": b"[" + PLACED + b"]",
    "a string": b'"Qh"',
    "truncated": PLACED[:-9],
    "trailing": PLACED + b"Qh",
    "two records": PLACED + PLACED,
    "no type": changed(b'"type":"card.placed",', b""),
    "unknown type": changed(b"card.placed", b"card.Qh"),
    "wrong type of number": changed(b'"seq":7', b'"seq":"Qh"'),
    "a fraction": changed(b'"seq":7', b'"seq":7.5'),
    "a list for a word": changed(b'"up"', b'["Qh"]'),
    "an unknown card": changed(b'"Qh"', b'"Qx"'),
    "an unknown position": changed(b'"S2"', b'"S0Qh"'),
    "a missing field": changed(b',"card":"Qh"', b""),
    "null for a required field": changed(b'"Qh"', b"null"),
    "naive time": changed(b"00Z", b"00"),
    "no time": changed(b"2026-01-05T12:00:00Z", b"Qh"),
    "a number for a time": changed(b'"2026-01-05T12:00:00Z"', b"1767614400"),
    "year 1999": changed(b"2026-01-05T12:00:00Z", b"1999-12-31T23:59:59Z"),
    "year 1999 by its offset": changed(b"2026-01-05T12:00:00Z", b"2000-01-01T00:30:00+01:00"),
    "year 2100": changed(b"2026-01-05T12:00:00Z", b"2100-01-01T00:00:00Z"),
    "year 2100 by its offset": changed(b"2026-01-05T12:00:00Z", b"2099-12-31T23:30:00-01:00"),
    "year 0": changed(b"2026-01-05T12:00:00Z", b"0000-01-01T00:00:00Z"),
    "offset before year 1": changed(b"2026-01-05T12:00:00Z", b"0001-01-01T00:00:00+23:59"),
    "offset after year 9999": changed(b"2026-01-05T12:00:00Z", b"9999-12-31T23:59:59-23:59"),
    "month 13": changed(b"2026-01-05", b"2026-13-05"),
    "negative": changed(b'"seq":7', b'"seq":-7'),
    "54 bits": changed(b'"seq":7', b'"seq":9007199254740992'),
    "40 digits": changed(b'"seq":7', b'"seq":' + b"9" * 40),
    "huge exponent": changed(b'"seq":7', b'"seq":1e999'),
    "draw 0": changed(b'"draw":3', b'"draw":0'),
    "confidence 1001": changed(b'"draw":3', b'"confidence":1001'),
    "an empty id": changed(b'"T1"', b'""'),
    "a blank in an id": changed(b'"T1"', b'"T Qh"'),
    "NUL in an id": changed(b'"T1"', b'"T\\u0000Qh"'),
    "a line end in an id": changed(b'"T1"', b'"T\\nQh"'),
    "a letter beyond ASCII": changed(b'"T1"', '"Tisch-Ä"'.encode()),
    "65 letters": changed(b'"T1"', b'"' + b"T" * 65 + b'"'),
    "a lone surrogate": changed(b'"T1"', b'"\\ud800"'),
    "900 kB": changed(b'"draw":3', b'"x":"' + b"Qh" * 450_000 + b'"'),
    "deep": b"[" * 30_000 + b"]" * 30_000,
    "deeper": b'{"a":' * 100_000,
    "deep where a field is skipped": changed(b'"draw":3', b'"x":' + b"[" * 30_000 + b"]" * 30_000),
    "invalid UTF-8": changed(b'"T1"', b'"\xff\xfe"'),
    "invalid UTF-8 in a skipped field": changed(b'"draw":3', b'"x":"\xff\xfe"'),
    "invalid UTF-8 in a skipped key": changed(b'"draw":3', b'"\xff":1'),
    "a repeated key": changed(b'"draw":3', b'"draw":3,"draw":4'),
    "a repeated key with its default": changed(b'"draw":3', b'"confidence":1000,"confidence":1000'),
    "a repeated key for a default": changed(b'"draw":3', b'"confidence":1000,"seq":7'),
    "a repeated key, blanks before colons": changed(b'"draw":3', b'"draw" :3,"draw" : 4'),
    "a repeated type": changed(b'"draw":3', b'"draw":3,"type":"card.placed"'),
    "a repeated unknown key": changed(b'"draw":3', b'"x":3,"x":4'),
    "a repeated key in an unknown field": changed(b'"draw":3', b'"x":{"y":1,"y":2}'),
    "a repeated key written with an escape": changed(b'"draw":3', b'"draw":3,"dr\\u0061w":4'),
    "a repeated key of a deck": changed(b'"id":"A"', b'"id":"A","id":"B"', OPENED),
    "a repeated key of options": changed(b'"options":{', b'"options":{"a":1,"a":2,', OPENED),
    "a repeated key beside a colon in a string": changed(b'"seats":7', b'"seats":7,"seats":7', OPENED),
    "a byte order mark": b"\xef\xbb\xbf" + PLACED,
    "UTF-16": PLACED.decode().encode("utf-16"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_records_are_refused(name: str) -> None:
    """Bytes that are no event, or break a bound, are refused with a reason that shows nothing of what they hold."""
    reader = Reader()
    reader.read(PLACED)  # knows the table and the device by now
    refusal = reader.read(HOSTILE[name])
    assert isinstance(refusal, Refusal)
    assert refusal.code
    assert "Qh" not in refusal.detail
    assert refusal.detail.isprintable()


def test_untouched_records_are_read() -> None:
    """The records that the hostile ones are made from are themselves in order."""
    assert isinstance(Reader().read(PLACED), ev.CardPlaced)
    opened = Reader().read(OPENED)
    assert isinstance(opened, ev.TableOpened)
    assert opened.options == {"note": '"x": y'}


def test_unknown_fields_are_ignored_and_counted() -> None:
    """A field that the contract does not know is accepted, counted and changes nothing."""
    reader = Reader()
    more = changed(b'"draw":3', b'"draw":3,"lane":2,"maker":{"name":"x","at":[1,{"y":2}]}')
    assert reader.read(more) == reader.read(PLACED)
    assert reader.unknown_fields == 2


def test_the_largest_record_is_read() -> None:
    """A record of exactly the largest size is read, one byte more is refused."""
    room = LARGEST - len(PLACED) - len(b'"x":"",')
    assert isinstance(Reader().read(changed(b'"draw":3', b'"x":"' + b"a" * room + b'","draw":3')), ev.CardPlaced)
    refusal = Reader().read(changed(b'"draw":3', b'"x":"' + b"a" * (room + 1) + b'","draw":3'))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "too_large"


def test_bounds_of_time_are_read() -> None:
    """The first and the last moment of the years allowed are read, by whatever offset they are told."""
    for text in (b"2000-01-01T00:00:00Z", b"1999-12-31T23:30:00-01:00", b"2099-12-31T23:59:59.999999Z"):
        assert isinstance(Reader().read(changed(b"2026-01-05T12:00:00Z", text)), ev.CardPlaced)


@pytest.mark.parametrize("kind", KINDS, ids=[str(k.__struct_config__.tag) for k in KINDS])
@given(data=st.data())
def test_every_type_round_trips(kind: type[ev.Event], data: st.DataObject) -> None:
    """An event of any type is the same after it has been written and read."""
    written = data.draw(event(kind))
    reader = Reader()
    assert reader.read(encode(written)) == written
    assert reader.unknown_fields == 0


@given(written=events())
def test_canonical_bytes(written: ev.Event) -> None:
    """The canonical form is the same for a record and its copy with keys turned round and blanks between them."""
    plain = json.loads(encode(written))
    turned = json.dumps(dict(reversed(plain.items())), indent=1).encode()
    again = Reader().read(turned)
    assert not isinstance(again, Refusal)
    said = canonical(full(written))
    assert canonical(full(again)) == said
    assert json.dumps(json.loads(said), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == said
    assert json.loads(said)["at"] == from_micros(micros(written.at))


@given(value=st.binary(max_size=300))
def test_random_bytes_are_refused(value: bytes) -> None:
    """Random bytes are never an event and never an exception."""
    assert isinstance(Reader().read(value), Refusal)


@given(written=events(), data=st.data())
def test_mutated_records_never_raise(written: ev.Event, data: st.DataObject) -> None:
    """A record with bytes changed, cut out or doubled is an event or a refusal."""
    value = bytearray(encode(written))
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(value) - 1))
        piece = data.draw(
            st.sampled_from([b"", b'"', b"{", b"}", b",", b":", b"\\", b"\xff", b"9", b" ", bytes(value[i:])])
        )
        value[i : i + data.draw(st.integers(0, 2))] = piece
        value = value or bytearray(b"0")
    reader = Reader()
    read = reader.read(bytes(value))
    assert isinstance(read, Refusal) or reader.read(encode(read)) == read
