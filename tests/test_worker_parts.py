"""The worker's parts that need no broker: the head merge, epochs, holds, settings, the changelog's rules."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import cast

import pytest
from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st

from stream.deal.verdicts import Verdict
from stream.worker.changelog import EPOCH_KEY, Kept, Stamp, encode_stamp
from stream.worker.docket import VERSION, round_key, table_of
from stream.worker.epoch import Claim, InForce, Lost, NotOwner, Stale, claim
from stream.worker.hold import Holds, Pending
from stream.worker.merge import HeadMerge
from stream.worker.records import epoch_headers
from stream.worker.settings import VARIABLES, SettingError, read
from stream.worker.source import check_faust
from stream.worker.topics import SOURCES, declared


def record(offset: int, headers: Sequence[tuple[str, bytes]], value: bytes = b"{}") -> ConsumerRecord:
    """A record of the alerts topic, as far as the stale rule looks at it."""
    return cast("ConsumerRecord", type("R", (), {"offset": offset, "headers": headers, "value": value, "key": b"T1"})())


def verdict_headers(name: str, epoch: int, number: int) -> list[tuple[str, bytes]]:
    """The headers that decide what is in force."""
    return [("ce_id", f"{name}.{epoch}.{number}.00000000".encode()), ("misdeal-revision", b"%d.%d" % (epoch, number))]


# --- merge


@given(st.lists(st.lists(st.integers(0, 50), max_size=12), min_size=1, max_size=3))
def test_a_backlog_comes_out_in_time_order(lanes: list[list[int]]) -> None:
    """All of a backlog comes out, by running event time, and no lane's own order is changed."""
    merge: HeadMerge[str, tuple[str, int]] = HeadMerge(low=10, patience_s=1)
    names = [f"lane{i}" for i in range(len(lanes))]
    for name, times in zip(names, lanes, strict=True):
        merge.push(name, [(t, (name, i)) for i, t in enumerate(times)])
    out = merge.take(0, names, lambda _: False, 0.0)
    assert sorted(out) == sorted((n, i) for n, times in zip(names, lanes, strict=True) for i in range(len(times)))
    for name in names:
        assert [i for n, i in out if n == name] == sorted(i for n, i in out if n == name)
    tops = {n: [max(times[: i + 1]) for i in range(len(times))] for n, times in zip(names, lanes, strict=True)}
    keys = [tops[n][i] for n, i in out]
    assert keys == sorted(keys)


def test_a_lane_that_lags_is_waited_for_and_not_for_ever() -> None:
    """Nothing goes while a lane is empty and has more to come; after the patience the rest goes on."""
    merge: HeadMerge[str, str] = HeadMerge(low=10, patience_s=2)
    merge.push("a", [(1, "a1")])
    lags = {"b"}.__contains__
    assert merge.take(0, ["a", "b"], lags, 0.0) == []
    assert merge.waiting
    assert merge.take(0, ["a", "b"], lags, 1.9) == []
    assert merge.take(0, ["a", "b"], lags, 2.1) == ["a1"]


def test_nothing_later_than_what_may_still_come() -> None:
    """Of the other lanes nothing goes that is later than the last item in hand of a lane that lags."""
    merge: HeadMerge[str, str] = HeadMerge(low=10, patience_s=2)
    merge.push("a", [(1, "a1"), (5, "a5")])
    merge.push("b", [(2, "b2"), (9, "b9")])
    assert merge.take(0, ["a", "b"], {"a"}.__contains__, 0.0) == ["a1", "b2", "a5"]
    assert merge.holds("b")


# --- epochs


def test_a_lower_epoch_after_a_higher_one_is_stale() -> None:
    """What a former owner writes after its successor's announcement changes nothing in force."""
    view = InForce()
    view.see(record(0, epoch_headers(1, "one")))
    view.see(record(1, verdict_headers("v", 1, 1), b"first"))
    view.see(record(2, epoch_headers(2, "two")))
    view.see(record(3, verdict_headers("v", 1, 2), b"stale"))
    assert view.records["v"].value == b"first"
    assert view.skipped == 1
    assert [Stale(3)(2), Stale(3)(3)] == [True, False]


class Partition:
    """An alerts partition in memory, read back as a claim does."""

    def __init__(self) -> None:
        self.log: list[ConsumerRecord] = []

    async def end(self, _number: int) -> int:
        """The offset after the last record."""
        return len(self.log)

    async def read(self, _number: int, begin: int, end: int, seen: InForce) -> None:
        """Show a stretch."""
        for item in self.log[begin:end]:
            seen.see(item)

    def claiming(self, owner: str, *, member: bool, random: Random) -> "asyncio.Task[Claim]":
        """One owner's claim, stalling between its look and its announcement."""

        async def announce(epoch: int) -> int:
            await asyncio.sleep(random.uniform(0, 0.005))
            self.log.append(record(len(self.log), epoch_headers(epoch, owner)))
            return len(self.log) - 1

        async def is_member() -> bool:
            return member

        return asyncio.create_task(claim(self, 0, covered=(0, 0), floor=0, announce=announce, is_member=is_member))


@pytest.mark.parametrize("seed", range(5))
async def test_claims_at_once_give_each_a_higher_epoch(seed: int) -> None:
    """Of claimants at once each that wins has an epoch higher than all before it; who is no member gives way."""
    partition, random = Partition(), Random(seed)
    tasks = [partition.claiming(f"o{i}", member=i % 3 != 0, random=random) for i in range(8)]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    won = sorted((r.after, r.epoch) for r in results if isinstance(r, Claim))
    assert [e for _, e in won] == sorted({e for _, e in won})
    assert len(won) + sum(isinstance(r, NotOwner) for r in results) == 8


