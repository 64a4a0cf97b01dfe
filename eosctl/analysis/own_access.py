"""The access rules that eosctl itself needs: to read a cluster, and to change one.

READ implies DESCRIBE. Names are unknown before a cluster was read, so the rules are for all of them: a resource that a
principal may not describe is missing from lists without an error.
"""

from __future__ import annotations

from typing import Final

from eosctl.model.access import ApplicationKind, Name, NeededRule

_CLUSTER: Final = Name("kafka-cluster")
_EVERY: Final = Name("*")
_CLUSTER_ERROR: Final = "CLUSTER_AUTHORIZATION_FAILED"
_TOPIC_ERROR: Final = "TOPIC_AUTHORIZATION_FAILED"
_ID_ERROR: Final = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"

READING: Final = (
    NeededRule("Cluster", _CLUSTER, "Describe", ("DescribeAcls", "DescribeQuorum", "DescribeLogDirs"), _CLUSTER_ERROR),
    NeededRule("Cluster", _CLUSTER, "DescribeConfigs", ("DescribeConfigs of brokers",), _CLUSTER_ERROR),
    NeededRule("Topic", _EVERY, "Read", ("Metadata", "ListOffsets", "DescribeProducers", "Fetch"), _TOPIC_ERROR),
    NeededRule("Topic", _EVERY, "DescribeConfigs", ("DescribeConfigs of topics",), _TOPIC_ERROR),
    NeededRule("TransactionalId", _EVERY, "Describe", ("ListTransactions", "DescribeTransactions"), _ID_ERROR),
    NeededRule("Group", _EVERY, "Describe", ("DescribeGroups", "OffsetFetch"), "GROUP_AUTHORIZATION_FAILED"),
)
"""Rules for a complete ``doctor``; the commands that only read need some of them."""

CHANGING: Final = (
    NeededRule("Cluster", _CLUSTER, "Alter", ("WriteTxnMarkers of txn abort and complete",), _CLUSTER_ERROR),
    NeededRule("TransactionalId", _EVERY, "Write", ("InitProducerId of txn fence",), _ID_ERROR),
)
"""Further rules for ``txn abort``, ``txn complete``, and ``txn fence``."""


def own_rules(kind: ApplicationKind) -> tuple[NeededRule, ...]:
    """Return the rules of ``doctor`` or ``repair``; empty for applications."""
    match kind:
        case ApplicationKind.DOCTOR:
            return READING
        case ApplicationKind.REPAIR:
            return (*READING, *CHANGING)
        case _:
            return ()
