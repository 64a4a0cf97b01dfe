"""eosctl: operations CLI and diagnostic toolkit for Apache Kafka exactly-once deployments."""

__version__ = "0.1.0"
