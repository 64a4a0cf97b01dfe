"""The start offset of each leader epoch (Kafka's `LeaderEpochFileCache`)."""

from __future__ import annotations

from bisect import bisect_right

from eosctl.storage.checkpoints import EpochStart

__all__ = ["EpochStart", "LeaderEpochs"]


class LeaderEpochs:
    """The epochs of a log in ascending order of epoch and offset.

    Attributes:
        entries: Modified by this object only.
        latest: The newest epoch with data, -1 without one; read several times per fetch of a follower.
        dirty: Whether they have changed since they were written.
    """

    __slots__ = ("dirty", "entries", "latest")

    def __init__(self, entries: list[EpochStart] | None = None) -> None:
        self.entries: list[EpochStart] = entries or []
        self.dirty = False
        self.latest = -1
        self._find_latest()

    def _find_latest(self) -> None:
        self.latest = self.entries[-1].epoch if self.entries else -1

    def assign(self, epoch: int, start_offset: int) -> None:
        """Record that `epoch` starts at `start_offset`; known and older epochs are ignored."""
        if epoch <= self.latest:
            return
        while self.entries and self.entries[-1].start_offset >= start_offset:
            self.entries.pop()
        self.entries.append(EpochStart(epoch, start_offset))
        self.latest = epoch
        self.dirty = True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Return (epoch, end offset) of the largest epoch at or below `epoch` (KIP-101); (-1, -1) if unknown."""
        if epoch < 0 or epoch > self.latest:
            return -1, -1
        if epoch == self.latest:
            return epoch, log_end_offset
        index = bisect_right(self.entries, epoch, key=lambda entry: entry.epoch) - 1
        if index < 0:  # Older than the first known epoch: the log starts after it.
            return epoch, self.entries[0].start_offset
        return self.entries[index].epoch, self.entries[index + 1].start_offset

    def epoch_for_offset(self, offset: int) -> int:
        """Return the epoch that wrote `offset`, -1 when unknown."""
        index = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset) - 1
        return self.entries[index].epoch if index >= 0 else -1

    def truncate_from_end(self, end_offset: int) -> None:
        """Remove the epochs that start at or after `end_offset`."""
        while self.entries and self.entries[-1].start_offset >= end_offset:
            self.entries.pop()
            self.dirty = True
        self._find_latest()

    def clear(self) -> None:
        """Remove all epochs."""
        self.entries.clear()
        self.latest = -1
        self.dirty = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Remove the epochs before `start_offset`; the epoch that contains it now starts there."""
        index = bisect_right(self.entries, start_offset, key=lambda entry: entry.start_offset) - 1
        if index > 0 or (index == 0 and self.entries[0].start_offset < start_offset):
            first = EpochStart(self.entries[index].epoch, start_offset)
            self.entries[: index + 1] = [first]
            self.dirty = True
