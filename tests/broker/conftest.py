"""The broker under test: a real Kafka, one for the whole run."""

from collections.abc import Iterator

import pytest

from stream.broker import Broker, start


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Run one Kafka for all tests that leave it as it is; a test that stops or kills one starts its own."""
    with start(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker
