"""Write tab-separated lines for coordinators' records with a known layout.

A coordinator writes the same few keys repeatedly, with values that differ in numbers of fixed width: producer id,
epoch, status, offset, and times. The general decoder decodes the bytes between them (partitions, tags, metadata) once.
A later value with the same length and the same bytes there has the same layout, so its numbers have the same positions.
The general decoder handles all other records, including malformed ones.
"""

from __future__ import annotations

from struct import Struct
from struct import error as StructError  # noqa: N812 - an exception with a lower-case name
from typing import Any, Final, cast

from msgspec.structs import replace

from eosctl.analysis.decode.entries import OFFSET_STATES
from eosctl.analysis.decode.outcomes import Outcome
from eosctl.render.decode.fields import tsv_cell
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.internal.transaction_log import TRANSACTION_STATES
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitValue
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record

#: A transaction's value without its tagged fields.
_UNTAGGED: Final[dict[str, Any]] = {
    "previous_producer_id": -1,
    "next_producer_id": -1,
    "client_transaction_version": 0,
    "next_producer_epoch": -1,
    "unknown_tags": (),
}
#: Maximum number of cached keys, and of cached values.
_MOST_KNOWN: Final = 16_384
_MOST_TAG_SIZES: Final = 4


class TransactionLines:
    """Lines of `__transaction_state`, with the columns of `rows.TRANSACTION_COLUMNS`."""

    #: Version, producer id, producer epoch, timeout, status; two times and the tags follow the partitions.
    _HEAD = Struct(">hqhib")
    _TIMES_BYTES = 16
    _STATES = tuple(map(str, TRANSACTION_STATES))

    def __init__(self) -> None:
        """Know nothing."""
        self._line = ""
        self._ids: dict[bytes | None, str] = {}
        self._partitions: dict[int, dict[bytes, str]] = {0: {}, 1: {}}
        self._tag_sizes: dict[int, tuple[int, ...]] = {0: (), 1: ()}

    def start(self, file: str) -> None:
        """Set the file that every line names."""
        self._line = tsv_cell(file).replace("%", "%%") + "\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%s\n"

    def of(self, record: Record, header: BatchHeader, outcome: Outcome) -> str | None:
        """Return a record's line; None if it needs the general decoder."""
        offset, timestamp, key, value, _ = record
        try:
            version, producer_id, epoch, _, status = self._HEAD.unpack_from(value)  # type: ignore[arg-type]
            known, name = self._partitions[version], self._ids[key]
        except (KeyError, StructError, TypeError):
            return None
        assert value is not None
        for size in self._tag_sizes[version]:
            tags = len(value) - size
            partitions = known.get(value[self._HEAD.size : tags - self._TIMES_BYTES] + value[tags:])
            if partitions is not None and 0 <= status < len(self._STATES):
                return self._line % (
                    offset,
                    timestamp,
                    name,
                    self._STATES[status],
                    producer_id,
                    epoch,
                    header.partition_leader_epoch,
                    partitions,
                )
        return None

    def learn(self, record: Record, row: dict[str, Any]) -> None:
        """Cache the general decoder's result for a record, if encoding it again gives the same bytes."""
        _remember(self._ids, record.key, row["transactional_id"])
        if record.value is None:
            return
        value = transaction_log.decode_value(record.value)
        version = int.from_bytes(record.value[:2], "big")
        encoded = transaction_log.encode_value(value, version)
        if encoded != record.value:
            return
        size = len(encoded) - len(transaction_log.encode_value(replace(value, **_UNTAGGED), version)) + (version > 0)
        sizes = self._tag_sizes[version]
        if size not in sizes:
            if len(sizes) == _MOST_TAG_SIZES:
                return
            self._tag_sizes[version] = (*sizes, size)
        tags = len(encoded) - size
        between = encoded[self._HEAD.size : tags - self._TIMES_BYTES] + encoded[tags:]
        _remember(self._partitions[version], between, ",".join(row["partitions"]))


class OffsetLines:
    """Lines of committed offsets in `__consumer_offsets`, with the columns of `rows.OFFSET_COLUMNS`."""

    _HEAD = Struct(">hq")  # version, committed offset
    #: By version: the start of the metadata (from version 3 on after the leader epoch), and the bytes after it.
    _AROUND_METADATA: Final = {0: (10, 8), 1: (10, 16), 2: (10, 8), 3: (14, 8)}

    def __init__(self) -> None:
        """Know nothing."""
        self._line = ""
        self._keys: dict[bytes | None, tuple[str, str]] = {}
        self._metadata: set[bytes] = set()

    def start(self, file: str) -> None:
        """Set the file that every line names."""
        self._line = tsv_cell(file).replace("%", "%%") + "\t%d\t%d\t%s\t%s\t%s\t%d\tOffsetCommit\n"

    def of(self, record: Record, header: BatchHeader, outcome: Outcome) -> str | None:
        """Return a record's line; None if it needs the general decoder."""
        offset, timestamp, key, value, _ = record
        try:
            version, committed = self._HEAD.unpack_from(value)  # type: ignore[arg-type]
            (start, behind), (group, partition) = self._AROUND_METADATA[version], self._keys[key]
        except (KeyError, StructError, TypeError):
            return None
        assert value is not None
        if value[start:-behind] not in self._metadata:
            return None
        return self._line % (offset, timestamp, group, OFFSET_STATES.get(outcome, "committed"), partition, committed)

    def learn(self, record: Record, row: dict[str, Any]) -> None:
        """Cache the general decoder's result for a record, if encoding it again gives the same bytes."""
        if record.value is None or row["record"] != "OffsetCommit":
            return
        version = int.from_bytes(record.value[:2], "big")
        if version not in self._AROUND_METADATA:
            return
        value = cast(OffsetCommitValue, offsets.decode_value(offsets.decode_key(record.key or b""), record.value))
        if offsets.encode_value(value, version) != record.value:
            return
        start, behind = self._AROUND_METADATA[version]
        if len(self._keys) < _MOST_KNOWN:
            self._keys[record.key] = tsv_cell(row["group"]), f"{tsv_cell(row['topic'])}\t{row['partition']}"
        if len(self._metadata) < _MOST_KNOWN:
            self._metadata.add(record.value[start:-behind])


def _remember(known: dict[Any, str], key: bytes | None, text: str) -> None:
    if len(known) < _MOST_KNOWN:
        known[key] = tsv_cell(text)
