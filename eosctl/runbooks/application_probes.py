"""Probes of what applications use: topics, transactional ids, producers, disks, rights."""

from __future__ import annotations

from typing import Final

from eosctl.model.evidence import EvidenceKind
from eosctl.runbooks.application_readings import (
    read_access,
    read_ids,
    read_log_dirs,
    read_producers,
    read_replicas,
    read_topic,
)
from eosctl.runbooks.probe_kind import Parameter, ProbeKind

APPLICATION_PROBES: Final = (
    ProbeKind(
        name="topic",
        about="Describe one topic: how it is kept, what it holds, who writes it.",
        kinds=frozenset({EvidenceKind.TOPIC_CONFIGS, EvidenceKind.OFFSETS, EvidenceKind.PRODUCERS}),
        facts={
            "known": "whether it exists",
            "partitions": "its partitions",
            "replicas": "the replicas of the partition that has fewest",
            "cleanup_policy": "its cleanup.policy",
            "is_compacted": "whether that compacts",
            "retention_ms": "its retention.ms, -1 without a limit",
            "offsets": "offsets from log starts to high watermarks, markers among them",
            "deleted": "offsets before the log starts",
            "hidden": "offsets behind the last stable offset",
            "producers": "producers that its leaders remember",
            "transactional": "those of them that have had a transaction there",
            "most_producers": "producers of the partition that remembers most",
        },
        read=read_topic,
        parameters={"topic": Parameter("Its name")},
    ),
    ProbeKind(
        name="transactions.ids",
        about="Count the transactional ids whose names begin alike.",
        kinds=frozenset({EvidenceKind.TRANSACTIONS}),
        facts={
            "count": "how many coordinators remember",
            "open": "those with a transaction that has not ended",
            "first_open": "the first of them",
            "names": "some of their names",
            "max_epoch": "the highest epoch of them",
            "unheard": "coordinators that could not be asked",
        },
        read=read_ids,
        parameters={"prefix": Parameter("How their names begin; all when empty", "")},
    ),
    ProbeKind(
        "producers",
        "Count the producers that partition leaders remember.",
        frozenset({EvidenceKind.PRODUCERS}),
        {
            "count": "on all partitions",
            "most": "on the partition that remembers most",
            "busiest": "that partition",
        },
        read_producers,
    ),
    ProbeKind(
        "log_dirs",
        "Report failed log directories and the usage of the fullest volume.",
        frozenset({EvidenceKind.LOG_DIRS}),
        {
            "count": "log directories of all brokers",
            "failed": "those that failed",
            "failed_places": "where they are",
            "fullest_percent": "usage of the fullest volume in percent, -1 if no broker reports it",
            "fullest_place": "where it is",
        },
        read_log_dirs,
    ),
    ProbeKind(
        name="access",
        about="Compare what two principals may do.",
        kinds=frozenset({EvidenceKind.ACCESS_RULES}),
        facts={
            "known": "whether the rules could be read",
            "enabled": "whether an authorizer judges requests",
            "rules": "rules of the principal",
            "successor_rules": "rules of its successor",
            "missing": "rights of the principal that the successor lacks",
            "first_missing": "the first of them",
        },
        read=read_access,
        parameters={"principal": Parameter("Such as User:orders"), "successor": Parameter("Who takes its place")},
    ),
    ProbeKind(
        name="replicas",
        about="Describe the replicas of one broker.",
        kinds=frozenset({EvidenceKind.TOPICS}),
        facts={
            "count": "replicas that are placed on it",
            "in_sync": "those in sync",
            "leads": "partitions that it leads",
            "alone": "partitions with their only in-sync replica on it",
            "first_alone": "the first of them",
        },
        read=read_replicas,
        parameters={"broker": Parameter("A broker id", is_number=True)},
    ),
)
