"""The files of a data directory that a sandbox has written, derived from its record and its metadata log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.sandbox.ports import FIRST_CONTROLLER_ID
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import (
    BOOTSTRAP_SNAPSHOT,
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOCK,
    LOG_START_CHECKPOINT,
    META_PROPERTIES,
    METADATA_TOPIC,
    PARTITION_METADATA,
    QUORUM_STATE,
    RECOVERY_POINT_CHECKPOINT,
    is_metadata_snapshot,
    parse_partition_directory,
    parse_segment_file,
    partition_directory_name,
)
from eosctl.storage.partition_metadata import read_partition_metadata
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.internal.metadata import decode_record
from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord

_LOG_DIRECTORY: Final = {
    META_PROPERTIES, LOCK, CLEAN_SHUTDOWN, RECOVERY_POINT_CHECKPOINT, LOG_START_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT,
    CLEANER_CHECKPOINT, BOOTSTRAP_SNAPSHOT,
}  # fmt: skip
SHARED_FOLDERS: Final = ("logs", "security")
"""Folders of all nodes, next to those of each one."""
_PARTITION: Final = {PARTITION_METADATA, LEADER_EPOCH_CHECKPOINT, QUORUM_STATE}
_HOME: Final = {"server.properties", "node.pid"}
_LOG_FILE: Final = re.compile(
    r"(server|controller|state-change|log-cleaner|kafka-authorizer|kafka-request)\.log(\.\d{1,3})?|jvm\.out", re.ASCII
)


class Written(NamedTuple):
    """The record that a sandbox writes before any other file.

    Attributes:
        nodes: The names of its nodes' directories.
        users: The users with client files.
        controllers: The names of those nodes' directories with the log of the quorum.
        release: The release of the brokers: of real ones with its patch, ``4.3.1``, else of the emulated ones.
        is_real: Whether the brokers are real ones.
    """

    nodes: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    controllers: frozenset[str] = frozenset()
    release: str = ""
    is_real: bool = False


class _Topics(NamedTuple):
    names: frozenset[str]
    ids: frozenset[bytes]


def planned(spec: SandboxSpec) -> Written:
    """Return the record for a sandbox of this specification."""
    brokers = range(1, spec.brokers + 1)
    if spec.kafka is not None:
        nodes = frozenset(f"node-{broker}" for broker in brokers)
        return Written(nodes, controllers=nodes, release=spec.kafka, is_real=True)
    names = [f"broker-{broker}" for broker in brokers]
    names += [f"{name}-dir{number}" for name in tuple(names) for number in range(2, spec.log_dirs + 1)]
    controllers = names[:1]
    if spec.brokers > 1 or spec.controllers > 1:
        controllers = [f"controller-{FIRST_CONTROLLER_ID + number}" for number in range(spec.controllers)]
    return Written(
        frozenset((*names, *controllers)), frozenset(spec.users), frozenset(controllers), release=spec.emulate
    )


def own_files(path: Path, written: Written) -> Iterator[Path]:
    """Yield the files, and the links to logs, that the sandbox has written in a data directory."""
    homes = [path / name for name in sorted(written.nodes)]
    log_dirs = [home / "data" if home.name.startswith("node-") else home for home in homes]
    topics = _topics(log_dirs)
    for log_dir in log_dirs:
        yield from _named(log_dir, _LOG_DIRECTORY)
        for folder in _folders(log_dir):
            if _is_own_partition(folder, topics):
                yield from _partition_files(folder)
    for home in homes:
        number = home.name.removeprefix("node-")
        link = path / "logs" / f"broker-{number}"
        if home.name == number:
            yield from _log_files(path / "logs" / home.name)
            continue
        yield from _named(home, _HOME)
        yield from _log_files(home / "logs")
        if link.is_symlink() and link.readlink() == Path("..", home.name, "logs"):
            yield link
    yield from _named(path / "security", _security_names(written.users))


def _security_names(users: Iterable[str]) -> set[str]:
    stems = ("client", *users)
    names = {"users.json", "users.tmp", "broker.pem", "broker.tmp", "ca.pem", "names.txt"}
    return names | {f"{stem}{end}" for stem in stems for end in (".properties", ".tmp")}


def _named(folder: Path, names: set[str]) -> Iterator[Path]:
    for file in _files(folder):
        if file.name.removesuffix(".tmp") in names or file.name in names:
            yield file


def _log_files(folder: Path) -> Iterator[Path]:
    return (file for file in _files(folder) if _LOG_FILE.fullmatch(file.name))


def _partition_files(folder: Path) -> Iterator[Path]:
    for file in _files(folder):
        name = file.name.removesuffix(".tmp")
        if name in _PARTITION or parse_segment_file(name) is not None or is_metadata_snapshot(name):
            yield file


def _is_own_partition(folder: Path, topics: _Topics) -> bool:
    """Return whether a folder is a partition of the cluster: by topic id, or by name without one."""
    partition = parse_partition_directory(folder.name)
    if partition is None:
        return False
    if partition.topic == METADATA_TOPIC:
        return True
    try:
        return read_partition_metadata(folder / PARTITION_METADATA) in topics.ids
    except FileNotFoundError:
        return partition.topic in topics.names
    except (OSError, DamagedFile):
        return False


def _topics(log_dirs: Sequence[Path]) -> _Topics:
    """Return the topics in the metadata logs and their snapshots, including deleted ones."""
    names: set[str] = set()
    ids: set[bytes] = set()
    for log_dir in log_dirs:
        for file in _files(log_dir / partition_directory_name(METADATA_TOPIC, 0)):
            if file.suffix in (".log", ".checkpoint"):
                for record in _topic_records(file):
                    names.add(record.name)
                    ids.add(record.topic_id)
    return _Topics(frozenset(names), frozenset(ids))


def _topic_records(path: Path) -> Iterator[TopicRecord]:
    try:
        for batch in scan_log(path):
            if isinstance(batch, LogBatch) and batch.crc_valid and not batch.header.is_control:
                yield from _decoded(batch)
    except OSError:
        return


def _decoded(batch: LogBatch) -> Iterator[TopicRecord]:
    try:
        records = batch.records()
    except WireError:
        return
    for record in records:
        try:
            message = decode_record(record.value or b"")
        except WireError:
            continue
        if isinstance(message, TopicRecord):
            yield message


def _folders(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if entry.is_dir() and not entry.is_symlink()]


def _files(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if entry.is_file() and not entry.is_symlink()]


def _entries(folder: Path) -> list[Path]:
    # A symbolic link leads to files of another owner.
    if folder.is_symlink():
        return []
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
