"""Observe a cluster for an interval: its state, and the records appended meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from eosctl.capacity.observation import STATE_TOPIC, Observed
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.history import collect_history
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import Asks, Probed, ReadOnly
from eosctl.collect.workload import collect_offset_commits, collect_traffic
from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import Topic

KINDS = frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS, EvidenceKind.OFFSETS})


async def observe_cluster(client: Asks, interval_ms: int, now_ms: Callable[[], int]) -> Probed[Observed]:
    """Observe a cluster for an interval without changing it.

    Args:
        client: An open client; only read requests are sent through it.
        interval_ms: Duration of the observation.
        now_ms: The clock, which also times the interval.

    Raises:
        EosctlError: Metadata could not be fetched. Every later failure is a gap.
    """
    snapshot = await collect_snapshot(client, Observer(now_ms), KINDS)
    reader = ReadOnly(client)
    before = await collect_offsets(reader, snapshot.topics)
    began_ms = now_ms()
    await asyncio.sleep(interval_ms / 1000)
    after = await collect_offsets(reader, snapshot.topics)
    lasted_ms = max(1, now_ms() - began_ms)
    traffic = await collect_traffic(reader, before.value, after.value, lasted_ms)
    commits = await collect_offset_commits(reader, before.value, after.value)
    history = await _transaction_log(reader, before.value, after.value)
    observed = Observed(snapshot, traffic.value, history.value, commits.value)
    gaps = (*snapshot.gaps, *before.gaps, *after.gaps, *traffic.gaps, *commits.gaps, *history.gaps)
    return Probed(observed, tuple(dict.fromkeys(gaps)))


async def _transaction_log(
    reader: ReadOnly, before: tuple[Topic, ...], after: tuple[Topic, ...]
) -> Probed[tuple[TransactionLogEntry, ...]]:
    """Read the records of the transaction log between two listings of offsets."""
    log = next((topic for topic in after if topic.name == STATE_TOPIC), None)
    if log is None:
        return Probed(())
    began = {
        info.partition.partition: info.high_watermark or 0
        for topic in before
        if topic.name == STATE_TOPIC
        for info in topic.partitions
    }
    appended = max(
        ((info.high_watermark or 0) - began.get(info.partition.partition, 0) for info in log.partitions), default=0
    )
    found = await collect_history(reader, log.partitions, records_per_partition=appended)
    ended = {info.partition.partition: info.high_watermark or 0 for info in log.partitions}
    # The log grows while it is read.
    entries = tuple(e for e in found.value if began.get(e.log_partition, 0) <= e.offset < ended[e.log_partition])
    return Probed(entries, found.gaps)