async def test_a_shortened_alerts_topic_is_refused() -> None:
    """Where the topic ends before what the state covers, the claim says so and what to do."""

    async def never() -> bool:
        return True

    async def announce(_epoch: int) -> int:
        raise AssertionError("nothing is announced")

    with pytest.raises(Lost, match="MISDEAL_GROUP"):
        await claim(Partition(), 0, covered=(7, 2), floor=2, announce=announce, is_member=never)


# --- holds


def test_live_a_hold_is_wall_time_and_behind_it_is_event_time() -> None:
    """A changed verdict waits; urgent ones less; while catching up the table's own time counts."""
    holds = Holds(urgent_s=0.2, other_s=2.0)
    waiting = Pending("s", None, b"", urgent=False, since=10.0, since_event=0)
    assert not waiting.due(holds, 11.9, 10**9, behind=False, unheard=all_heard)
    assert waiting.due(holds, 12.0, 0, behind=False, unheard=all_heard)
    assert not waiting.due(holds, 99.0, 1_900_000, behind=True, unheard=all_heard)
    assert waiting.due(holds, 10.0, 2_000_000, behind=True, unheard=all_heard)
    urgent = Pending("s", None, b"", urgent=True, since=10.0, since_event=0)
    assert urgent.due(holds, 10.25, 0, behind=False, unheard=all_heard)
    forced = Pending("s", cast("Verdict", None), b"", urgent=False, since=10.0, since_event=0, forced=True)
    assert forced.due(holds, 10.0, 0, behind=True, unheard=all_heard)


def all_heard() -> bool:
    """No device is waited for."""
    return False


def test_an_accusation_waits_for_a_device_and_not_for_ever() -> None:
    """As long as a device could still show what was not seen nothing is published; but not longer than the setting."""
    holds = Holds(urgent_s=0.2, other_s=2.0, devices_s=45.0)
    waiting = Pending("s", None, b"", urgent=True, since=10.0, since_event=0)
    assert not waiting.due(holds, 54.9, 0, behind=False, unheard=lambda: True)
    assert waiting.due(holds, 55.0, 0, behind=False, unheard=lambda: True)
    assert not waiting.due(holds, 10.0, 44_900_000, behind=True, unheard=lambda: True)
    assert waiting.due(holds, 10.0, 45_000_000, behind=True, unheard=lambda: True)


# --- changelog


def test_a_stale_changelog_record_is_passed_over_and_told() -> None:
    """Recovery keeps the good record of a key though a stale one was written after it, to write it again."""
    kept = Kept()
    good, stale = (encode_stamp(Stamp(VERSION, epoch, (0, 0))) for epoch in (2, 1))
    kept.take(0, b"T1", good)
    kept.take(1, b"T1", stale)
    assert kept.values[b"T1"] == good
    assert kept.spoiled == {b"T1"}


def test_a_former_owner_can_drop_nothing() -> None:
    """A tombstone counts like any record: of a lower epoch it is stale, and what it would take stays."""
    kept = Kept()
    record_of_two = encode_stamp(Stamp(VERSION, 2, (0, 0)))
    kept.take(0, b"T1", record_of_two)
    kept.take(1, EPOCH_KEY, encode_stamp(Stamp(VERSION, 3, (0, 0))))
    kept.drop(2, b"T1", 2)
    assert kept.values[b"T1"] == record_of_two
    assert kept.spoiled == {b"T1"}
    kept.drop(3, b"T1", 3)
    assert b"T1" not in kept.values


def test_another_format_is_noticed() -> None:
    """A record of a later version is not read as if it were ours; the owner then refuses the partition."""
    kept = Kept()
    kept.take(0, b"T1", encode_stamp(Stamp(VERSION + 1, 1, (0, 0))))
    assert kept.unreadable == VERSION + 1
    assert not kept.values


def test_keys_tell_heads_from_rounds() -> None:
    """A round's key holds its table and its record."""
    assert table_of(b"T1") == (b"T1", None)
    assert table_of(round_key(b"T/1", "floor/0/3@2.5")) == (b"T/1", "floor/0/3@2.5")


# --- settings, topics, Faust


def test_settings_have_defaults() -> None:
    """Without any variable the worker runs on a local broker, its server on loopback."""
    settings = read({"PATH": "/bin"})
    assert settings.broker == "127.0.0.1:9092"
    assert settings.http == ("127.0.0.1", 9170)
    assert settings.hold_s == 2.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MISDEAL_BROKER", "nonsense"),
        ("MISDEAL_SESSION_S", "1"),
        ("MISDEAL_HOLD_MS", "soon"),
        ("MISDEAL_HTTP", "8080"),
        ("MISDEAL_LOG", "loud"),
        ("MISDEAL_GROUP", "a b"),
        ("MISDEAL_HOLDMS", "5"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(name: str, value: str) -> None:
    """A wrong setting is refused with the name of its variable and what there is."""
    with pytest.raises(SettingError, match=name) as refused:
        read({name: value})
    assert "default" in str(refused.value) or all(v in str(refused.value) for v in VARIABLES)


def test_every_topic_carries_the_prefix() -> None:
    """All topics of a site, its state among them, begin with its prefix; sources stamp records themselves."""
    topics = declared("judge", "north.")
    assert all(t.name.startswith("north.") for t in topics)
    for topic in topics[: len(SOURCES)]:
        assert topic.config["message.timestamp.type"] == "LogAppendTime"


def test_the_methods_we_replace_are_there() -> None:
    """The installed Faust is the one that the batch source replaces parts of."""
    check_faust()
