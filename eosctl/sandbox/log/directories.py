"""The log directories of one node (`log.dirs`): which of them holds a partition, and what goes on when one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.ports import METADATA_TOPIC


class LogDirectories:
    """One or more directories, each with checkpoints, an identity and a clean-shutdown file of its own.

    The first one holds the metadata log too (`metadata.log.dir`): the node halts when that one fails. When another one
    does, `on_lost` hears of it and the node goes on without its partitions.
    """

    def __init__(self, directories: Sequence[LogDirectory]) -> None:
        self.all = tuple(directories)
        self.on_halt: Callable[[], None] = _nothing
        self.on_lost: Callable[[LogDirectory], None] = _nothing_lost
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self._preferred: dict[TopicPartition, LogDirectory] = {}
        for directory in self.all:
            directory.on_failure = self._failed

    def open_directories(self, node_id: int, cluster_id: str, new_id: Callable[[], bytes]) -> None:
        """Create or read every directory.

        Raises:
            OSError: One cannot be written.
            DamagedFile: One belongs to another node or cluster.
        """
        for directory in self.all:
            directory.open_directory(node_id, cluster_id, new_id())

    @property
    def previous_broker_epoch(self) -> int:
        """Return the epoch of the broker that closed all directories in order, -1 when some were not (LogManager)."""
        epochs = {directory.previous_broker_epoch for directory in self.all}
        return epochs.pop() if len(epochs) == 1 and len(self.live) == len(self.all) else -1

    @property
    def metadata_directory(self) -> LogDirectory:
        """Where the metadata log is."""
        return self.all[0]

    @property
    def live(self) -> list[LogDirectory]:
        """Return the directories that did not fail."""
        return [directory for directory in self.all if directory.failed is None]

    @property
    def lost_ids(self) -> list[bytes]:
        """Return the ids of those that failed."""
        return [directory.directory_id for directory in self.all if directory.failed is not None]

    # --- logs ---------------------------------------------------------------------------------------------------

    def home_of(self, partition: TopicPartition) -> LogDirectory | None:
        """Return the directory of an open log."""
        return self._homes.get(partition)

    def open(
        self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings, assigned: bytes = b""
    ) -> PartitionLog:
        """Open a partition's log where its files are, else where it was wished or assigned, else where fewest are."""
        live = self.live
        home = next((directory for directory in live if directory.directory_of(partition).is_dir()), None)
        wished = self._preferred.pop(partition, None)
        home = home or (wished if wished in live else None)
        home = home or next((directory for directory in live if directory.directory_id == assigned), None)
        home = home or min(live, key=self._count)
        log = home.open(partition, topic_id, settings)
        self._homes[partition] = home
        return log

    def prefer(self, partition: TopicPartition, directory: LogDirectory) -> None:
        """Remember until the node ends where a replica is to be that is not here yet (LogManager.preferredLogDirs)."""
        self._preferred[partition] = directory

    def open_metadata(self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings) -> PartitionLog:
        """Open the metadata log, which has its place."""
        self._homes[partition] = self.metadata_directory
        return self.metadata_directory.open(partition, topic_id, settings)

    def _count(self, directory: LogDirectory) -> int:
        """Count a directory's partitions as Kafka does to place the next one (LogManager.nextLogDirs)."""
        return sum(home is directory and name.topic != METADATA_TOPIC for name, home in self._homes.items())

    def set_home(self, partition: TopicPartition, directory: LogDirectory) -> None:
        """Note that a log has moved."""
        self._homes[partition] = directory

    def remove(self, partition: TopicPartition, log: PartitionLog) -> None:
        """Delete a partition's files."""
        home = self._homes.pop(partition, None)
        if home is not None:
            home.remove(partition, log)

    def guarded(self, log: PartitionLog, work: Callable[[], None]) -> None:
        """Do work on the files of one log; an error of the disk fails its directory."""
        home = self._homes.get(log.partition)
        if home is not None and home.failed is None:
            home.guarded(work)

    # --- failure ------------------------------------------------------------------------------------------------

    def _failed(self, directory: LogDirectory) -> None:
        if not self.live:
            directory.events.all_failed([each.path for each in self.all])
        if not self.live or directory is self.metadata_directory:
            self.on_halt()
            return
        for partition, home in tuple(self._homes.items()):
            if home is directory:
                del self._homes[partition]
        self.on_lost(directory)

    # --- periodic work, and the end -------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write high watermarks and leader epochs of every live directory."""
        self._each(LogDirectory.checkpoint)

    def checkpoint_offsets(self) -> None:
        """Write recovery points and log start offsets of every live directory."""
        self._each(LogDirectory.checkpoint_offsets)

    def checkpoint_cleaned(self) -> None:
        """Write how far the logs of every live directory are compacted."""
        self._each(LogDirectory.checkpoint_cleaned)

    def _each(self, work: Callable[[LogDirectory], None]) -> None:
        for directory in self.live:
            directory.guarded(partial(work, directory))

    def close(self, *, clean: bool, broker_epoch: int = -1) -> None:
        """Close every log; what failed is left as it is."""
        for directory in self.all:
            directory.close(clean=clean and directory.failed is None, broker_epoch=broker_epoch)


def directory_paths(first: Path, count: int) -> list[Path]:
    """Return the directories of a node; those of an earlier start stay, also when fewer are asked for now."""
    more = [first.with_name(f"{first.name}-dir{number}") for number in range(2, 100)]
    present = [number for number, path in enumerate(more, 2) if path.is_dir()]
    return [first, *more[: max([count, *present]) - 1]]


def _nothing() -> None:
    """Take a notice that nobody waits for."""


def _nothing_lost(_: LogDirectory) -> None:
    """Take a notice that nobody waits for."""
