"""`make bench`: what an event costs, in this run and on this machine; prints figures and ratios, writes them to a file.

Everything is process CPU time (all threads, the broker not counted), so other work on the machine matters little;
compare ratios within a run, not figures of two runs.
"""

import json
import os
import platform
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer
from core import growth, measure, telemetry
from drain import PARTITIONS

from stream.broker import Broker, start
from stream.deal.wire import Reader, Refusal
from stream.rulebook.paragraphs import ids
from stream.simulate.produce import topic_of
from stream.worker.owner import home

RULES = "nj-double-down-stud-17"
PORT = 19_371
ROUNDS, TABLES = 180, 24


def fill(broker: Broker, prefix: str) -> int:
    """Three topics with a backlog, topic after topic; returns how many records."""
    command = [sys.executable, "-m", "stream", "topics", "apply", "--broker", broker.bootstrap, "--prefix", prefix]
    subprocess.run(
        [*command, "--group", "bench", "--partitions", str(PARTITIONS)], check=True, stdout=subprocess.DEVNULL
    )
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 20})
    reader = Reader()
    by_topic: dict[str, list[tuple[bytes, bytes]]] = {}
    for line in telemetry(RULES, ROUNDS, TABLES):
        event = reader.read(line)
        assert not isinstance(event, Refusal)
        by_topic.setdefault(topic_of(event), []).append((event.table.encode(), line))
    count = 0
    for topic, records in by_topic.items():
        for key, value in records:
            producer.produce(prefix + topic, value, key, partition=home(key, PARTITIONS))
            count += 1
            if count % 5000 == 0:
                producer.poll(0.05)
        producer.flush()
    return count


def progress() -> tuple[float, float]:
    """How many events the worker has judged, and its CPU seconds so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    value = {x.split()[0]: float(x.split()[1]) for x in lines if not x.startswith("#") and "{" not in x}
    return value["misdeal_judged_total"], value["misdeal_cpu_seconds_total"]


def drain_by_worker(broker: Broker, prefix: str, events: int) -> float:
    """Events per CPU second of the worker, from the first judged to the last."""
    settings = {
        "MISDEAL_BROKER": broker.bootstrap,
        "MISDEAL_PREFIX": prefix,
        "MISDEAL_GROUP": "bench",
        "MISDEAL_HTTP": f"127.0.0.1:{PORT}",
        "MISDEAL_LOG": "warning",
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MISDEAL_")}
    with subprocess.Popen([sys.executable, "-m", "stream", "worker"], env=kept | settings) as worker:
        try:
            first = None
            while True:
                time.sleep(0.1)
                try:
                    seen, cpu = progress()
                except OSError:
                    continue
                if seen and first is None:
                    first = (seen, cpu)
                if first is not None and seen >= events:
                    return (seen - first[0]) / (cpu - first[1])
        finally:
            worker.terminate()
            worker.wait(30)


def drain_by(client: str, broker: Broker, prefix: str, events: int) -> float:
    """Events per CPU second of a bare loop with the same core."""
    command = [sys.executable, str(Path(__file__).parent / "drain.py"), client, broker.bootstrap, prefix, str(events)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure, print, write."""
    results: dict[str, object] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }
    print("events per CPU second, one core")
    for rules in ids():
        stages = measure(rules)
        results[rules] = stages
        for stage, value in stages.items():
            print(f"  {rules}  {stage:52s} {value:10,.0f}")
        ratios = growth(rules)
        results[f"{rules} growth"] = ratios
        for ratio, value in ratios.items():
            print(f"  {rules}  cost an event, {ratio:37s} {value:10.2f}")
    with TemporaryDirectory() as folder, start(Path(folder) / "kafka") as broker:
        events = fill(broker, "bench.")
        loops = {
            "worker": drain_by_worker(broker, "bench.", events),
            "bare aiokafka getmany": drain_by("aiokafka", broker, "bench.", events),
            "bare confluent consume": drain_by("confluent", broker, "bench.", events),
        }
    results["drain"] = {"events": events, **loops}
    print(f"draining three topics of {events:,} events; the bare loops keep no state, merge nothing, publish nothing")
    for name, value in loops.items():
        print(f"  {name:52s} {value:10,.0f}   {value / loops['worker']:5.2f} of the worker")
    out = Path(__file__).parent / "results"
    out.mkdir(exist_ok=True)
    path = out / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name}")


if __name__ == "__main__":
    main()
