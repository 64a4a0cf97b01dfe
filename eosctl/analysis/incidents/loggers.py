"""The loggers that only brokers and controllers have."""

from __future__ import annotations

_SERVER_LOGGERS = (
    "kafka.server.",
    "kafka.coordinator.",
    "kafka.cluster.",
    "kafka.log.",
    "kafka.authorizer",
    "state.change.logger",
    "org.apache.kafka.controller.",
    "org.apache.kafka.raft.",
    "org.apache.kafka.server.",
)
_SERVER_CLASSES = frozenset(
    [
        *("TransactionCoordinator", "TransactionStateManager", "TransactionMarkerChannelManager", "ReplicaManager"),
        *("GroupMetadataManager", "GroupCoordinatorService", "AddPartitionsToTxnManager", "KafkaApis", "LogManager"),
        *("KafkaServer", "KafkaRaftServer", "SharedServer", "BrokerServer", "ControllerServer", "KafkaRaftClient"),
        *("BrokerLifecycleManager", "QuorumController", "ReplicationControlManager", "ClusterControlManager"),
    ]
)
"""The same by their last names alone, for layouts that shorten loggers."""


def is_server_logger(logger: str) -> bool:
    """Whether a logger belongs to a broker or controller alone."""
    return logger.startswith(_SERVER_LOGGERS) or logger.rpartition(".")[2] in _SERVER_CLASSES
