"""The log directories of a node (`log.dirs`): placement of partitions, and failure of a directory."""

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
    """One or more directories, each with checkpoints, an identity, and a clean-shutdown file of its own.

    The first one also contains the metadata log (`metadata.log.dir`), so the node halts when it fails. When another one
    fails, `on_lost` is called and the node continues without its partitions.
    """

    def __init__(self, directories: Sequence[LogDirectory]) -> None:
        self.all = tuple(directories)
        self.on_halt: Callable[[], None] = _nothing
        self.on_lost: Callable[[LogDirectory], None] = _ignore_loss
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self._preferred: dict[TopicPartition, LogDirectory] = {}
        for directory in self.all:
            directory.on_failure = self._failed

    def open_directories(self, node_id: int, cluster_id: str, new_id: Callable[[], bytes]) -> None:
        """Create or open every directory.

        Raises:
            OSError: One cannot be written.
            DamagedFile: One belongs to another node or cluster.
        """
        for directory in self.all:
            directory.open_directory(node_id, cluster_id, new_id())

    @property
    def previous_broker_epoch(self) -> int:
        """Return the epoch of the broker that closed all directories cleanly, -1 if some were not (`LogManager`)."""
        epochs = {directory.previous_broker_epoch for directory in self.all}
        return epochs.pop() if len(epochs) == 1 and len(self.live) == len(self.all) else -1

    @property
    def metadata_directory(self) -> LogDirectory:
        """Return the directory of the metadata log."""
        return self.all[0]

    @property
    def live(self) -> list[LogDirectory]:
        """Return the directories that have not failed."""
        return [directory for directory in self.all if directory.failed is None]

    @property
    def lost_ids(self) -> list[bytes]:
        """Return the ids of the failed directories."""
        return [directory.directory_id for directory in self.all if directory.failed is not None]

    # --- logs ---------------------------------------------------------------------------------------------------

    def directory_of_log(self, partition: TopicPartition) -> LogDirectory | None:
        """Return the directory of an open log."""
        return self._homes.get(partition)

    def open(
        self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings, assigned: bytes = b""
    ) -> PartitionLog:
        """Open a partition's log: where its files are, else in the preferred or assigned, or the emptiest directory."""
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
        """Set the directory of a replica that is not hosted yet (`LogManager.preferredLogDirs`).

        The preference is lost when the node stops.
        """
        self._preferred[partition] = directory

    def open_metadata(self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings) -> PartitionLog:
        """Open the metadata log in its directory."""
        self._homes[partition] = self.metadata_directory
        return self.metadata_directory.open(partition, topic_id, settings)

    def _count(self, directory: LogDirectory) -> int:
        """Return a directory's number of partitions, as Kafka counts for placement (`LogManager.nextLogDirs`)."""
        return sum(home is directory and name.topic != METADATA_TOPIC for name, home in self._homes.items())

    def set_directory_of_log(self, partition: TopicPartition, directory: LogDirectory) -> None:
        """Record that a log has moved."""
        self._homes[partition] = directory

    def remove(self, partition: TopicPartition, log: PartitionLog) -> None:
        """Delete a partition's files."""
        home = self._homes.pop(partition, None)
        if home is not None:
            home.remove(partition, log)

    def guarded(self, log: PartitionLog, work: Callable[[], None]) -> None:
        """Run `work` on the files of a log; an I/O error takes its directory offline."""
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
        """Write the cleaner checkpoints of every live directory."""
        self._each(LogDirectory.checkpoint_cleaned)

    def _each(self, work: Callable[[LogDirectory], None]) -> None:
        for directory in self.live:
            directory.guarded(partial(work, directory))

    def close(self, *, clean: bool, broker_epoch: int = -1) -> None:
        """Close every log; leave failed directories unchanged."""
        for directory in self.all:
            directory.close(clean=clean and directory.failed is None, broker_epoch=broker_epoch)


def directory_paths(first: Path, count: int) -> list[Path]:
    """Return the directories of a node, including those of earlier starts with more directories."""
    more = [first.with_name(f"{first.name}-dir{number}") for number in range(2, 100)]
    present = [number for number, path in enumerate(more, 2) if path.is_dir()]
    return [first, *more[: max([count, *present]) - 1]]


def _nothing() -> None:
    """Ignore a notification without a receiver."""


def _ignore_loss(_: LogDirectory) -> None:
    """Ignore a notification without a receiver."""
