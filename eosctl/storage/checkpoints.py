"""Checkpoint files: a version line, a count line, and one line for each offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.storage.atomic import replace_file
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import LEADER_EPOCH_CHECKPOINT
from eosctl.storage.regular_file import lines_of, read_regular

_QUOTED: Final = 24
#: As many digits as an offset has.
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
VERSION: Final = 0


class EpochStart(NamedTuple):
    """A leader epoch and its start offset."""

    epoch: int
    start_offset: int


def encode_offset_checkpoint(offsets: Mapping[TopicPartition, int]) -> str:
    """Encode a recovery-point, high-watermark (replication), log-start, or cleaner checkpoint."""
    return _encode([f"{partition.topic} {partition.partition} {offset}" for partition, offset in offsets.items()])


def encode_epoch_checkpoint(epochs: Iterable[EpochStart]) -> str:
    """Encode a leader-epoch checkpoint."""
    return _encode([f"{epoch} {start_offset}" for epoch, start_offset in epochs])


def write_offset_checkpoint(path: Path, offsets: Mapping[TopicPartition, int], *, sync: bool = False) -> None:
    """Replace an offset checkpoint."""
    replace_file(path, encode_offset_checkpoint(offsets).encode(), sync=sync)


def write_epoch_checkpoint(path: Path, epochs: Iterable[EpochStart], *, sync: bool = False) -> None:
    """Replace a leader-epoch checkpoint."""
    replace_file(path, encode_epoch_checkpoint(epochs).encode(), sync=sync)


def read_offset_checkpoint(path: Path) -> dict[TopicPartition, int]:
    """Read an offset checkpoint. An absent or empty file has no entries, as in Kafka.

    Raises:
        DamagedFile: Version, count, or an entry is wrong; `offset` is the line, counted from 1.
    """
    offsets: dict[TopicPartition, int] = {}
    for line_number, (topic, *numbers) in _read_entries(path, 3):
        partition, offset = _numbers(path, line_number, numbers)
        offsets[TopicPartition(topic, partition)] = offset
    return offsets


def read_epoch_checkpoint(path: Path) -> list[EpochStart]:
    """Read a leader-epoch checkpoint. An absent or empty file has no entries, as in Kafka.

    Raises:
        DamagedFile: Version, count, or an entry is wrong; `offset` is the line, counted from 1.
    """
    return [EpochStart(*_numbers(path, line_number, fields)) for line_number, fields in _read_entries(path, 2)]


class CheckpointEntry(NamedTuple):
    """A partition's offset in a checkpoint."""

    topic: str
    partition: int
    offset: int


def read_any_checkpoint(path: Path) -> list[EpochStart] | list[CheckpointEntry]:
    """Read a checkpoint of either format, determined by the first entry.

    Raises:
        DamagedFile: Version, count, or an entry is wrong; `offset` is the line, counted from 1.
    """
    lines = read_regular(path).split(b"\n", 3)
    if path.name == LEADER_EPOCH_CHECKPOINT or (len(lines) > 2 and len(lines[2].split(b" ")) == 2):
        return read_epoch_checkpoint(path)
    return [CheckpointEntry(*where, offset) for where, offset in read_offset_checkpoint(path).items()]


def checkpoint_entry_fault(entry: EpochStart | CheckpointEntry, before: EpochStart | CheckpointEntry | None) -> str:
    """Return why a broker cannot have written an entry after another (None: as the first), or "" if it can.

    Kafka refuses a negative epoch or start offset, and removes epochs that do not ascend (`LeaderEpochFileCache`).
    """
    if isinstance(entry, CheckpointEntry):  # Streams writes a negative offset for a store without one.
        return f"partition {entry.partition} is negative" if entry.partition < 0 else ""
    if min(entry) < 0:
        return f"epoch {entry.epoch} or its start offset {entry.start_offset} is negative"
    if isinstance(before, EpochStart) and (entry.epoch <= before.epoch or entry.start_offset < before.start_offset):
        return (
            f"epoch {entry.epoch} from offset {entry.start_offset} does not follow epoch {before.epoch} from offset "
            f"{before.start_offset}"
        )
    return ""


def _encode(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in (str(VERSION), str(len(lines)), *lines))


def _read_entries(path: Path, width: int) -> list[tuple[int, list[str]]]:
    try:
        lines = lines_of(read_regular(path).decode())
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DamagedFile(path, "not UTF-8 text", 1) from error
    if not any(line.strip("0") for line in lines):  # A broker creates the file empty and fills it later.
        return []
    if len(lines) < 2:
        raise DamagedFile(path, f"{len(lines)} lines; a version and a count were expected", len(lines) + 1)
    if lines[0] != str(VERSION):
        raise DamagedFile(path, f"version {lines[0][:_QUOTED]!r}, known is {VERSION}", 1)
    (count,) = _numbers(path, 2, lines[1:2])
    entries = [(number, line.split(" ")) for number, line in enumerate(lines[2:], 3)]
    for number, fields in entries:
        if len(fields) != width:
            raise DamagedFile(path, f"{len(fields)} fields, {width} were expected", number)
    if count != len(entries):
        raise DamagedFile(path, f"{len(entries)} entries, the count says {count}", 2)
    return entries


def _numbers(path: Path, line_number: int, fields: list[str]) -> list[int]:
    if not all(map(_NUMBER.fullmatch, fields)):
        raise DamagedFile(path, f"{' '.join(fields)[:_QUOTED]!r} where a number was expected", line_number)
    return [int(field) for field in fields]
