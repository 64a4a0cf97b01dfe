"""What a check of Kafka's data directories found."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class FsckSeverity(StrEnum):
    """How bad a finding is: an error is damage or a hang, a warning wants a look, an info is worth knowing."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class FsckFinding(msgspec.Struct, frozen=True):
    """One thing that is not as Kafka would have written it, or that readers of the data should know.

    Attributes:
        kind: Its name, such as `crc-mismatch`.
        severity: How bad it is.
        message: What was found and what was expected, with the numbers.
        directory: The data directory.
        file: The file, relative to the data directory; empty if no single file is meant.
        partition: The partition, such as `orders-0`; empty if none is meant.
        position: Byte position in the file.
        offset: Offset in the log.
        entry: Number of the entry in an index, from 0.
        producer_id: The producer concerned.
        producer_epoch: Its epoch.
        transactional_id: The transactional id, where one is known.
        invalid_bytes: How many bytes at the end of a log are no batch.
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
