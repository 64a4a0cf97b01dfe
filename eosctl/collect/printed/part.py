"""The content of one output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.model.cluster_state import AccessRules, LogDirectory
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import Broker, FeatureLevel, Group, QuorumInfo, Topic
from eosctl.model.transaction import PartitionProducers, Transaction


class Part(NamedTuple):
    """The content of an output.

    Attributes:
        kinds: The kinds of evidence in it.
        partial: The missing part of a kind that is incomplete.
        captured_at_ms: The time of the output, as far as its numbers show it.
    """

    kinds: frozenset[EvidenceKind]
    partial: Mapping[EvidenceKind, str] = {}
    cluster_id: str = ""
    topics: tuple[Topic, ...] = ()
    brokers: tuple[Broker, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    producers: tuple[PartitionProducers, ...] = ()
    groups: tuple[Group, ...] = ()
    quorum: QuorumInfo | None = None
    features: tuple[FeatureLevel, ...] = ()
    access_rules: AccessRules | None = None
    log_directories: tuple[LogDirectory, ...] = ()
    captured_at_ms: int | None = None
