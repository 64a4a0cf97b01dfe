"""EOS-OPS-003."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import duration_text


@check(
    "EOS-OPS-003",
    "Replica of the metadata log is behind",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.QUORUM}),
    since=(3, 3),
    tags=("availability",),
    references=(
        "KIP-595",
        "broker.session.timeout.ms",
    ),
)
def quorum_replica_lags(case: Case) -> Iterator[Problem]:
    """Find controllers and brokers that do not follow the metadata.

    What it checks:
        When each voter and observer last caught up with the leader of the quorum, against the leader's own time, with
        nine seconds of tolerance, where it also lacks records. A voter that the leader has no position of has not
        fetched since the leader was elected. `kafka-metadata-quorum.sh describe --status` prints the largest lag alone.

    Why it matters for exactly-once:
        A voter that is behind cannot take over; a broker that is behind sends clients to old leaders and
        coordinators. When it stays behind it is fenced.

    Example:
        A controller on a full disk.

    Fix:
        Check the node's log, disk, and network.

    Verify:
        eosctl check run EOS-OPS-003 passes.
    """
    quorum = case.snapshot.quorum
    if quorum is None:
        return
    leader = next((r for r in quorum.replicas if r.replica_id == quorum.leader_id), None)
    if leader is None:
        if quorum.max_lag > 0 and (quorum.max_lag_ms or 0) > case.limits.quorum_lag_ms:
            behind = f"The metadata of a voter is {duration_text(quorum.max_lag_ms or 0)} behind."
            evidence = Evidence("records missing", str(quorum.max_lag), "DescribeQuorum")
            yield _problem(case, Resource("cluster", case.snapshot.cluster_id), "voter", behind, evidence)
        return
    for replica in quorum.replicas:
        kind = "voter" if replica.replica_id in quorum.voters else "observer"
        evidence = Evidence("log end", f"{replica.log_end_offset} of {leader.log_end_offset}", "DescribeQuorum")
        behind_ms = (leader.last_caught_up_ms or 0) - (replica.last_caught_up_ms or 0)
        known = leader.last_caught_up_ms is not None and replica.last_caught_up_ms is not None
        if known and behind_ms > case.limits.quorum_lag_ms and replica.log_end_offset < leader.log_end_offset:
            behind = f"The metadata of {kind} {replica.replica_id} is {duration_text(behind_ms)} behind."
            problem = _problem(case, Resource("broker", str(replica.replica_id)), kind, behind, evidence)
            yield replace(problem, facts=(("node", replica.replica_id), ("behind_ms", behind_ms)))
        elif replica.last_caught_up_ms is None and replica.log_end_offset < 0 and kind == "voter":
            silent = f"Voter {replica.replica_id} has not fetched metadata since the leader was elected."
            problem = _problem(case, Resource("broker", str(replica.replica_id)), kind, silent, evidence)
            yield replace(problem, facts=(("node", replica.replica_id),))


def _problem(case: Case, resource: Resource, kind: str, message: str, evidence: Evidence) -> Problem:
    return Problem(
        resource=resource,
        message=message,
        impact="It cannot take over." if kind == "voter" else "It sends clients to old leaders.",
        evidence=(evidence,),
        remedy=("Check its log, disk, and network.",),
        commands=(Command(f"kafka-metadata-quorum.sh --bootstrap-server {case.bootstrap} describe --replication"),),
        verify=(Command(f"eosctl check run EOS-OPS-003 -b {case.bootstrap}"),),
    )
