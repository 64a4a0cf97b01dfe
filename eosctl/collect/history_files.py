"""Read the transaction log from a broker's data directory, without a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC
from eosctl.collect.history import decode_entries
from eosctl.errors import UsageError
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.storage.inputs import find_files, is_segment_file
from eosctl.storage.names import Suffix, parse_partition_directory
from eosctl.storage.scan import LogDamage, scan_log
from eosctl.wire.errors import WireError


def read_history(arguments: Iterable[str], now_ms: int) -> ClusterSnapshot:
    """Read every partition of `__transaction_state` in the given directories.

    Args:
        arguments: Data directories of brokers, partition directories, or segment files. Records of several replicas
            count once.
        now_ms: The time of the snapshot.

    Raises:
        UsageError: An argument matches nothing, or no file belongs to the transaction log.
    """
    entries: dict[tuple[int, int], TransactionLogEntry] = {}
    gaps: list[EvidenceGap] = []
    names = list(arguments)
    try:
        files = [path for path in find_files(names, is_segment_file(Suffix.LOG)) if _partition_of(path) is not None]
    except FileNotFoundError as error:
        raise UsageError(f"{error} does not exist.", "", "Name a broker's data directory.") from error
    if not files:
        raise UsageError(
            f"No segment of {TRANSACTION_STATE_TOPIC} lies below {', '.join(names)}.",
            "Its directories are named __transaction_state-0 and so on.",
            "Name a broker's data directory.",
        )
    for path in files:
        where = _partition_of(path)
        assert where is not None
        for item in scan_log(path):
            problem = item.what if isinstance(item, LogDamage) else "" if item.crc_valid else "a checksum is wrong"
            try:
                if not isinstance(item, LogDamage) and not problem and not item.header.is_control:
                    for entry in decode_entries(where, item.header.partition_leader_epoch, item.records()):
                        entries[where.partition, entry.offset] = entry
            except WireError as error:
                problem = str(error)
            if problem:
                gaps.append(
                    EvidenceGap(EvidenceKind.TRANSACTION_HISTORY, str(path), GapReason.BROKER_ERROR, detail=problem)
                )
    return ClusterSnapshot(
        captured_at_ms=now_ms,
        cluster_id="",
        observer="files",
        transaction_history=tuple(entries[place] for place in sorted(entries)),
        collected=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
        gaps=tuple(gaps),
    )


def _partition_of(path: Path) -> TopicPartition | None:
    directory = parse_partition_directory(path.absolute().parent.name)
    if directory is None or directory.topic != TRANSACTION_STATE_TOPIC:
        return None
    return TopicPartition(directory.topic, directory.partition)
