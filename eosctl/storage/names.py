"""The names of Kafka's directories and files."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
LOCK: Final = ".lock"
META_PROPERTIES: Final = "meta.properties"
PARTITION_METADATA: Final = "partition.metadata"
QUORUM_STATE: Final = "quorum-state"
LEADER_EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"
RECOVERY_POINT_CHECKPOINT: Final = "recovery-point-offset-checkpoint"
LOG_START_CHECKPOINT: Final = "log-start-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT: Final = "replication-offset-checkpoint"
CLEANER_CHECKPOINT: Final = "cleaner-offset-checkpoint"

REMOTE_INDEX_CACHE: Final = "remote-log-index-cache"
"""The one directory in a data directory that is not a partition's (RemoteIndexCache)."""

METADATA_TOPIC: Final = "__cluster_metadata"
STATE_TOPIC: Final = "__transaction_state"
OFFSETS_TOPIC: Final = "__consumer_offsets"
COMPACTED_TOPICS: Final = frozenset({STATE_TOPIC, OFFSETS_TOPIC, "__share_group_state"})
WITHOUT_SEQUENCES: Final = frozenset({OFFSETS_TOPIC})
"""The coordinator writes every batch of a group's offsets with sequence 0."""
BOOTSTRAP_SNAPSHOT: Final = "bootstrap.checkpoint"
"""Written by `kafka-storage format` into a data directory: the first records of the metadata log."""

_MAX_DIRECTORY_NAME: Final = 255


class Suffix(StrEnum):
    """The content of a file named after a base offset."""

    LOG = ".log"
    OFFSET_INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TXN_INDEX = ".txnindex"
    PRODUCER_SNAPSHOT = ".snapshot"


class FileState(StrEnum):
    """An additional suffix of a file that is not in use, or not yet."""

    LIVE = ""
    DELETED = ".deleted"
    CLEANED = ".cleaned"
    SWAP = ".swap"


class SegmentFile(NamedTuple):
    """A file of a partition directory that is named after an offset.

    For a producer snapshot this is the end of the covered offsets, for all others the segment's base offset.
    """

    offset: int
    suffix: Suffix
    state: FileState = FileState.LIVE

    @property
    def name(self) -> str:
        """Return the file's name."""
        return f"{self.offset:020d}{self.suffix}{self.state}"


_SEGMENT_FILE: Final = re.compile(
    r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.deleted|\.cleaned|\.swap|)", re.ASCII
)


def segment_file_name(offset: int, suffix: Suffix) -> str:
    """Return the name of a live file: the offset in 20 digits, then the suffix."""
    return f"{offset:020d}{suffix}"


def parse_segment_file(name: str) -> SegmentFile | None:
    """Parse a file name; return None if it does not belong to a segment."""
    match = _SEGMENT_FILE.fullmatch(name)
    if match is None:
        return None
    return SegmentFile(int(match[1]), Suffix(match[2]), FileState(match[3]))


# End offset and epoch; Kafka adds a random number while it writes the file.
_METADATA_SNAPSHOT: Final = re.compile(r"\d{20}-\d{10}(?:-?\d*)\.checkpoint(?:\.part|\.deleted)?", re.ASCII)


def is_metadata_snapshot(name: str) -> bool:
    """Return whether a file name belongs to a snapshot of the metadata log, in use or not."""
    return name == BOOTSTRAP_SNAPSHOT or _METADATA_SNAPSHOT.fullmatch(name) is not None


class DirectoryState(StrEnum):
    """The pending operation on a partition directory."""

    LIVE = ""
    DELETE = "-delete"
    FUTURE = "-future"
    STRAY = "-stray"


class PartitionDirectory(NamedTuple):
    """A partition directory by its name; `unique` distinguishes directories in transition."""

    topic: str
    partition: int
    state: DirectoryState = DirectoryState.LIVE
    unique: str = ""

    @property
    def name(self) -> str:
        """Return the directory's name; Kafka shortens the topic if the name would exceed 255 bytes."""
        if self.state is DirectoryState.LIVE:
            return f"{self.topic}-{self.partition}"
        end = f"-{self.partition}.{self.unique}{self.state}"
        return self.topic[: _MAX_DIRECTORY_NAME - len(end)] + end


_LIVE_DIRECTORY: Final = re.compile(r"([a-zA-Z0-9._-]+)-(\d{1,10})", re.ASCII)
_PASSING_DIRECTORY: Final = re.compile(
    r"([a-zA-Z0-9._-]+)-(\d{1,10})\.([0-9a-f]{32})(-delete|-future|-stray)", re.ASCII
)


def partition_directory_name(topic: str, partition: int) -> str:
    """Return the name of a partition's live directory."""
    return f"{topic}-{partition}"


def parse_partition_directory(name: str) -> PartitionDirectory | None:
    """Parse a directory name; return None if it does not belong to a partition."""
    if match := _PASSING_DIRECTORY.fullmatch(name):
        return PartitionDirectory(match[1], int(match[2]), DirectoryState(match[4]), match[3])
    if match := _LIVE_DIRECTORY.fullmatch(name):
        return PartitionDirectory(match[1], int(match[2]))
    return None
