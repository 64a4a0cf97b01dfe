"""From what a cluster did in an interval to a workload file whose plan does the same."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import yaml

from eosctl.capacity.record_sizes import BATCH_HEADER_BYTES, format_release, record_bytes
from eosctl.capacity.workload_schema import API_VERSION, EDITOR_HEADER, KIND
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import Broker, ClusterSnapshot, Topic
from eosctl.model.traffic import OffsetCommits, Traffic
from eosctl.model.transaction import TransactionState
from eosctl.model.workload import Cleanup, parse_cleanup

OFFSETS_TOPIC: Final = "__consumer_offsets"
STATE_TOPIC: Final = "__transaction_state"
TXN_OFFSET_COMMIT: Final = 28
#: The varying parts of one application's ids: numbers, and the random parts of Streams and others.
_VARYING: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+")


class Observed(NamedTuple):
    """The readings of a cluster over an interval.

    Attributes:
        entries: Records that the coordinators appended.
        commits: Offsets committed in transactions.
        entry_scale: Factor on counts of entries; above 1 if not all were read.
        value_bytes: The user's record size, for records without counted bytes.
        inputs: Topics and groups of applications whose commits were not read, by prefix of their transactional ids.
    """

    snapshot: ClusterSnapshot
    traffic: Traffic
    entries: Sequence[TransactionLogEntry]
    commits: Sequence[OffsetCommits]
    entry_scale: float = 1.0
    value_bytes: int | None = None
    inputs: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    remark: str = ""


def write_observed(name: str, observed: Observed) -> str:
    """Write the workload file of an interval.

    Args:
        name: The workload's name.
        observed: What was read.

    Returns:
        A workload file without the values that a cluster does not report (disks, network, commit intervals); a plan
        lists those as assumed or unknown.
    """
    topics = dict(_topics(observed))
    applications, remarks = {}, observed.remark.splitlines()
    for family, entries in _families(observed.entries).items():
        described = _application(observed, entries, topics)
        if described is not None:
            applications[family] = described
            if "reads" not in described and any(_has_offsets(entry) for entry in entries):
                remarks.append(f"{family} commits offsets of topics that were not seen growing: planned as a producer.")
    remarks += [
        f"{topic.name} keeps its records forever (retention.ms=-1): state in retention how long; a plan assumes 7 d."
        for topic in observed.snapshot.topics
        if topic.name in topics
        and parse_cleanup(_text(topic, "cleanup.policy") or Cleanup.DELETE).deletes
        and _text(topic, "retention.ms") == "-1"
    ]
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": name,
        "cluster": _cluster(observed.snapshot),
        "topics": topics,
        "applications": applications,
    }
    seconds = observed.traffic.interval_ms / 1000
    head = f"# Observed over {seconds:.1f} s; sizes are as stored, after compression. Rates are of this interval.\n"
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return EDITOR_HEADER + head + "".join(f"# {line}\n" for line in remarks) + text


def offset_commit_version(brokers: Sequence[Broker]) -> int:
    """Return the highest version of TxnOffsetCommit that all brokers serve; 0 if it is not known."""
    served = [one.max_version for b in brokers for one in b.api_ranges if one.api_key == TXN_OFFSET_COMMIT]
    return min(served, default=0)


def _cluster(snapshot: ClusterSnapshot) -> dict[str, Any]:
    internal = [topic for topic in snapshot.topics if topic.name == STATE_TOPIC]
    factors = Counter(len(p.replicas) for topic in snapshot.topics for p in topic.partitions)
    factor = factors.most_common(1)[0][0] if factors else 1
    described: dict[str, Any] = {"brokers": len(snapshot.brokers), "replication_factor": factor}
    level = snapshot.feature("transaction.version")
    described["transaction_version"] = 0 if level is None else level.finalized or 0
    supported = 0 if level is None else level.max_supported
    described["kafka_version"] = format_release(supported, offset_commit_version(snapshot.brokers))
    described["min_insync_replicas"] = min(factor, _number(internal, "min.insync.replicas", min(2, factor)))
    described["brokers_lost"] = min(1, len(snapshot.brokers) - 1)
    for topic in snapshot.topics:
        if topic.name == STATE_TOPIC:
            described["transaction_log_partitions"] = len(topic.partitions)
        if topic.name == OFFSETS_TOPIC:
            described["offsets_partitions"] = len(topic.partitions)
    # What runs has shown that it is possible; round trips are not known.
    described |= {"client_round_trip": "0 ms", "replication_round_trip": "0 ms"}
    return described


def _number(topics: Iterable[Topic], name: str, default: int) -> int:
    for topic in topics:
        if (text := _text(topic, name)).isdigit():
            return int(text)
    return default


def _text(topic: Topic, name: str) -> str:
    """Return a setting of a topic; empty where it was not read."""
    setting = topic.setting(name)
    return (setting.value or "") if setting is not None else ""


def _topics(observed: Observed) -> Iterator[tuple[str, dict[str, Any]]]:
    seconds = observed.traffic.interval_ms / 1000
    for topic in observed.snapshot.topics:
        traffic = observed.traffic.of_topic(topic.name)
        records = sum(p.data_record_count * p.scale for p in traffic)
        if topic.internal or topic.name in (STATE_TOPIC, OFFSETS_TOPIC) or not records:
            continue
        described: dict[str, Any] = {"partitions": len(topic.partitions), "rate": f"{records / seconds:.6g}/s"}
        if observed.value_bytes is None:
            batches = sum(p.data_batch_count * p.scale for p in traffic)
            stored = sum(p.data_bytes * p.scale for p in traffic)
            value = value_bytes_for((stored - BATCH_HEADER_BYTES * batches) / records)
            described |= {"value": f"{value} B", "batch_records": round(records / batches, 3)}
        else:
            value = observed.value_bytes
            described["value"] = f"{value} B"
        policy, retention = _text(topic, "cleanup.policy"), _text(topic, "retention.ms")
        cleanup = parse_cleanup(policy) if policy else Cleanup.DELETE
        if cleanup.compacts:
            kept = sum((p.high_watermark or 0) - (p.log_start_offset or 0) for p in topic.partitions)
            described |= {"cleanup": str(cleanup), "live": f"{max(1, kept * value)} B"}
        if cleanup.deletes and retention.isdigit():
            described["retention"] = f"{retention} ms"
        yield topic.name, described


def value_bytes_for(record_size_bytes: float) -> int:
    """Return the value's length with which a record without key has this size.

    >>> [value_bytes_for(record_bytes(None, length)) for length in (0, 10, 100, 5_000)]
    [0, 10, 100, 5000]
    """
    guess = max(0, round(record_size_bytes) - 6)
    return min(
        range(max(0, guess - 8), guess + 1), key=lambda length: abs(record_bytes(None, length) - record_size_bytes)
    )


def _families(entries: Sequence[TransactionLogEntry]) -> dict[str, list[TransactionLogEntry]]:
    """Group the log by application: transactional ids that differ in numbers and random parts alone."""
    families: dict[str, list[TransactionLogEntry]] = defaultdict(list)
    for entry in entries:
        families[_VARYING.sub("*", entry.transactional_id)].append(entry)
    return dict(sorted(families.items()))


_PREPARED: Final = (TransactionState.PREPARE_COMMIT.value, TransactionState.PREPARE_ABORT.value)


def _application(
    observed: Observed, entries: Sequence[TransactionLogEntry], topics: Mapping[str, Any]
) -> dict[str, Any] | None:
    prepared = [entry for entry in entries if entry.state in _PREPARED]
    if not prepared:
        return None
    count = len(prepared)
    ids = {entry.transactional_id for entry in entries}
    with_offsets = sum(_has_offsets(entry) for entry in prepared)
    touched = Counter(p.topic for entry in prepared for p in entry.partitions if p.topic in topics)
    joins = sum(entry.state == TransactionState.ONGOING.value for entry in entries)
    aborts = sum(entry.state == TransactionState.PREPARE_ABORT.value for entry in prepared)
    producer_ids = {entry.producer_id for entry in entries}
    commits = [c for c in observed.commits if c.producer_id in producer_ids]
    group_bytes, inputs = _input(observed, ids) if with_offsets and not commits else (0, set[str]())
    reads = sorted({c.topic for c in commits} | inputs)
    described: dict[str, Any] = {
        # Offsets whose topics had no traffic of their own in the interval cannot be planned.
        "kind": "consume-process-produce" if reads and set(reads) <= topics.keys() else "producer",
        "producers": len(ids),
        "transactions": f"{count * observed.entry_scale / observed.traffic.interval_ms * 1000:.6g}/s",
        "transaction_timeout": f"{max(entry.timeout_ms for entry in entries)} ms",
        "transactional_id": f"{round(sum(map(len, ids)) / len(ids))} B",
        "partition_waves": round(max(0.0, joins - with_offsets) / count, 3),
        "abort_ratio": round(aborts / count, 4),
        "writes": {name: round(number / count, 4) for name, number in sorted(touched.items())},
    }
    if described["kind"] == "consume-process-produce" and not commits:
        described |= {"group_id": f"{group_bytes} B", "reads": reads}
    elif described["kind"] == "consume-process-produce":
        batches = max(1, max(Counter(c.topic for c in commits for _ in range(c.commit_count)).values(), default=1))
        described["group_id"] = f"{round(sum(len(c.group_id) for c in commits) / len(commits))} B"
        described["offsets_per_transaction"] = round(sum(c.offset_count for c in commits) / batches, 3)
        described["reads"] = reads
    return described


def _has_offsets(entry: TransactionLogEntry) -> bool:
    return any(partition.topic == OFFSETS_TOPIC for partition in entry.partitions)


def _input(observed: Observed, ids: Iterable[str]) -> tuple[int, set[str]]:
    """Return the length of an application's group id and what it reads, where the commits themselves were not read.

    Kafka Streams begins its transactional ids with its group's name (``application.id``), others often do; a single
    group is taken as the one that is meant.
    """
    groups = {group for group in observed.inputs for text in ids if text.startswith(group)}
    if not groups and len(observed.inputs) == 1:
        groups = set(observed.inputs)
    length = round(sum(map(len, groups)) / len(groups)) if groups else 0
    return length, {topic for group in groups for topic in observed.inputs[group]}
