"""Define the probes of runbooks: each reads a snapshot, and returns the flat facts that it declares."""

from __future__ import annotations

from typing import Final

from eosctl.collect.collector import EVERYTHING
from eosctl.errors import unknown_name
from eosctl.model.evidence import EvidenceKind
from eosctl.runbooks.application_probes import APPLICATION_PROBES
from eosctl.runbooks.probe_kind import Parameter, ProbeKind
from eosctl.runbooks.readings import (
    read_brokers,
    read_coordinators,
    read_doctor,
    read_feature,
    read_fencings,
    read_group,
    read_open_transactions,
    read_partitions,
    read_quorum,
    read_transaction,
)

_OPEN: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.TRANSACTION_HISTORY,
        EvidenceKind.OFFSETS,
        EvidenceKind.BROKER_CONFIGS,
    }
)


_TOPIC: Final = Parameter("Only this topic", "")
_ID: Final = Parameter("The transactional id")

PROBES: Final = (
    ProbeKind(
        name="transactions.open",
        about="Judge what is open on partition leaders and name the worst of it.",
        kinds=_OPEN,
        facts={
            "count": "open transactions",
            "hanging": "those that no coordinator will end",
            "stalled": "those decided, with markers missing",
            "late": "those past their timeout",
            "undecided": "those on which evidence is missing",
            "long_running": "those open for long within their timeout",
            "status": "the worst one's status",
            "cause": "the worst one's cause",
            "explanation": "why, in words",
            "can_abort": "whether an ABORT marker is safe",
            "abort_refusal": "why not",
            "can_complete": "whether it was committed and only its COMMIT marker is missing",
            "topic": "the worst one's topic",
            "partition": "the worst one's partition",
            "producer_id": "the worst one's producer id",
            "first_offset": "its first offset",
            "transactional_id": "its transactional id, empty when unknown",
            "unverified_brokers": "brokers whose partition verification is off",
        },
        read=read_open_transactions,
        parameters={"topic": _TOPIC, "partition": Parameter("Only this partition", -1, is_number=True)},
    ),
    ProbeKind(
        name="transactions.one",
        about="Describe one transactional id as its coordinator does.",
        kinds=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.BROKER_CONFIGS}),
        facts={
            "known": "whether a coordinator knows it",
            "unheard": "coordinators that could not be asked",
            "state": "its state",
            "ongoing": "whether its transaction is open",
            "prepared": "whether its outcome is decided and markers are on their way",
            "producer_id": "its producer id",
            "producer_epoch": "its epoch",
            "timeout_ms": "its transaction.timeout.ms",
            "coordinator_id": "the broker that coordinates it",
        },
        read=read_transaction,
        parameters={"transactional_id": _ID},
    ),
    ProbeKind(
        name="fencings",
        about="Count transactions that ended under their producers, from the transaction log.",
        kinds=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.TRANSACTION_HISTORY}),
        facts={
            "count": "all of them",
            "newer_instance": "ended by a newer instance of the same id",
            "admin_fence": "ended by an administrator",
            "timeout": "ended by their timeout",
            "transactional_id": "the id of the newest",
            "most_of_one_id": "how many the most afflicted id has",
            "explanation": "what happened to the newest",
        },
        read=read_fencings,
        parameters={
            "transactional_id": Parameter("Only this id", ""),
            "within_ms": Parameter("Only as old as this, ms", 900_000, is_number=True),
        },
    ),
    ProbeKind(
        name="partitions",
        about="Count partitions by the health of their replicas.",
        kinds=frozenset({EvidenceKind.TOPIC_CONFIGS}),
        facts={
            "count": "partitions",
            "leaderless": "without a leader",
            "under_min_isr": "with fewer replicas in sync than min.insync.replicas",
            "under_replicated": "with replicas out of sync",
            "displaced": "not led by their first replica, though it is in sync",
            "missing_brokers": "brokers whose replicas are out of sync",
            "first": "the first one in the worst state",
        },
        read=read_partitions,
        parameters={"topic": _TOPIC},
    ),
    ProbeKind(
        name="brokers",
        about="List brokers that are silent, fenced, or gone while replicas are still placed on them.",
        kinds=frozenset({EvidenceKind.TOPICS}),
        facts={
            "count": "brokers known by name or by a replica",
            "silent": "silent, fenced or gone",
            "silent_ids": "their ids",
            "is_up": "whether the broker asked for answers",
        },
        read=read_brokers,
        parameters={"broker": Parameter("A broker id", -1, is_number=True)},
    ),
    ProbeKind(
        "coordinators",
        "Describe the distribution of the transaction log's partitions.",
        frozenset({EvidenceKind.TOPICS, EvidenceKind.TRANSACTIONS}),
        {
            "exists": "whether __transaction_state exists",
            "partitions": "how many partitions it has",
            "unavailable": "those without a leader",
            "unheard": "coordinators that could not be asked",
            "most": "partitions of the busiest broker",
            "least": "partitions of the idlest broker",
            "busiest": "the busiest broker",
            "skewed": "whether one broker leads more than twice its share",
            "displaced": "partitions not led by their first replica, though it is in sync",
        },
        read_coordinators,
    ),
    ProbeKind(
        "quorum",
        "Describe the controller quorum.",
        frozenset({EvidenceKind.QUORUM}),
        {
            "known": "whether it could be described",
            "leader": "the active controller",
            "leader_epoch": "its epoch",
            "voters": "voters",
        },
        read_quorum,
    ),
    ProbeKind(
        name="feature",
        about="Report the level of a feature.",
        kinds=frozenset({EvidenceKind.FEATURES}),
        facts={
            "known": "whether the brokers know it",
            "finalized": "the finalized level, 0 without one",
            "supported": "the highest level that every broker supports",
        },
        read=read_feature,
        parameters={"feature": Parameter("Its name")},
    ),
    ProbeKind(
        name="group",
        about="Describe a group as a read_committed reader: lag, what blocks it, positions out of range.",
        kinds=_OPEN | {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.PENDING_OFFSETS},
        facts={
            "known": "whether a coordinator lists it",
            "state": "its state",
            "members": "members",
            "lag": "offsets up to the high watermarks",
            "blocked": "those of them behind the last stable offset",
            "unstable": "positions that open transactions hold",
            "out_of_range": "positions outside of what their partitions hold",
            "positions": "committed positions",
            "committed": "their sum, which shows whether any of them was moved",
            "first_out_of_range": "the first of those, with the nearest offset inside",
            "holder_status": "the status of the worst transaction that blocks it",
            "holder_id": "that transaction's id, empty when unknown",
            "holder_producer_id": "that transaction's producer id",
            "holder_place": "the partition that it is open on",
        },
        read=read_group,
        parameters={"group": Parameter("The group's id")},
    ),
    ProbeKind(
        name="doctor",
        about="Run checks: those named, or all of them for findings of severity error and worse.",
        kinds=EVERYTHING,
        facts={
            "findings": "findings",
            "ids": "their checks",
            "worst": "the worst one's message",
            "skipped": "checks without whole evidence",
            "grade": "the grade",
        },
        read=read_doctor,
        parameters={"checks": Parameter("Ids or names of checks, comma separated", "")},
    ),
    *APPLICATION_PROBES,
)

_BY_NAME: Final = {probe.name: probe for probe in PROBES}


def find_probe(name: str) -> ProbeKind:
    """Return a probe.

    Raises:
        UsageError: No probe has this name.
    """
    if name not in _BY_NAME:
        raise unknown_name("probe", name, _BY_NAME, "See docs/runbooks/index.md")
    return _BY_NAME[name]
