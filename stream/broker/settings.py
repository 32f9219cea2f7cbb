"""The broker's own settings, as Kafka's properties file."""

from stream.broker.port import LOOPBACK

FILE = "server.properties"
DATA = "data"


def server_properties(port: int, controller_port: int) -> str:
    """Write the properties of one node that is broker and controller in one, plain text on loopback only."""
    return f"""\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers={LOOPBACK}:{controller_port}
listeners=PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}
advertised.listeners=PLAINTEXT://{LOOPBACK}:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
# Seen from the folder that Kafka runs in, so that no name of a folder needs escaping here.
log.dirs={DATA}
# One broker can hold one copy only.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
# The default makes the first member of every group wait three seconds for others.
group.initial.rebalance.delay.ms=0
# After a crash the controller still waits for the broker that it knew; the default keeps the new one out 9 s.
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
# Topics are declared and provisioned; a misspelt name is an error and not a new topic.
auto.create.topics.enable=false
"""
