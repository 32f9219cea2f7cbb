"""Starting a broker, from a Java and the jars to the first answer."""

import os
from pathlib import Path

from stream.broker.archive import archive_flags
from stream.broker.jars import jar_folder, ready_jars
from stream.broker.java import find_java
from stream.broker.node import Broker, boot

# For a process that lives minutes and serves little: a quick start counts for more than top speed.
FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xmx512m",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    # Four hundred lines of settings at every start would push what matters out of sight.
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config=warn",
)


def start(folder: Path, *, port: int | None = None, ready_seconds: float = 60) -> Broker:
    """Start a Kafka of one node on loopback and wait until it serves.

    The first start on a machine fetches Kafka (44 MB) and prepares it, which `ready_seconds` does not count.
    The broker ends with this process: stopped by the caller, or on Linux killed by the kernel.

    Args:
        folder: for its data, settings and log; made if it is not there, and kept. One that held a broker
            before is taken up again, with its topics.
        port: for clients; a free one below 32768 if None.
        ready_seconds: how long it may take until it serves.

    Raises:
        BrokerError: no Java, no jars, port in use, or it did not serve in time; the text says what to do.
    """
    java = find_java()
    jars = ready_jars(jar_folder())
    rest = (*FLAGS, "-cp", os.pathsep.join(map(str, jars)))
    archive = archive_flags(java, jar_folder(), (str(java.path), *rest))
    return boot(folder, (str(java.path), *archive, *rest), port, ready_seconds)
