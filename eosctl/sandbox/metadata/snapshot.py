"""Snapshots of the metadata log (KIP-630): where a log begins whose first records were removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.sandbox.metadata.records import ReplayedBatch, replay_batches
from eosctl.storage.errors import DamagedFile

_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint", re.ASCII)


class MetadataSnapshot(NamedTuple):
    """A ``.checkpoint`` file: what the log says below ``end_offset``, whose last record is of ``epoch``."""

    path: Path
    end_offset: int
    epoch: int

    def batches(self) -> Iterator[ReplayedBatch]:
        """Iterate what it holds; its records have the offset of the log's last one that it stands for.

        Raises:
            OSError: When it cannot be read.
            WireError: When it is damaged.
        """
        for batch in replay_batches(self.path.read_bytes()):
            yield batch._replace(base_offset=self.end_offset - 1, last_offset=self.end_offset - 1, epoch=self.epoch)


def find_snapshot(directory: Path, log_start_offset: int, log_end_offset: int) -> MetadataSnapshot | None:
    """Find the snapshot that a log begins with; None for a log that is whole.

    Raises:
        DamagedFile: When the log's beginning was removed and no snapshot stands for it.
    """
    if not log_start_offset:
        return None
    found = [
        MetadataSnapshot(path, int(match[1]), int(match[2]))
        for path in directory.iterdir()
        if (match := _NAME.fullmatch(path.name)) and log_start_offset <= int(match[1]) <= log_end_offset
    ]
    if not found:
        raise DamagedFile(directory, f"the metadata log begins at offset {log_start_offset} and no snapshot is there")
    return max(found, key=lambda snapshot: snapshot.end_offset)
