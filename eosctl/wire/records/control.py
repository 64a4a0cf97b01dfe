"""Control records: transaction markers, and the other records that only brokers write."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple

import google_crc32c
import msgspec

from eosctl.wire.errors import WireError
from eosctl.wire.records.header import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from eosctl.wire.records.record import Record


class ControlType(IntEnum):
    """The type of a control record: the second field of its key (Kafka's `ControlRecordType`)."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTxnMarker(msgspec.Struct, frozen=True, gc=False):
    """The end of a transaction in one partition (Kafka's `EndTransactionMarker`)."""

    committed: bool
    coordinator_epoch: int


class OtherControl(NamedTuple):
    """A control record that is not a transaction marker. Consumers skip unknown types."""

    type: int
    value: bytes | None


_crc32c: Final = google_crc32c.value
_KEY: Final = struct.Struct(">hh")
_MARKER: Final = struct.Struct(">hi")
_LENGTH_TO_CRC: Final = struct.Struct(">qiibI")
#: Number of bytes from the attributes to the end of a batch with one marker; always the same.
_MARKER_BATCH: Final = struct.Struct(">hiqqqhii5shhbhib")
#: Length 16, attributes 0, timestamp delta 0, offset delta 0, key length 4: as varints.
_RECORD_FRONT: Final = bytes((32, 0, 0, 0, 8))
_VALUE_LENGTH: Final = 12  # varint of 6
#: Size of a marker's batch as a coordinator appends it.
MARKER_BATCH_BYTES: Final = _LENGTH_TO_CRC.size + _MARKER_BATCH.size


def encode_marker_batch(
    marker: EndTxnMarker,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    *,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
    log_append_time: bool = False,
) -> bytes:
    """Encode the batch of 78 bytes that ends a transaction in one partition.

    Args:
        marker: Outcome, and epoch of the coordinator that decided it.
        producer_id: Producer id of the transaction.
        producer_epoch: Its epoch; under transaction version 2 the bumped epoch.
        timestamp: Milliseconds since the epoch.
        base_offset: Offset of the marker, when known.
        partition_leader_epoch: Epoch of the appending leader, when known.
        log_append_time: Whether the topic uses LogAppendTime.
    """
    checked = _MARKER_BATCH.pack(
        TRANSACTIONAL | CONTROL | (LOG_APPEND_TIME if log_append_time else 0),
        0,
        timestamp,
        timestamp,
        producer_id,
        producer_epoch,
        -1,
        1,
        _RECORD_FRONT,
        0,
        ControlType.COMMIT if marker.committed else ControlType.ABORT,
        _VALUE_LENGTH,
        0,
        marker.coordinator_epoch,
        0,
    )
    return (
        _LENGTH_TO_CRC.pack(base_offset, MARKER_BATCH_BYTES - 12, partition_leader_epoch, 2, _crc32c(checked)) + checked
    )


def decode_control(record: Record) -> EndTxnMarker | OtherControl:
    """Decode a record of a control batch.

    Marker values of a later version are decoded as version 0, as Kafka does.

    Raises:
        WireError: The key or value is too short, or its version is negative.
    """
    key, value = record.key, record.value
    if key is None or len(key) < _KEY.size:
        raise WireError(f"the key of a control record takes {_KEY.size} bytes", "key", 0)
    version, control_type = _KEY.unpack_from(key)
    if version < 0:
        raise WireError(f"version {version} of a control record's key", "key.version", 0)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return OtherControl(control_type, value)
    if value is None or len(value) < _MARKER.size:
        raise WireError(f"the value of a transaction marker takes {_MARKER.size} bytes", "value", 0)
    version, coordinator_epoch = _MARKER.unpack_from(value)
    if version < 0:
        raise WireError(f"version {version} of a transaction marker", "value.version", 0)
    return EndTxnMarker(control_type == ControlType.COMMIT, coordinator_epoch)
