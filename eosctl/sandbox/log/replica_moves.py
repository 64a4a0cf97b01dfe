"""Move replicas between a broker's log directories (AlterReplicaLogDirs, KIP-113).

A *future* log in the target directory copies the current one, batch by batch. Once it has caught up, it replaces the
current log within one turn. A move that is interrupted by a stop of the broker continues after a restart, since the
future log still exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.runtime import NodeRuntime

CHUNK_BYTES = 1 << 20  # Maximum number of bytes copied per turn.


class ReplicaMoves:
    """The moves of a broker; `moved` is called for each completed move."""

    def __init__(
        self, runtime: NodeRuntime, directories: LogDirectories, moved: Callable[[Partition, LogDirectory], None]
    ) -> None:
        self._runtime = runtime
        self._directories = directories
        self._moved = moved
        self.under_way: dict[TopicPartition, ReplicaMove] = {}

    def move(self, partition: Partition, target: LogDirectory) -> None:
        """Start to move a replica; moving it to its current directory cancels a pending move."""
        name = partition.partition
        present = self.under_way.get(name)
        if present is not None and present.target is target:
            return
        self.cancel(name)
        if self._directories.directory_of_log(name) is not target:
            move = self.under_way[name] = ReplicaMove(partition, target, self._unique())
            self._step(move)

    def resume(self, hosted: Mapping[TopicPartition, Partition]) -> None:
        """Continue the moves that the broker's stop interrupted; drop those of replicas no longer hosted."""
        for target in self._directories.live:
            for name in target.interrupted_moves:
                partition = hosted.get(name)
                if partition is not None and self._directories.directory_of_log(name) is not target:
                    self.move(partition, target)
                else:
                    target.guarded(partial(target.forget_move, name))

    def _unique(self) -> str:
        """Return a unique suffix for a directory's name."""
        return self._runtime.random.randbytes(16).hex()

    def cancel(self, name: TopicPartition) -> None:
        """Cancel a move and delete its copy."""
        move = self.under_way.pop(name, None)
        if move is not None:
            move.give_up()

    def _step(self, move: ReplicaMove) -> None:
        name = move.partition.partition
        if self.under_way.get(name) is not move:
            return
        if move.current.closed or move.target.failed is not None:
            self.cancel(name)
            return
        move.target.guarded(partial(self._copy, move))

    def _copy(self, move: ReplicaMove) -> None:
        if not move.copy(self._runtime.now_ms()):
            self._runtime.call_later(0, partial(self._step, move))
            return
        del self.under_way[move.partition.partition]
        self._replace(move)

    def _replace(self, move: ReplicaMove) -> None:
        """Replace the current log by the future log; both have the same batches now."""
        partition, old = move.partition, move.current
        name = partition.partition
        home = self._directories.directory_of_log(name)
        log = move.target.adopt(name, move.future, partition.topic_id, old)
        self._directories.set_directory_of_log(name, move.target)
        partition.log = log
        if home is not None:
            home.guarded(partial(self._retire, home, name, old))
        self._moved(partition, move.target)

    def _retire(self, home: LogDirectory, name: TopicPartition, old: PartitionLog) -> None:
        retired = home.release(name, old, self._unique())
        if retired is not None:
            delete = partial(home.delete_tree, retired)
            self._runtime.call_later(old.settings.file_delete_delay_ms, partial(home.guarded, delete))


class ReplicaMove:
    """A replica that is moving to another directory."""

    def __init__(self, partition: Partition, target: LogDirectory, unique: str) -> None:
        self.partition = partition
        self.current = partition.log
        self.target = target
        self.future = target.open_future(partition.partition, partition.topic_id, partition.log.settings, unique)

    @property
    def lag(self) -> int:
        """Return the number of offsets that the copy is behind."""
        return max(0, self.current.end_offset - self.future.end_offset)

    def copy(self, now_ms: int) -> bool:
        """Copy one chunk; return whether the future log has caught up."""
        current, future = self.current, self.future
        if current.start_offset > future.end_offset or self._has_diverged():
            future.restart_at(current.start_offset)
        data = current.read(future.end_offset, CHUNK_BYTES, current.end_offset)
        if data:
            future.append_as_follower(data, now_ms)
            future.flush()
        return future.end_offset >= current.end_offset

    def _has_diverged(self) -> bool:
        """Return whether the current log was truncated below the copied part, determined by leader epochs."""
        current, future = self.current, self.future
        if future.end_offset > current.end_offset:
            return True
        latest = future.epochs.latest
        epoch, end_offset = current.epochs.end_offset_for(latest, current.end_offset)
        return latest >= 0 and (epoch != latest or end_offset < future.end_offset)

    def give_up(self) -> None:
        """Delete the copy."""
        self.target.guarded(lambda: self.target.drop_future(self.future))
