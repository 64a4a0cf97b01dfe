"""Choose the partition directories to read: of several replicas, the most advanced one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.model.kafka_data import Damage
from eosctl.storage.errors import DamagedFile
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.storage.names import DirectoryState, parse_partition_directory
from spark_log_analytics.kafka_data.partition import segment_logs


class Plan(NamedTuple):
    """The directories that a run reads.

    Attributes:
        directories: One directory per partition, ordered by topic and number.
        size_bytes: The size of the segments in each directory.
        other_replicas: Directories of the same partitions that are not read.
        unreadable: The directories that could not be listed.
        cluster_ids: The cluster ids in the directories; several clusters must not be added up.
    """

    directories: tuple[Path, ...]
    size_bytes: tuple[int, ...]
    other_replicas: tuple[Path, ...]
    unreadable: tuple[Damage, ...]
    cluster_ids: frozenset[str]


class _Replica(NamedTuple):
    """A replica: its progress (the last segment and the size of that), its total size, and its directory."""

    last_segment: str
    last_size_bytes: int
    size_bytes: int
    directory: Path


def plan_partitions(paths: Iterable[Path], topics: Collection[str] = ()) -> Plan:
    """Find the partitions below some directories.

    Args:
        paths: Data directories of brokers, directories above them, or single partition directories.
        topics: The topics to read, in addition to the internal ones; empty for all.
    """
    replicas: dict[tuple[str, int], dict[Path, _Replica]] = {}
    unreadable: list[Damage] = []

    def remember(error: OSError) -> None:
        unreadable.append(Damage(str(error.filename), 0, "unreadable", error.strerror or str(error)))

    for path in paths:
        for root, _, _ in os.walk(path, onerror=remember):
            directory = Path(root)
            name = parse_partition_directory(directory.resolve().name if root == "." else directory.name)
            if name is None or name.state is not DirectoryState.LIVE or not _is_wanted(name.topic, topics):
                continue
            try:
                replica = _replica_of(directory)
            except OSError as error:
                remember(error)
                continue
            if replica is not None:
                replicas.setdefault((name.topic, name.partition), {})[directory.resolve()] = replica
    chosen, others = [], []
    for _, found in sorted(replicas.items()):
        ordered: Sequence[_Replica] = sorted(found.values(), reverse=True)
        chosen.append(ordered[0])
        others += [one.directory for one in ordered[1:]]
    return Plan(
        tuple(one.directory for one in chosen),
        tuple(one.size_bytes for one in chosen),
        tuple(others),
        tuple(unreadable),
        frozenset(filter(None, map(_cluster_id, {one.directory.parent for one in chosen}))),
    )


def _cluster_id(data_dir: Path) -> str:
    try:
        return read_meta_properties(data_dir).cluster_id
    except (DamagedFile, OSError):
        return ""


def _is_wanted(topic: str, topics: Collection[str]) -> bool:
    if topic == "__cluster_metadata":
        return False
    return not topics or topic in topics or topic.startswith("__")


def _replica_of(directory: Path) -> _Replica | None:
    logs = segment_logs(directory)
    if not logs:
        return None
    sizes = [log.stat().st_size for log in logs]
    return _Replica(logs[-1].name, sizes[-1], sum(sizes), directory)
