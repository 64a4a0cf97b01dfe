"""Merge transaction log, batches, group commits, and logs into lanes around one thing or one time."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.blame.report import explain_blame
from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.analysis.partitions import require_partition
from eosctl.analysis.timeline import Focus, Sources, build_timeline, relevant_ids, relevant_partitions
from eosctl.analysis.unseen import classify_all_open
from eosctl.collect.batch_facts import collect_batch_facts, read_batch_facts
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.group_commits import collect_group_commits
from eosctl.collect.history_files import read_history
from eosctl.collect.reader import ReadOnly
from eosctl.errors import UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import RECORDS_PER_PARTITION
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import Timeline
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.log_events import read_events
from eosctl.services.read_cluster import read_cluster
from eosctl.text import name_some, time_text

KINDS: Final = frozenset(
    {EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS, EvidenceKind.TRANSACTION_HISTORY}
)


class TimelineRequest(msgspec.Struct, frozen=True):
    """What the timeline is about, and what to read.

    Attributes:
        transactional_id: One transactional id; empty for all.
        partition: One partition; None for all.
        group_id: One consumer group; empty for all.
        from_ms: The begin, in ms since the epoch; None for the first thing that is known.
        until_ms: The end, in ms since the epoch; None for the last thing that is known.
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        data_dirs: Data directories of brokers, which are read instead of a cluster.
        logs: Logs to merge.
    """

    transactional_id: str = ""
    partition: TopicPartition | None = None
    group_id: str = ""
    from_ms: int | None = None
    until_ms: int | None = None
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    data_dirs: tuple[str, ...] = ()
    logs: tuple[Path, ...] = ()


class TimelineFound(NamedTuple):
    """The timeline, and whether evidence is missing."""

    timeline: Timeline
    is_incomplete: bool


def make_timeline(request: TimelineRequest, callbacks: Callbacks = SILENT) -> TimelineFound:
    """Return what happened, by actor.

    Raises:
        UsageError: The times or the sources exclude each other, a path or partition does not exist, or no source names
            the id or the group.
        EosctlError: The evidence cannot be read.
    """
    focus = Focus(request.transactional_id, request.partition, request.group_id, request.from_ms, request.until_ms)
    if focus.from_ms is not None and focus.until_ms is not None and focus.from_ms >= focus.until_ms:
        raise UsageError("--from does not lie before --to.", "Nothing can be between them.", "Change one of them.")
    events, unread_logs = read_events(request.logs, callbacks.progress)
    unread = ", ".join(map(str, request.logs)) if request.logs and not events else ""
    notes = [f"No log record was recognized in {unread}."] if unread else []
    if request.data_dirs:
        if request.connection.is_given or request.snapshot_file is not None:
            raise UsageError(
                "--data-dir and a cluster or snapshot were both given.", "One of them is read.", "Leave one out."
            )
        found = Sources(read_history(request.data_dirs, callbacks.now_ms()))
        found = found._replace(batches=read_batch_facts(request.data_dirs, relevant_partitions(focus, found)))
        notes.append("Group commits are read from a cluster only.")
    elif request.snapshot_file is not None:
        wanted = EvidenceRequest(request.connection, request.snapshot_file, KINDS)
        found = _with_hangs(Sources(collect_evidence(wanted, callbacks)))
        notes.append("Batches and group commits are not in a snapshot.")
    elif events and not request.connection.is_given:
        found = Sources(ClusterSnapshot(callbacks.now_ms(), ""))
    elif unread and not request.connection.is_given:
        raise UsageError(
            f"No log record was recognized in {unread}.",
            "Nothing else was given to read.",
            "Name log files, or a cluster.",
        )
    else:
        found = _from_cluster(focus, request.connection, callbacks)
    found = found._replace(events=events)
    verdicts = {
        name: explain_blame(found.snapshot, name, events=events, commits=found.commits).verdicts
        for name in relevant_ids(focus, found)
    }
    gaps = (*found.snapshot.gaps, *(unread_logs if not unread else ()))
    notes += [gap.sentence for gap in gaps]
    notes += (cut := _cut_history(focus, found))
    merged = build_timeline(focus, found._replace(verdicts=verdicts), list(dict.fromkeys(notes)))
    # Within a time range, no event is an answer. Group commits are read from a cluster only.
    is_whole = focus.from_ms is None and focus.until_ms is None and not gaps
    reads_groups = not request.data_dirs and request.snapshot_file is None
    if is_whole and not merged.lanes and (focus.transactional_id or (focus.group_id and reads_groups)):
        raise _unknown(focus)
    return TimelineFound(merged, bool(gaps or unread or cut))


def _cut_history(focus: Focus, sources: Sources) -> list[str]:
    """Return a note if the newest records of the transaction log, which are read, do not reach back to the begin."""
    topic = sources.snapshot.topic(TRANSACTION_STATE_TOPIC)
    ids, oldest = relevant_ids(focus, sources), dict[int, int]()
    for entry in sources.snapshot.transaction_history:
        if entry.transactional_id in ids:
            at_ms = oldest.get(entry.log_partition, entry.written_at_ms)
            oldest[entry.log_partition] = min(at_ms, entry.written_at_ms)
    cut = {
        str(info.partition): oldest[info.partition.partition]
        for info in (() if topic is None else topic.partitions)
        if info.partition.partition in oldest
        and (info.high_watermark or 0) - (info.log_start_offset or 0) > RECORDS_PER_PARTITION
        and (focus.from_ms is None or oldest[info.partition.partition] > focus.from_ms)
    }
    if not cut:
        return []
    where = name_some("partition", list(cut))
    begin = time_text(max(cut.values()))
    return [
        f"Only the last {RECORDS_PER_PARTITION:,} records of {where} were read: steps before {begin} may be missing."
    ]


def _with_hangs(sources: Sources) -> Sources:
    return sources._replace(hangs=classify_all_open(sources.snapshot))


def _unknown(focus: Focus) -> UsageError:
    if focus.transactional_id:
        name, listing = f"transactional id {focus.transactional_id!r}", "eosctl txn list"
    else:
        name, listing = f"group {focus.group_id!r}", "eosctl group lag"
    return UsageError(
        f"Unknown {name}.",
        "Nothing that was read names it: it never existed, it expired, or this principal may not describe it.",
        f"List all: {listing}",
    )


def _from_cluster(focus: Focus, connection: Connection, callbacks: Callbacks) -> Sources:
    async def read(reader: ReadOnly) -> Sources:
        evidence = await collect_snapshot(reader, Observer(callbacks.now_ms, progress=callbacks.progress), KINDS)
        topic = evidence.topic(CONSUMER_OFFSETS_TOPIC)
        commits = await collect_group_commits(reader, () if topic is None else topic.partitions)
        found = _with_hangs(Sources(evidence, commits=commits.value))
        where = [info for p in relevant_partitions(focus, found) if (info := evidence.partition(p)) is not None]
        batches = await collect_batch_facts(reader, where, focus.from_ms or 0)
        gaps = evidence.gaps + commits.gaps + batches.gaps
        return found._replace(batches=batches.value, snapshot=replace(evidence, gaps=gaps))

    found = read_cluster(connection, read, callbacks)
    if focus.partition is not None:
        require_partition(found.snapshot, focus.partition)
    return found
