"""The minimal ACLs of eosctl's own commands, as authorizers enforce them (`tests/sandbox/security/rights_proof.py`).

READ implies DESCRIBE. Names are unknown before a cluster was read, so the ACLs are for all of them; commands that are
applications themselves have names of their own. WriteTxnMarkers needed ClusterAction, the right of brokers, before
Kafka 3.8 (KIP-1037), and needs Alter since then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from eosctl.analysis.minimal_access import CLUSTER, IMPLYING
from eosctl.model.access import ApplicationKind, Name, NeededRule
from eosctl.model.evidence import LISTED_BY, EvidenceKind

EVERY_NAME: Final = Name("*")
_CLUSTER: Final = Name(CLUSTER)
_TYPES: Final = ("Cluster", "Topic", "TransactionalId", "Group")
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
_NAMES: Final = NeededRule("Topic", EVERY_NAME, "Describe", ("Metadata", "ListOffsets"), _TOPIC_ERROR)
_READ: Final = NeededRule(
    "Topic", EVERY_NAME, "Read", ("Metadata", "ListOffsets", "DescribeProducers", "Fetch"), _TOPIC_ERROR
)
_TOPIC_SETTINGS: Final = NeededRule(
    "Topic", EVERY_NAME, "DescribeConfigs", ("DescribeConfigs of topics",), _TOPIC_ERROR
)
_IDS: Final = NeededRule(
    "TransactionalId", EVERY_NAME, "Describe", ("ListTransactions", "DescribeTransactions"), _ID_ERROR
)
_GROUPS: Final = NeededRule("Group", EVERY_NAME, "Describe", ("DescribeGroups", "OffsetFetch"), _GROUP_ERROR)
_SHARE_GROUPS: Final = NeededRule(
    "Group", EVERY_NAME, "DescribeConfigs", ("DescribeConfigs of share groups",), _GROUP_ERROR
)
_MARKERS: Final = NeededRule(
    "Cluster", _CLUSTER, "Alter", ("WriteTxnMarkers of txn abort and complete",), _CLUSTER_ERROR
)
_MARKERS_OF_BROKERS: Final = NeededRule("Cluster", _CLUSTER, "ClusterAction", _MARKERS.requests, _CLUSTER_ERROR)
_FENCE: Final = NeededRule("TransactionalId", EVERY_NAME, "Write", ("InitProducerId of txn fence",), _ID_ERROR)

_EVERYTHING: Final = (_CLUSTER_STATE, _BROKER_SETTINGS, _READ, _TOPIC_SETTINGS, _IDS, _GROUPS, _SHARE_GROUPS)
_TRANSACTIONS: Final = (_READ, _IDS)

_OF_EVIDENCE: Final[Mapping[EvidenceKind, tuple[NeededRule, ...]]] = MappingProxyType(
    {
        EvidenceKind.TOPICS: (_NAMES,),
        EvidenceKind.OFFSETS: (_NAMES,),
        EvidenceKind.TRANSACTIONS: (_IDS,),
        EvidenceKind.BROKER_CONFIGS: (_BROKER_SETTINGS,),
        EvidenceKind.CLIENT_QUOTAS: (_BROKER_SETTINGS,),
        EvidenceKind.TOPIC_CONFIGS: (_TOPIC_SETTINGS,),
        EvidenceKind.SHARE_STATE: (_READ, _SHARE_GROUPS),
    }
    | dict.fromkeys(
        (EvidenceKind.ACCESS_RULES, EvidenceKind.QUORUM, EvidenceKind.REASSIGNMENTS, EvidenceKind.LOG_DIRS),
        (_CLUSTER_STATE,),
    )
    | dict.fromkeys(
        (
            EvidenceKind.PRODUCERS,
            EvidenceKind.TRANSACTION_HISTORY,
            EvidenceKind.ABORTED_RANGES,
            EvidenceKind.HIDDEN_RECORDS,
            EvidenceKind.READABLE_RECORDS,
            EvidenceKind.PENDING_OFFSETS,
        ),
        (_READ,),
    )
    | dict.fromkeys((EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.REBALANCES), (_GROUPS,))
)

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
    return least(of_release(_RULES.get(kind, ()), release))


def of_release(rules: Iterable[NeededRule], release: tuple[int, int] | None) -> Iterator[NeededRule]:
    """Yield ACLs as brokers of a release need them; None is the newest."""
    is_older = release is not None and release < ALTER_WRITES_MARKERS_SINCE
    yield from (_MARKERS_OF_BROKERS if is_older and rule == _MARKERS else rule for rule in rules)


def cluster_rule(operation: str, request: str) -> NeededRule:
    """Return the ACL of a request that changes the cluster."""
    return NeededRule("Cluster", _CLUSTER, operation, (request,), _CLUSTER_ERROR)


def topic_rule(operation: str, name: Name, *requests: str) -> NeededRule:
    """Return the ACL of requests about a topic."""
    return NeededRule("Topic", name, operation, requests, _TOPIC_ERROR)


def group_rule(operation: str, name: Name, *requests: str) -> NeededRule:
    """Return the ACL of requests about a group."""
    return NeededRule("Group", name, operation, requests, _GROUP_ERROR)


def reading_rules(kinds: Iterable[EvidenceKind]) -> tuple[NeededRule, ...]:
    """Return the ACLs with which evidence is collected completely; brokers and their versions need none."""
    given = frozenset(kinds)
    wanted = given.union(*(LISTED_BY.get(kind, frozenset()) for kind in given))
    return least(rule for kind, rules in _OF_EVIDENCE.items() if kind in wanted for rule in rules)


def least(rules: Iterable[NeededRule]) -> tuple[NeededRule, ...]:
    """Return the ACLs by type of resource, without those that another one implies, which then has their requests."""
    found: dict[tuple[str, Name, str], NeededRule] = {}
    for rule in rules:
        key = (rule.resource_type, rule.name, rule.operation)
        found[key] = _joined(found[key], rule) if key in found else rule
    for key, rule in tuple(found.items()):
        operations = (rule.operation, *IMPLYING.get(rule.operation, ()))
        others = [(rule.resource_type, name, one) for name in (EVERY_NAME, rule.name) for one in operations]
        implying = next((other for other in others if other != key and other in found), None)
        if implying is not None:
            found[implying] = _joined(found[implying], found.pop(key))
    return tuple(sorted(found.values(), key=lambda rule: _TYPES.index(rule.resource_type)))


def _joined(rule: NeededRule, other: NeededRule) -> NeededRule:
    return replace(rule, requests=tuple(dict.fromkeys((*rule.requests, *other.requests))))
