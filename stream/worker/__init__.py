"""The same engine behind Kafka: decodes, calls the core, sends. At least once, in an order that survives a crash."""
