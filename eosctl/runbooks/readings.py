"""From a snapshot to the flat facts of each probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from eosctl.actions.group_offsets import positions_out_of_range
from eosctl.actions.leaders import is_displaced
from eosctl.actions.verification import brokers_without_verification
from eosctl.analysis.coordinators import missing_coordinators
from eosctl.analysis.fencing import find_fencings
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lag import find_pins, measure_lag
from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS, check_id_of
from eosctl.checks.runner import diagnose
from eosctl.errors import UsageError
from eosctl.findings.diagnosis import CheckStatus
from eosctl.model.fencing import FencingCause
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.runbook import Value
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.text import name_some

Arguments = Mapping[str, Value]
Facts = dict[str, Value]

CONSUMER_OFFSETS: Final = "__consumer_offsets"
_WORST_FIRST: Final = (
    HangStatus.HANGING,
    HangStatus.STALLED,
    HangStatus.LATE,
    HangStatus.UNDECIDED,
    HangStatus.LONG_RUNNING,
    HangStatus.OPEN,
)


def read_open_transactions(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Judge what is open on partition leaders."""
    verdicts = [
        verdict
        for verdict in classify_open_transactions(snapshot)
        if _is_meant(verdict, str(given["topic"]), int(given["partition"]))
    ]
    verdicts.sort(key=lambda v: (_WORST_FIRST.index(v.status), v.transaction.partition, v.transaction.first_offset))
    counts = {status: sum(1 for v in verdicts if v.status is status) for status in HangStatus}
    worst = verdicts[0] if verdicts else None
    transaction = worst.transaction if worst else None
    return {
        "count": len(verdicts),
        "hanging": counts[HangStatus.HANGING],
        "stalled": counts[HangStatus.STALLED],
        "late": counts[HangStatus.LATE],
        "undecided": counts[HangStatus.UNDECIDED],
        "long_running": counts[HangStatus.LONG_RUNNING],
        "status": worst.status.value if worst else "",
        "cause": worst.cause.value if worst else "",
        "explanation": worst.explanation if worst else "",
        "can_abort": bool(worst and worst.can_abort),
        "abort_refusal": worst.abort_refusal if worst else "",
        "can_complete": bool(worst and worst.can_complete),
        "topic": transaction.partition.topic if transaction else "",
        "partition": transaction.partition.partition if transaction else -1,
        "producer_id": transaction.producer_id if transaction else -1,
        "first_offset": transaction.first_offset if transaction else -1,
        "transactional_id": (transaction.transactional_id or "") if transaction else "",
        "unverified_brokers": len(brokers_without_verification(snapshot)),
    }


def _is_meant(verdict: HangVerdict, topic: str, partition: int) -> bool:
    where = verdict.transaction.partition
    return topic in ("", where.topic) and partition in (-1, where.partition)


