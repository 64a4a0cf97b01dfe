"""Loggers, threads, and messages that only brokers and controllers have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

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


_SERVER_THREAD: Final = re.compile(
    r"(?:data|control)-plane-kafka-(?:request-handler-|network-thread-(?P<network>\d+)-|socket-acceptor-)"
    r"|kafka-scheduler-\d|ReplicaFetcherThread-\d|LogDirFailureHandler$|kafka-log-cleaner-thread-\d"
    r"|group-coordinator-event-processor-\d|TxnMarkerSenderThread-(?P<markers>\d+)|ExpirationReaper-(?P<reaper>\d+)-"
    r"|quorum-controller-(?P<controller>\d+)-|kafka-(?P<raft>\d+)-(?:raft-|metadata-loader-)"
    r"|broker-(?P<forwarding>\d+)-to-controller-|shard +\d+(?::\w+)?$"
)
"""Names of a server's threads, and Redpanda's shards; those with a node id name their own node."""
_MODULE: Final = re.compile(r"kafka\.(?:coordinator|cluster)(?:\.[a-z_]+)*")
"""Loggers of kafka-python. Those of Kafka end with a class."""
_LABEL: Final = "[SocketServer "
"""Before what classes that clients have, too, log in a server."""
_OWN_FIELDS = frozenset({"broker", "controller"})


@lru_cache(maxsize=4096)
def is_server_logger(logger: str) -> bool:
    """Return whether a logger belongs to a broker or controller alone, and not to a client in Python."""
    if _MODULE.fullmatch(logger):
        return False
    return logger.startswith(_SERVER_LOGGERS) or logger.rpartition(".")[2] in _SERVER_CLASSES


@lru_cache(maxsize=4096)
def is_server_thread(thread: str) -> bool:
    """Return whether a thread belongs to a broker or controller alone."""
    return _SERVER_THREAD.match(thread) is not None


@lru_cache(maxsize=4096)
def node_of_thread(thread: str) -> str:
    """Return the node id in the name of a server's thread; empty if it has none."""
    found = _SERVER_THREAD.match(thread)
    return next(filter(None, found.groups()), "") if found else ""


def servers_among(events: Iterable[LogEvent]) -> set[str]:
    """Return the applications of the events that brokers or controllers wrote; one event of each decides."""
    found: set[str] = set()
    for event in events:
        if event.application not in found and is_of_server(event):
            found.add(event.application)
    return found


def is_of_server(event: LogEvent) -> bool:
    """Return whether a broker or controller wrote an event: by its logger, thread, label, or own fields."""
    if _is_server_writer(event.logger, event.thread) or "coordinator_partition" in event.fields:
        return True
    if event.message.startswith(_LABEL):
        return True
    return not event.logger and not _OWN_FIELDS.isdisjoint(event.fields)


@lru_cache(maxsize=4096)
def _is_server_writer(logger: str, thread: str) -> bool:
    return is_server_logger(logger) or is_server_thread(thread)
