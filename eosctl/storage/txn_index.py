"""The transaction index of a segment: the aborted transactions whose abort marker it contains."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from eosctl.wire.errors import WireError

ENTRY_BYTES: Final = 34
VERSION: Final = 0
_ENTRY: Final = struct.Struct(">hqqqq")


class AbortedTxn(NamedTuple):
    """An aborted transaction of a partition (Kafka's `AbortedTxn`).

    Attributes:
        producer_id: Producer id of the transaction.
        first_offset: Offset of its first record.
        last_offset: Offset of its abort marker.
        last_stable_offset: The partition's last stable offset after this transaction: the first offset of the earliest
            transaction that was still open, else the offset after the marker.
        version: Version of the entry in the file; only 0 exists.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    version: int = VERSION


def encode_aborted_txn(txn: AbortedTxn) -> bytes:
    """Encode an entry of 34 bytes."""
    return _ENTRY.pack(txn.version, txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)


def iter_aborted_txns(data: bytes) -> Iterator[AbortedTxn]:
    """Yield whole entries of any version."""
    for version, producer_id, first_offset, last_offset, last_stable_offset in _ENTRY.iter_unpack(data):
        yield AbortedTxn(producer_id, first_offset, last_offset, last_stable_offset, version)


def decode_aborted_txns(data: bytes) -> list[AbortedTxn]:
    """Decode the entries of a file.

    Raises:
        WireError: The data ends inside an entry, or an entry has a version that Kafka rejects too.
    """
    if len(data) % ENTRY_BYTES:
        raise WireError(f"{len(data) % ENTRY_BYTES} bytes follow the last entry", "entry", len(data))
    txns = list(iter_aborted_txns(data))
    for index, txn in enumerate(txns):
        if txn.version > VERSION or txn.version < 0:
            raise WireError(f"entry {index} has version {txn.version}", "version", index * ENTRY_BYTES)
    return txns


def aborted_txn_fault(txn: AbortedTxn, before: AbortedTxn | None) -> str:
    """Return why a broker cannot have written an entry after another (None: as the first), or "" if it can."""
    if txn.version != VERSION:
        return f"version {txn.version}, known is {VERSION}"
    if min(txn.producer_id, txn.first_offset, txn.last_stable_offset) < 0:
        return f"producer {txn.producer_id}, offset {txn.first_offset}, or {txn.last_stable_offset} is negative"
    if txn.last_offset <= txn.first_offset:
        return f"the marker's offset {txn.last_offset} is not above the first offset {txn.first_offset}"
    if before is not None and txn.last_offset <= before.last_offset:
        return f"the marker's offset {txn.last_offset} does not follow {before.last_offset}"
    return ""


def collect_aborted_txns(
    txns: Sequence[AbortedTxn], fetch_offset: int, upper_bound: int
) -> tuple[list[AbortedTxn], bool]:
    """Return a segment's aborted transactions that a read_committed consumer of an offset range must know.

    Args:
        txns: Entries in the order of their markers.
        fetch_offset: First offset of the range.
        upper_bound: Offset after the last of the range.

    Returns:
        The transactions that overlap the range, and whether later segments cannot contain any more.
    """
    found: list[AbortedTxn] = []
    for index in range(bisect_left(txns, fetch_offset, key=attrgetter("last_offset")), len(txns)):
        txn = txns[index]
        if txn.first_offset < upper_bound:
            found.append(txn)
        if txn.last_stable_offset >= upper_bound:
            return found, True
    return found, False