def read_transaction(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe one transactional id."""
    wanted = str(given["transactional_id"])
    found = next((t for t in snapshot.transactions if t.transactional_id == wanted), None)
    return {
        "known": found is not None,
        "unheard": "; ".join(missing_coordinators(snapshot)),
        "state": found.state if found else "",
        "ongoing": found is not None and found.state == TransactionState.ONGOING,
        "prepared": found is not None
        and found.state in (TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT),
        "producer_id": found.producer_id if found else -1,
        "producer_epoch": found.producer_epoch if found else -1,
        "timeout_ms": found.timeout_ms if found else -1,
        "coordinator_id": found.coordinator_id if found else -1,
    }


def read_fencings(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Count transactions that ended under their producers."""
    wanted = str(given["transactional_id"])
    since_ms = snapshot.captured_at_ms - int(given["within_ms"])
    events = [
        event
        for event in find_fencings(snapshot)
        if wanted in ("", event.transactional_id) and (event.aborted_at_ms or snapshot.captured_at_ms) >= since_ms
    ]
    count = {cause: sum(1 for event in events if event.cause is cause) for cause in FencingCause}
    by_id = Counter(event.transactional_id for event in events)
    last = events[-1] if events else None
    return {
        "count": len(events),
        "newer_instance": count[FencingCause.NEWER_INSTANCE],
        "admin_fence": count[FencingCause.ADMIN_FENCE],
        "timeout": count[FencingCause.TIMEOUT],
        "transactional_id": last.transactional_id if last else "",
        "most_of_one_id": max(by_id.values(), default=0),
        "explanation": last.explanation if last else "",
    }


def read_partitions(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Count partitions by the health of their replicas."""
    topics = [topic for topic in snapshot.topics if given["topic"] in ("", topic.name)]
    infos = [info for topic in topics for info in topic.partitions]
    below: list[PartitionInfo] = []
    for topic in topics:
        setting = topic.setting("min.insync.replicas")
        needed = int(setting.value) if setting is not None and setting.value and setting.value.isdigit() else 1
        below += [info for info in topic.partitions if len(info.isr) < needed]
    under = [info for info in infos if len(info.isr) < len(info.replicas)]
    leaderless = [info for info in infos if info.leader_id is None]
    missing = sorted({replica for info in under for replica in info.replicas if replica not in info.isr})
    return {
        "count": len(infos),
        "leaderless": len(leaderless),
        "under_min_isr": len(below),
        "under_replicated": len(under),
        "displaced": sum(1 for info in infos if is_displaced(info)),
        "missing_brokers": ", ".join(map(str, missing)),
        "first": str((leaderless or below or under)[0].partition) if leaderless or below or under else "",
    }


def read_brokers(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """List the brokers that are silent, fenced, or gone."""
    silent = [broker.node_id for broker in snapshot.brokers if not broker.reachable or broker.fenced]
    hosted = {replica for topic in snapshot.topics for info in topic.partitions for replica in info.replicas}
    known = {broker.node_id for broker in snapshot.brokers}
    gone = sorted({*silent, *(hosted - known)})
    return {
        "count": len(known | hosted),
        "silent": len(gone),
        "silent_ids": ", ".join(map(str, gone)),
        "is_up": int(given["broker"]) in known and int(given["broker"]) not in gone,
    }


def read_coordinators(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe the distribution of the transaction log's partitions."""
    topic = snapshot.topic("__transaction_state")
    infos = topic.partitions if topic else ()
    led: dict[int, int] = {broker.node_id: 0 for broker in snapshot.brokers if broker.reachable and not broker.fenced}
    for info in infos:
        if info.leader_id is not None:
            led[info.leader_id] = led.get(info.leader_id, 0) + 1
    most = max(led.values(), default=0)
    return {
        "exists": topic is not None,
        "partitions": len(infos),
        "unavailable": sum(1 for info in infos if info.leader_id is None),
        "unheard": "; ".join(missing_coordinators(snapshot)),
        "most": most,
        "least": min(led.values(), default=0),
        "busiest": next((broker for broker, count in led.items() if count == most), -1),
        # Twice the fair share, and more than the odd one that does not divide.
        "skewed": most * len(led) > 2 * len(infos) if len(led) > 1 else False,
        "displaced": sum(1 for info in infos if is_displaced(info)),
    }


def read_quorum(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe the controller quorum."""
    quorum = snapshot.quorum
    return {
        "known": quorum is not None,
        "leader": quorum.leader_id if quorum else -1,
        "leader_epoch": quorum.leader_epoch if quorum else -1,
        "voters": len(quorum.voters) if quorum else 0,
    }


def read_feature(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Report the level of a feature."""
    found = snapshot.feature(str(given["feature"]))
    return {
        "known": found is not None,
        "finalized": (found.finalized or 0) if found else 0,
        "supported": found.max_supported if found else 0,
    }


def read_group(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe a group as a read_committed reader."""
    wanted = str(given["group"])
    group = next((g for g in snapshot.groups if g.group_id == wanted), None)
    if group is None:
        return dict.fromkeys(_GROUP_NUMBERS, 0) | dict.fromkeys(_GROUP_TEXTS, "") | {"known": False}
    verdicts = classify_open_transactions(snapshot)
    lags = measure_lag(snapshot, verdicts, [wanted])
    blocked = [lag for lag in lags if lag.blocked_offsets]
    pins = find_pins(snapshot, verdicts, [wanted])
    # A group whose first offset is pending has no committed position that could be called unstable.
    pending = [offset for offset in snapshot.pending_offsets if offset.group_id == wanted]
    places = {(TopicPartition(CONSUMER_OFFSETS, offset.log_partition), offset.producer_id) for offset in pending}
    holders = [
        *(lag.blocked_by for lag in blocked if lag.blocked_by),
        *(verdict for pin in pins for verdict in pin.holders),
        *(v for v in verdicts if (v.transaction.partition, v.transaction.producer_id) in places),
    ]
    held = {offset.partition for offset in group.offsets if offset.unstable} | {p.partition for p in pending}
    holder = min(holders, key=lambda v: _WORST_FIRST.index(v.status), default=None)
    place = holder.transaction if holder else None
    moves = positions_out_of_range(snapshot, group)
    return {
        "known": True,
        "state": group.state,
        "members": len(group.members),
        "lag": sum(lag.lag_offsets or 0 for lag in lags),
        "blocked": sum(lag.blocked_offsets or 0 for lag in lags),
        "unstable": len(held),
        "out_of_range": len(moves),
        "positions": len(group.offsets),
        "committed": sum(offset.offset or 0 for offset in group.offsets),
        "first_out_of_range": f"{moves[0].partition}: {moves[0].offset_before} -> {moves[0].offset}" if moves else "",
        "holder_status": holder.status.value if holder else "",
        "holder_id": (place.transactional_id or "") if place else "",
        "holder_producer_id": place.producer_id if place else -1,
        "holder_place": str(place.partition) if place else "",
    }


_GROUP_NUMBERS: Final = (
    "members",
    "lag",
    "blocked",
    "unstable",
    "out_of_range",
    "positions",
    "committed",
    "holder_producer_id",
)
_GROUP_TEXTS: Final = ("state", "first_out_of_range", "holder_status", "holder_id", "holder_place")


def read_doctor(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Run checks."""
    wanted = {check_id_of(word.strip()) for word in str(given["checks"]).split(",") if word.strip()}
    unknown = wanted - {check.id for check in ALL_CHECKS}
    if unknown:
        raise UsageError(f"Unknown {name_some('check', sorted(unknown))}.", "", "List: eosctl check list")
    checks = [check for check in ALL_CHECKS if not wanted or check.id in wanted]
    diagnosis = diagnose(checks, Case(snapshot))
    bad = [f for f in diagnosis.findings if wanted or f.severity.at_least(Severity.ERROR)]
    return {
        "findings": len(bad),
        "ids": ", ".join(dict.fromkeys(finding.check_id for finding in bad)),
        "worst": bad[0].message if bad else "",
        "skipped": sum(1 for r in diagnosis.results if r.status is CheckStatus.SKIPPED and r.incomplete),
        "grade": diagnosis.grade.letter,
    }
