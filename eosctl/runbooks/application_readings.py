"""From a snapshot to facts about what applications use: topics, ids, producers, disks, rights."""

from __future__ import annotations

from eosctl.analysis.coordinators import missing_coordinators
from eosctl.model.cluster_state import AccessRule, LogDirectory
from eosctl.model.snapshot import ClusterSnapshot, Topic
from eosctl.model.transaction import TransactionState
from eosctl.runbooks.readings import Arguments, Facts

_SOME = 3
_OPEN = (TransactionState.ONGOING, TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT)


def read_topic(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe one topic: how it is kept, what it holds, who writes it."""
    name = str(given["topic"])
    topic = snapshot.topic(name)
    infos = topic.partitions if topic else ()
    policy = _setting(topic, "cleanup.policy")
    states = [state for where in snapshot.producers if where.partition.topic == name for state in where.producers]
    marked = [s for s in states if s.coordinator_epoch >= 0 or s.current_txn_start_offset is not None]
    ends = [(info.log_start_offset, info.last_stable_offset, info.high_watermark) for info in infos]
    return {
        "known": topic is not None,
        "partitions": len(infos),
        "replicas": min((len(info.replicas) for info in infos), default=0),
        "cleanup_policy": policy,
        "is_compacted": "compact" in policy.split(","),
        "retention_ms": int(_setting(topic, "retention.ms") or -1),
        "offsets": sum(end - start for start, _, end in ends if start is not None and end is not None),
        "deleted": sum(start for start, _, _ in ends if start is not None),
        "hidden": sum(end - stable for _, stable, end in ends if stable is not None and end is not None),
        "producers": len(states),
        "transactional": len(marked),
        "most_producers": max((len(w.producers) for w in snapshot.producers if w.partition.topic == name), default=0),
    }


def _setting(topic: Topic | None, name: str) -> str:
    found = topic.setting(name) if topic else None
    return (found.value or "") if found else ""


def read_ids(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Count the transactional ids whose names begin alike."""
    found = [t for t in snapshot.transactions if t.transactional_id.startswith(str(given["prefix"]))]
    names = sorted(t.transactional_id for t in found)
    more = f" and {len(names) - _SOME} more" if len(names) > _SOME else ""
    return {
        "count": len(found),
        "open": sum(1 for t in found if t.state in _OPEN),
        "first_open": next((t.transactional_id for t in found if t.state in _OPEN), ""),
        "names": ", ".join(names[:_SOME]) + more,
        "max_epoch": max((t.producer_epoch for t in found if t.described), default=-1),
        "unheard": "; ".join(missing_coordinators(snapshot)),
    }


def read_producers(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Count what partition leaders remember of producers."""
    most = max(snapshot.producers, key=lambda where: len(where.producers), default=None)
    return {
        "count": sum(len(where.producers) for where in snapshot.producers),
        "most": len(most.producers) if most else 0,
        "busiest": str(most.partition) if most else "",
    }


def read_log_dirs(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Report failed log directories and the usage of the fullest volume."""
    failed = [directory for directory in snapshot.log_directories if directory.error]
    fullest = max(snapshot.log_directories, key=_used_percent, default=None)
    return {
        "count": len(snapshot.log_directories),
        "failed": len(failed),
        "failed_places": "; ".join(f"broker {d.broker_id}: {d.path}" for d in failed),
        "fullest_percent": _used_percent(fullest) if fullest else -1,
        "fullest_place": f"broker {fullest.broker_id}: {fullest.path}" if fullest else "",
    }


def _used_percent(directory: LogDirectory) -> int:
    if directory.error or directory.total_bytes <= 0:
        return -1
    return (directory.total_bytes - directory.usable_bytes) * 100 // directory.total_bytes


def read_access(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Compare what two principals may do."""
    access = snapshot.access_rules
    rules = access.rules if access else ()
    old = {_right(rule) for rule in rules if rule.principal == given["principal"]}
    new = {_right(rule) for rule in rules if rule.principal == given["successor"]}
    missing = sorted(old - new)
    return {
        "known": access is not None,
        "enabled": access is not None and access.enabled,
        "rules": len(old),
        "successor_rules": len(new),
        "missing": len(missing),
        "first_missing": " ".join(missing[0]) if missing else "",
    }


def _right(rule: AccessRule) -> tuple[str, ...]:
    return (rule.permission, rule.operation, rule.resource_type, rule.pattern_type, rule.resource_name, rule.host)


def read_replicas(snapshot: ClusterSnapshot, given: Arguments) -> Facts:
    """Describe the replicas of one broker."""
    broker = int(given["broker"])
    infos = [info for topic in snapshot.topics for info in topic.partitions if broker in info.replicas]
    alone = [info for info in infos if info.isr == (broker,)]
    return {
        "count": len(infos),
        "in_sync": sum(1 for info in infos if broker in info.isr),
        "leads": sum(1 for info in infos if info.leader_id == broker),
        "alone": len(alone),
        "first_alone": str(alone[0].partition) if alone else "",
    }
