"""Records of the internal topics as rows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from eosctl.analysis.decode.outcomes import Outcome
from eosctl.analysis.record_redactor import secret_fields
from eosctl.wire.errors import WireError
from eosctl.wire.internal import metadata, offsets, transaction_log
from eosctl.wire.internal.json_form import camel_case, json_converter
from eosctl.wire.internal.transaction_log import TRANSACTION_STATES
from eosctl.wire.internal.versioned import read_prefix
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record

Row = dict[str, Any]
#: Cache size for decoded keys: an id or a group writes many consecutive records.
_KEYS: Final = 1_024


def transaction_row(record: Record, header: BatchHeader) -> Row:
    """Return the row of a record of `__transaction_state`.

    The state of a tombstone is `Expired`: the transactional id was removed. Times are the coordinator's clock,
    milliseconds since the epoch. The batch's leader epoch is the epoch of the coordinator that wrote it.

    Raises:
        WireError: Key or value are malformed, or the status is unknown.
    """
    if record.key is None:
        raise WireError("a record without key", "key", 0)
    transactional_id = _transaction_key(record.key).transactional_id
    if record.value is None:
        return {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "coordinator_epoch": header.partition_leader_epoch,
            "transactional_id": transactional_id,
            "state": "Expired",
        }
    value = transaction_log.decode_value(record.value)
    if not 0 <= value.transaction_status < len(TRANSACTION_STATES):
        raise WireError(f"transaction status {value.transaction_status} is not a state", "transaction_status", 0)
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "coordinator_epoch": header.partition_leader_epoch,
        "transactional_id": transactional_id,
        "state": _STATE_NAMES[value.transaction_status],
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "timeout_ms": value.transaction_timeout_ms,
        "partitions": [
            f"{entry.topic}-{partition}"
            for entry in value.transaction_partitions or ()
            for partition in entry.partition_ids
        ],
        "updated_at_ms": value.transaction_last_update_timestamp_ms,
        "start_time_ms": value.transaction_start_timestamp_ms,
        "previous_producer_id": value.previous_producer_id,
        "next_producer_id": value.next_producer_id,
        "client_transaction_version": value.client_transaction_version,
    }


@lru_cache(_KEYS)
def _transaction_key(data: bytes) -> transaction_log.TransactionKey:
    return transaction_log.decode_key(data)


@lru_cache(_KEYS)
def _offsets_key(data: bytes) -> tuple[Any, str, str]:
    """Return a key, the name of its type, and its group."""
    key: Any = offsets.decode_key(data)
    group = key.group if hasattr(key, "group") else getattr(key, "group_id", "")
    return key, type(key).__name__.removesuffix("Key"), group


_STATE_NAMES = tuple(str(state) for state in TRANSACTION_STATES)
#: The state of a committed offset, by the outcome of its transaction.
OFFSET_STATES: Final = {
    Outcome.PLAIN: "committed",
    Outcome.COMMITTED: "committed",
    Outcome.ABORTED: "aborted",
    Outcome.OPEN: "pending",
}


def offsets_row(record: Record, header: BatchHeader, outcome: Outcome) -> Row:
    """Return the row of a record of `__consumer_offsets`.

    The state of a committed offset is `committed`, `pending` (its transaction is open), `aborted`, or `tombstone`; a
    group's own records have `group` or `tombstone`.

    Raises:
        WireError: Key or value are malformed or of an unknown type.
    """
    if record.key is None:
        raise WireError("a record without key", "key", 0)
    key, name, group = _offsets_key(record.key)
    row: Row = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "record": name,
        "state": "tombstone",
        "group": group,
    }
    value: Any = None if record.value is None else offsets.decode_value(key, record.value)
    if name != "OffsetCommit":
        row["member"] = getattr(key, "member_id", None)
        if value is None or record.value is None:
            return row
        version = read_prefix(record.value, "version")
        form = json_converter("consumer_offsets", type(value).__name__, version)(value)
        return {**row, "state": "group", "value": form}
    row |= {"topic": key.topic, "partition": key.partition}
    if header.is_transactional:
        row |= {"producer_id": header.producer_id, "producer_epoch": header.producer_epoch}
    if value is None:
        return row
    return row | {
        "state": OFFSET_STATES.get(outcome, "committed"),
        "committed_offset": value.offset,
        "leader_epoch": value.leader_epoch,
        "metadata": value.metadata,
        "commit_timestamp": value.commit_timestamp,
    }


def metadata_row(record: Record) -> Row:
    """Return the row of a record of the metadata log, with masked secrets.

    Raises:
        WireError: The record is malformed or of an unknown type.
    """
    if record.value is None:
        raise WireError("a record without value", "value", 0)
    decoded, version = metadata.decode_whole_record(record.value)
    name = type(decoded).__name__
    form = json_converter("metadata", name, version)(decoded)
    for field, shown in secret_fields(decoded).items():
        form[camel_case(field)] = shown if isinstance(shown, str) else shown.decode()
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "record": name,
        "version": version,
        "value": form,
    }
