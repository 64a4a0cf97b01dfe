"""The minimal ACLs of eosctl's own commands, as authorizers enforce them (`tests/sandbox/security/command_rights.py`).

READ implies DESCRIBE. Names are unknown before a cluster was read, so the ACLs are for all of them. WriteTxnMarkers
needed ClusterAction, the right of brokers, before Kafka 3.8 (KIP-1037), and needs Alter since then.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from eosctl.analysis.minimal_access import CLUSTER
from eosctl.model.access import ApplicationKind, Name, NeededRule

_EVERY: Final = Name("*")
_CLUSTER: Final = Name(CLUSTER)
ALTER_WRITES_MARKERS_SINCE: Final = (3, 8)
_CLUSTER_ERROR: Final = "CLUSTER_AUTHORIZATION_FAILED"
_TOPIC_ERROR: Final = "TOPIC_AUTHORIZATION_FAILED"
_GROUP_ERROR: Final = "GROUP_AUTHORIZATION_FAILED"
_ID_ERROR: Final = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"

_CLUSTER_STATE: Final = NeededRule(
    "Cluster",
    _CLUSTER,
    "Describe",
    ("DescribeAcls", "DescribeQuorum", "ListPartitionReassignments", "DescribeLogDirs"),
    _CLUSTER_ERROR,
)
_BROKER_SETTINGS: Final = NeededRule(
    "Cluster", _CLUSTER, "DescribeConfigs", ("DescribeConfigs of brokers",), _CLUSTER_ERROR
)
_NAMES: Final = NeededRule("Topic", _EVERY, "Describe", ("Metadata", "ListOffsets"), _TOPIC_ERROR)
_READ: Final = NeededRule(
    "Topic", _EVERY, "Read", ("Metadata", "ListOffsets", "DescribeProducers", "Fetch"), _TOPIC_ERROR
)
_TOPIC_SETTINGS: Final = NeededRule("Topic", _EVERY, "DescribeConfigs", ("DescribeConfigs of topics",), _TOPIC_ERROR)
_IDS: Final = NeededRule("TransactionalId", _EVERY, "Describe", ("ListTransactions", "DescribeTransactions"), _ID_ERROR)
_GROUPS: Final = NeededRule("Group", _EVERY, "Describe", ("DescribeGroups", "OffsetFetch"), _GROUP_ERROR)
_SHARE_GROUPS: Final = NeededRule(
    "Group", _EVERY, "DescribeConfigs", ("DescribeConfigs of share groups",), _GROUP_ERROR
)
_MARKERS: Final = NeededRule(
    "Cluster", _CLUSTER, "Alter", ("WriteTxnMarkers of txn abort and complete",), _CLUSTER_ERROR
)
_MARKERS_OF_BROKERS: Final = NeededRule("Cluster", _CLUSTER, "ClusterAction", _MARKERS.requests, _CLUSTER_ERROR)
_FENCE: Final = NeededRule("TransactionalId", _EVERY, "Write", ("InitProducerId of txn fence",), _ID_ERROR)

_EVERYTHING: Final = (_CLUSTER_STATE, _BROKER_SETTINGS, _READ, _TOPIC_SETTINGS, _IDS, _GROUPS, _SHARE_GROUPS)
_TRANSACTIONS: Final = (_READ, _IDS)

_RULES: Final[Mapping[ApplicationKind, tuple[NeededRule, ...]]] = MappingProxyType(
    {
        ApplicationKind.DOCTOR: _EVERYTHING,
        ApplicationKind.REPAIR: (*_EVERYTHING, _MARKERS, _FENCE),
        ApplicationKind.CHECK_RUN: _EVERYTHING,
        ApplicationKind.SNAPSHOT_CAPTURE: _EVERYTHING,
        ApplicationKind.TXN_LIST: (_BROKER_SETTINGS, *_TRANSACTIONS),
        ApplicationKind.TXN_DESCRIBE: (_BROKER_SETTINGS, _READ, _TOPIC_SETTINGS, _IDS),
        ApplicationKind.TXN_HANGING: (_BROKER_SETTINGS, *_TRANSACTIONS, _TOPIC_SETTINGS, _GROUPS),
        ApplicationKind.TXN_PRODUCERS: (_BROKER_SETTINGS, *_TRANSACTIONS),
        ApplicationKind.TXN_BLAME: _TRANSACTIONS,
        ApplicationKind.TXN_WATCH: (*_TRANSACTIONS, _GROUPS),
        ApplicationKind.TXN_ABORT: (*_TRANSACTIONS, _MARKERS),
        ApplicationKind.TXN_COMPLETE: (*_TRANSACTIONS, _MARKERS),
        ApplicationKind.TXN_FENCE: (_FENCE,),
        ApplicationKind.FENCING_EXPLAIN: _TRANSACTIONS,
        ApplicationKind.GROUP_LIST: (_NAMES, _GROUPS),
        ApplicationKind.GROUP_DESCRIBE: (_BROKER_SETTINGS, *_TRANSACTIONS, _GROUPS, _SHARE_GROUPS),
        ApplicationKind.GROUP_LAG: (_BROKER_SETTINGS, *_TRANSACTIONS, _GROUPS, _SHARE_GROUPS),
        ApplicationKind.GROUP_PENDING: (_BROKER_SETTINGS, *_TRANSACTIONS, _GROUPS),
        ApplicationKind.TIMELINE: _TRANSACTIONS,
        ApplicationKind.TOP: (*_TRANSACTIONS, _GROUPS),
        ApplicationKind.EXPORTER: (_BROKER_SETTINGS, *_TRANSACTIONS, _GROUPS),
    }
)


def own_rules(kind: ApplicationKind, release: tuple[int, int] | None = None) -> tuple[NeededRule, ...]:
    """Return the ACLs with which a command reads completely what it judges; empty for clients.

    They include those for evidence that is read only where a transaction may hang or be stalled. Those of `repair` are
    for all commands. A `release` of None, of the oldest broker, is the newest.
    """
    rules = _RULES.get(kind, ())
    if release is None or release >= ALTER_WRITES_MARKERS_SINCE:
        return rules
    return tuple(_MARKERS_OF_BROKERS if rule is _MARKERS else rule for rule in rules)
