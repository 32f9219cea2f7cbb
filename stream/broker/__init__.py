"""A real Apache Kafka of one node on loopback, for the demo and the tests.

`start(folder)` gives a `Broker`. `java` finds a runtime, `jars` fetches Kafka once and checks it, `archive`
makes the start quick, `node` runs it, `child` and `tether` see to it that it never outlives us.
"""

from stream.broker.fault import BrokerError
from stream.broker.jars import VERSION
from stream.broker.node import Broker
from stream.broker.opening import start

__all__ = ["VERSION", "Broker", "BrokerError", "start"]
