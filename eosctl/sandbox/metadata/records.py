"""Batches of the metadata log: record versions of each release, encoding, and decoding."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from eosctl.sandbox.turns import SLICE
from eosctl.wire.errors import WireError
from eosctl.wire.internal.control_records import encode_control_value
from eosctl.wire.internal.metadata import decode_record, encode_record
from eosctl.wire.messages.internal.control.leader_change_message import LeaderChangeMessage, Voter
from eosctl.wire.records.batch import encode_batch, iter_headers, iter_records
from eosctl.wire.records.control import ControlType
from eosctl.wire.records.record import Record

#: metadata.version of the last release with the records of 3.9 (MetadataVersion.IBP_3_9_IV0).
METADATA_3_9 = 21
_SINCE_4_3: dict[str, int] = {
    "RegisterBrokerRecord": 4,
    "BrokerRegistrationChangeRecord": 3,
    "PartitionRecord": 2,
    "PartitionChangeRecord": 2,
}
#: Record versions other than 0, by the first release that writes them (MetadataVersion).
_VERSIONS: dict[str, dict[str, int]] = {
    "3.9": {
        "RegisterBrokerRecord": 3,
        "BrokerRegistrationChangeRecord": 2,
        "PartitionRecord": 1,
        "PartitionChangeRecord": 1,
    },
    "4.3": _SINCE_4_3,
    "4.4": _SINCE_4_3,
}
_CONTROL_KEY = struct.Struct(">hh")
MAX_BATCH_RECORDS = 10_000  # Kafka limits the records of an atomic append in the same way.


class ReplayedBatch(NamedTuple):
    """A decoded batch of the metadata log; control batches have no records.

    `timestamp` is its max timestamp (ms). `is_whole` is whether all of its records are known.
    """

    base_offset: int
    last_offset: int
    epoch: int
    records: Sequence[Any]
    timestamp: int = -1
    size_bytes: int = 0
    is_whole: bool = True


def encode_metadata_batch(records: Sequence[Any], release: str, base_offset: int, epoch: int, now_ms: int) -> bytes:
    """Encode records as one atomic batch."""
    parts = [encode_metadata_record(record, release, now_ms) for record in records]
    return encode_batch(parts, base_offset=base_offset, partition_leader_epoch=epoch)


def encode_metadata_record(record: Any, release: str, now_ms: int) -> Record:
    """Encode a record as a part of a batch."""
    version = _VERSIONS[release].get(type(record).__name__, 0)
    return Record(0, now_ms, None, encode_record(record, version))


def encode_leader_change(leader_id: int, voters: Sequence[int], base_offset: int, epoch: int, now_ms: int) -> bytes:
    """Encode the control batch that starts a leader's epoch."""
    message = LeaderChangeMessage(0, leader_id, [Voter(voter) for voter in voters], [Voter(leader_id)])
    return encode_control(ControlType.LEADER_CHANGE, message, base_offset, epoch, now_ms)


def encode_control(kind: ControlType, value: Struct, base_offset: int, epoch: int, now_ms: int) -> bytes:
    """Encode one control record of version 0 as a batch."""
    record = Record(0, now_ms, _CONTROL_KEY.pack(0, kind), encode_control_value(value, 0))
    return encode_batch([record], base_offset=base_offset, partition_leader_epoch=epoch, control=True)


def replay_batches(data: bytes) -> Iterator[ReplayedBatch]:
    """Decode consecutive batches of the metadata log; skip records of unknown types."""
    return (batch for batch in replay_steps(data) if batch is not None)


def replay_steps(data: bytes) -> Iterator[ReplayedBatch | None]:
    """Decode consecutive batches as `replay_batches` does, with a step (None) between the slices of a large one."""
    for position, header in iter_headers(data):
        records: list[Any] = []
        is_whole = True
        if not header.is_control:
            for part in iter_records(data[position : position + header.size_bytes], header, SLICE):
                if records:
                    yield None
                for record in part:
                    try:
                        records.append(decode_record(record.value or b""))
                    except WireError:  # A record of a newer release, which nothing here depends on.
                        is_whole = False
        yield ReplayedBatch(
            base_offset=header.base_offset,
            last_offset=header.last_offset,
            epoch=header.partition_leader_epoch,
            records=records,
            timestamp=header.max_timestamp,
            size_bytes=header.size_bytes,
            is_whole=is_whole,
        )
