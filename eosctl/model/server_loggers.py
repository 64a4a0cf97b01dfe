"""Loggers and messages that only brokers and controllers have."""

from __future__ import annotations

from functools import lru_cache

from eosctl.model.log_event import LogEvent

_SERVER_LOGGERS = (
    "kafka.server.",
    "kafka.network.",
    "kafka.controller.",
    "kafka.zk.",
    "kafka.zookeeper.",
    "kafka.raft.",
    "kafka.coordinator.",
    "kafka.cluster.",
    "kafka.log.",
    "kafka.authorizer",
    "state.change.logger",
    "org.apache.kafka.controller.",
    "org.apache.kafka.raft.",
    "org.apache.kafka.server.",
    "org.apache.kafka.storage.",
    "org.apache.kafka.coordinator.",
)
_SERVER_CLASSES = frozenset(
    [
        *("TransactionCoordinator", "TransactionStateManager", "TransactionMarkerChannelManager", "ReplicaManager"),
        *("GroupMetadataManager", "GroupCoordinatorService", "AddPartitionsToTxnManager", "KafkaApis", "LogManager"),
        *("KafkaServer", "KafkaRaftServer", "SharedServer", "BrokerServer", "ControllerServer", "KafkaRaftClient"),
        *("BrokerLifecycleManager", "QuorumController", "ReplicationControlManager", "ClusterControlManager"),
        "LogDirFailureChannel",
    ]
)
"""The same by their last names alone, for layouts that shorten loggers."""


_OWN_FIELDS = frozenset({"broker", "controller"})


@lru_cache(maxsize=4096)
def is_server_logger(logger: str) -> bool:
    """Return whether a logger belongs to a broker or controller alone."""
    return logger.startswith(_SERVER_LOGGERS) or logger.rpartition(".")[2] in _SERVER_CLASSES


def is_of_server(event: LogEvent) -> bool:
    """Return whether a broker or controller wrote an event, by its logger or, without one, by its message."""
    if is_server_logger(event.logger) or "coordinator_partition" in event.fields:
        return True
    return not event.logger and bool(event.fields.keys() & _OWN_FIELDS)
