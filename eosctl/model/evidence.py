"""Requested evidence of a cluster, and missing evidence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec


class EvidenceKind(StrEnum):
    """The kinds of evidence that checks need and probes collect."""

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
    REBALANCES = "rebalances"
    READABLE_RECORDS = "readable-records"
    PENDING_OFFSETS = "pending-offsets"
    SHARE_STATE = "share-state"
    QUORUM = "quorum"
    REASSIGNMENTS = "reassignments"
    CLIENT_QUOTAS = "client-quotas"
    LOG_DIRS = "log-dirs"
    ACCESS_RULES = "access-rules"
    LOGS = "logs"
    METRICS = "metrics"


ACTIVE_CONTROLLER: Final = "the active controller"
"""The subject of the quorum's gap if brokers respond, but the controller behind them does not."""
QUIET_CONTROLLER: Final = "the active controller, so far"
"""The same if the time for the whole command was over before the silence was longer than an election."""
DAMAGED: Final = "CORRUPT_MESSAGE"
"""The error of a gap whose records were read and fail their checksum."""

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
        EvidenceKind.REBALANCES: frozenset({EvidenceKind.GROUPS}),
        EvidenceKind.SHARE_STATE: _TOPICS | {EvidenceKind.GROUPS},
        EvidenceKind.READABLE_RECORDS: _TOPICS | {EvidenceKind.GROUPS},
    }
)
"""The lists from which a kind of evidence is collected; resources hidden in a list are missing here, too."""


class GapReason(StrEnum):
    """The reason why evidence is missing.

    `not-authenticated`: broker and client did not accept each other's certificate or credentials. `hidden`: brokers
    omit it from a list without an error because the principal may not describe it; it may or may not exist. `frozen`:
    it was read, but no controller updates it.
    """

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed-out"
    NOT_AUTHENTICATED = "not-authenticated"
    NOT_AUTHORIZED = "not-authorized"
    UNSUPPORTED = "unsupported"
    LOADING = "loading"
    NO_LEADER = "no-leader"
    BROKER_ERROR = "broker-error"
    NOT_COLLECTED = "not-collected"
    NOT_RECOGNIZED = "not-recognized"
    HIDDEN = "hidden"
    FROZEN = "frozen"


class EvidenceGap(msgspec.Struct, frozen=True, gc=False):
    """A missing part of the evidence, with the reason.

    `subject` identifies the missing part within the kind (`broker 2`, `orders-0`, a transactional id, or `*` for all of
    it). `error` is Kafka's error name if a broker returned one; `next_step` is how to close the gap.
    """

    kind: EvidenceKind
    subject: str
    reason: GapReason
    error: str = ""
    detail: str = ""
    next_step: str = ""

    @property
    def is_denied(self) -> bool:
        """Return whether it is missing because the principal lacks a right."""
        return self.reason in (GapReason.NOT_AUTHORIZED, GapReason.HIDDEN)

    @property
    def sentence(self) -> str:
        """Return what is missing, why, and how to close the gap."""
        why = (self.error or self.detail or self.reason.value).rstrip(".")
        return f"{self.kind.value} of {self.subject}: {why}. {self.next_step}".rstrip()
