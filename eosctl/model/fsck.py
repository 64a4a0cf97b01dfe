"""The findings of a check of Kafka's data directories."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class FsckSeverity(StrEnum):
    """The severity of a finding: error for damage or a hang, warning for something to inspect, info otherwise."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class FsckFinding(msgspec.Struct, frozen=True):
    """A deviation from what Kafka writes, or a fact that readers of the data should know.

    Attributes:
        kind: Its name, such as `crc-mismatch`.
        severity: Its severity.
        message: The found and the expected content, with numbers.
        directory: The data directory.
        file: The file, relative to the data directory; empty without a single file.
        partition: The partition, such as `orders-0`; empty without one.
        position: Byte position in the file.
        offset: Offset in the log.
        entry: Number of the entry in an index, from 0.
        producer_id: The producer id.
        producer_epoch: The producer epoch.
        transactional_id: The transactional id, if known.
        invalid_bytes: Bytes at the end of a log that are not a batch.
    """

    kind: str
    severity: FsckSeverity
    message: str
    directory: str = ""
    file: str = ""
    partition: str = ""
    position: int | None = None
    offset: int | None = None
    entry: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    transactional_id: str | None = None
    invalid_bytes: int | None = None
