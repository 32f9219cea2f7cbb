"""The broker under test: a real Kafka, one for the whole run."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from broker.harness import Site

from stream.broker import Broker, start


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Run one Kafka for all tests that leave it as it is; a test that stops or kills one starts its own."""
    with start(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest_asyncio.fixture
async def site(kafka: Broker, tmp_path: Path) -> AsyncIterator[Site]:
    """Topics of their own for one test, and an end to its workers."""
    site = Site(kafka.bootstrap, f"t{uuid4().hex[:8]}.", tmp_path)
    await site.provision()
    yield site
    site.end()
