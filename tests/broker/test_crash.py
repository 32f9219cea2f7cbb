"""Workers that are killed, stalled and restarted: what is in force at the end is what replay says."""

import asyncio
import json
import random
import time

import pytest
from broker.harness import Site, check_promises, misplace, order, replayed, telemetry

from stream.rulebook.paragraphs import ids

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


async def test_killed_ten_times_under_backlog(site: Site) -> None:
    """SIGKILL ten times with a backlog left, among them between the acknowledgements of verdicts and of state."""
    lines = telemetry(order(60, 8, 7, every=2))
    wanted = replayed(lines)
    await site.produce(lines, place=misplace(7, 0.02))
    rnd = random.Random(7)
    backlog = died = 0
    for attempt in range(10):
        # Three die by themselves right after a verdict was acknowledged, before any state is; the rest are killed. A
        # static member need not wait for its predecessor's session to end.
        settings = {"MISDEAL_SLOW_MS": "1"}
        if attempt in (2, 5, 8):
            settings["MISDEAL_CRASH"] = "verdict:1"
        worker = site.worker(**settings)
        begun = time.monotonic()
        limit = 30 if "MISDEAL_CRASH" in settings else 3 + rnd.uniform(0.3, 2.5)
        while worker.alive and time.monotonic() - begun < limit:
            await asyncio.sleep(0.05)
        died += worker.process.poll() == 137
        backlog += await site.lag() > 0
        worker.kill()
    assert backlog >= 8, "the backlog was gone too early for this test to mean anything"
    assert died == 3, [w.said() for w in site.workers]
    site.worker(MISDEAL_MEMBER="w1")
    check_promises(await site.settled(wanted, 120), wanted)


async def test_deaths_at_every_named_place(site: Site) -> None:
    """Workers that die after a claim, a verdict, between rounds and heads, after heads: nothing missing or unknown."""
    lines = telemetry(order(30, 6, 8, every=2))
    wanted = replayed(lines)
    await site.produce(lines, place=misplace(8, 0.02))
    for _ in range(12):
        worker = site.worker(
            MISDEAL_CRASH="claim:0.1,verdict:0.2,rounds:0.1,head:0.1",
            MISDEAL_SLOW_MS="0.3",
            MISDEAL_MEMBER="w1",
        )
        begun = time.monotonic()
        while worker.alive and time.monotonic() - begun < 6:
            await asyncio.sleep(0.1)
        worker.kill()
    site.worker(MISDEAL_MEMBER="w1")
    check_promises(await site.settled(wanted, 120), wanted)


async def test_stalled_past_its_session_and_resumed(site: Site) -> None:
    """Two workers, one stopped past its session and resumed: its late writes change nothing in force."""
    lines = telemetry(order(60, 8, 9, every=2))
    wanted = replayed(lines)
    one, two = site.worker(MISDEAL_SLOW_MS="0.5"), site.worker(MISDEAL_SLOW_MS="0.5")
    await asyncio.sleep(6)
    producing = asyncio.create_task(site.produce(lines, place=misplace(9, 0.02), pause=_paced))
    await asyncio.sleep(5)
    one.stop()
    await asyncio.sleep(10)
    one.go_on()
    await producing
    check_promises(await site.settled(wanted, 120), wanted)
    assert two.alive


async def _paced(i: int) -> None:
    if i % 100 == 0:
        await asyncio.sleep(0.04)


async def test_join_leave_kill_stall_at_random(site: Site) -> None:
    """One to three workers, a slow agent and a backlog; joins, SIGTERM, SIGKILL and stalls at random."""
    rnd = random.Random(10)
    lines = telemetry(order(60, 8, 10, every=2))
    wanted = replayed(lines)
    producing = asyncio.create_task(site.produce(lines, place=misplace(10, 0.02), pause=_paced))
    running = [site.worker(MISDEAL_SLOW_MS="1")]
    ending: list[asyncio.Task[int]] = []
    for _ in range(12):
        await asyncio.sleep(rnd.uniform(0.5, 4))
        running = [w for w in running if w.alive]
        act = rnd.choice(["join", "join", "term", "kill", "stall"])
        if act == "join" or not running:
            if len(running) < 3:
                running.append(site.worker(MISDEAL_SLOW_MS="1"))
        elif act == "kill":
            running.pop(rnd.randrange(len(running))).kill()
        elif act == "term" and len(running) > 1:
            ending.append(asyncio.create_task(running.pop(rnd.randrange(len(running))).terminate()))
        elif act == "stall":
            stalled = rnd.choice(running)
            stalled.stop()
            await asyncio.sleep(rnd.choice([2, 8]))
            stalled.go_on()
    await producing
    await asyncio.gather(*ending)
    site.worker()
    check_promises(await site.settled(wanted, 150), wanted)


@pytest.mark.parametrize("rules", [r for r in ids() if r != "nj-double-down-stud-17"])
async def test_killed_while_duties_wait_for_later_rounds(site: Site, rules: str) -> None:
    """The other games with injected irregularities: a duty begun before a kill ends as replay says after it."""
    lines = telemetry(order(90, 3, 33, every=2, rules=rules))
    wanted = replayed(lines)
    assert {json.loads(body)["status"] for body in wanted} >= {"breached", "remedied"}
    share = len(lines) // 4 + 1
    for begin in range(0, len(lines), share):
        worker = site.worker(MISDEAL_MEMBER="w1")
        await site.produce(lines[begin : begin + share])
        await asyncio.sleep(4)
        worker.kill()
    site.worker(MISDEAL_MEMBER="w1")
    check_promises(await site.settled(wanted, 120), wanted)
