"""What was asked of a cluster, and what could not be had."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec


class EvidenceKind(StrEnum):
    """The kinds of evidence that checks ask for and probes deliver."""

    API_VERSIONS = "api-versions"
    FEATURES = "features"
    CLUSTER = "cluster"
    BROKER_CONFIGS = "broker-configs"
    TOPICS = "topics"
    TOPIC_CONFIGS = "topic-configs"
    OFFSETS = "offsets"
    HIDDEN_RECORDS = "hidden-records"
    TRANSACTIONS = "transactions"
    PRODUCERS = "producers"
    TRANSACTION_HISTORY = "transaction-history"
    ABORTED_RANGES = "aborted-ranges"
    GROUPS = "groups"
    GROUP_OFFSETS = "group-offsets"
    READABLE_RECORDS = "readable-records"
    PENDING_OFFSETS = "pending-offsets"
    QUORUM = "quorum"
    LOG_DIRS = "log-dirs"
    ACCESS_RULES = "access-rules"
    LOGS = "logs"
    METRICS = "metrics"


ACTIVE_CONTROLLER: Final = "the active controller"
"""The subject of the quorum's gap if brokers answer, and the controller that they forward to does not."""

_TOPICS: Final = frozenset({EvidenceKind.TOPICS})
LISTED_BY: Final[Mapping[EvidenceKind, frozenset[EvidenceKind]]] = MappingProxyType(
    {
        EvidenceKind.TOPIC_CONFIGS: _TOPICS,
        EvidenceKind.OFFSETS: _TOPICS,
        EvidenceKind.HIDDEN_RECORDS: _TOPICS,
        EvidenceKind.PRODUCERS: _TOPICS,
        EvidenceKind.TRANSACTION_HISTORY: _TOPICS,
        EvidenceKind.ABORTED_RANGES: _TOPICS,
        EvidenceKind.PENDING_OFFSETS: _TOPICS,
        EvidenceKind.GROUP_OFFSETS: _TOPICS | {EvidenceKind.GROUPS},
        EvidenceKind.READABLE_RECORDS: _TOPICS | {EvidenceKind.GROUPS},
    }
)
"""The lists by which a kind of evidence is collected: what is hidden from a list is missing here, too."""


class GapReason(StrEnum):
    """Why a piece of evidence is missing.

    `hidden`: brokers leave it out of a list without an error, because the principal may not describe it, and it may or
    may not exist. `frozen`: it was read, but no controller updates it.
    """

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed-out"
    NOT_AUTHORIZED = "not-authorized"
    UNSUPPORTED = "unsupported"
    LOADING = "loading"
    NO_LEADER = "no-leader"
    BROKER_ERROR = "broker-error"
    NOT_COLLECTED = "not-collected"
    NOT_RECOGNIZED = "not-recognized"
    HIDDEN = "hidden"
    FROZEN = "frozen"


class EvidenceGap(msgspec.Struct, frozen=True):
    """A part of the evidence that is missing, and why.

    `subject` names what is missing within the kind (`broker 2`, `orders-0`, a transactional id, or `*` for all of it).
    `error` is Kafka's error name where a broker answered one; `next_step` says what would close the gap.
    """

    kind: EvidenceKind
    subject: str
    reason: GapReason
    error: str = ""
    detail: str = ""
    next_step: str = ""
