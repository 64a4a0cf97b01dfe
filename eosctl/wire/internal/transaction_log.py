"""Records of `__transaction_state`: the state of the transaction coordinators.

Value version 1 is written when the finalized `transaction.version` is 1 or higher; it adds tagged fields for KIP-890. A
null value is a tombstone: the transactional id has expired.
"""

from __future__ import annotations

from typing import Final, cast

from eosctl.model.transaction import TransactionState
from eosctl.wire.generated.index import RECORDS
from eosctl.wire.internal.versioned import KeyDecoders, VersionDecoders, encode_record_key, encode_versioned
from eosctl.wire.messages.internal.transaction_state.transaction_log import PartitionsSchema as TransactionPartitions
from eosctl.wire.messages.internal.transaction_state.transaction_log import TransactionLogKey as TransactionKey
from eosctl.wire.messages.internal.transaction_state.transaction_log import TransactionLogValue as TransactionValue

__all__ = [
    "TRANSACTION_STATES",
    "TransactionKey",
    "TransactionPartitions",
    "TransactionValue",
    "decode_key",
    "decode_value",
    "encode_key",
    "encode_value",
]

#: The states, indexed by the value of `transaction_status` (`TransactionState.id`).
TRANSACTION_STATES: Final = (
    TransactionState.EMPTY,
    TransactionState.ONGOING,
    TransactionState.PREPARE_COMMIT,
    TransactionState.PREPARE_ABORT,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
    TransactionState.DEAD,
    TransactionState.PREPARE_EPOCH_FENCE,
)
_TYPE, _KEY = RECORDS["transaction_state.TransactionLogKey"]
_VALUE: Final = RECORDS["transaction_state.TransactionLogValue"][1]
_KEYS: Final = KeyDecoders("transaction_state")
_VALUES: Final = VersionDecoders(_VALUE)


def decode_key(data: bytes) -> TransactionKey:
    """Decode a key.

    Raises:
        WireError: The bytes are malformed, or the record type is unknown.
    """
    return cast(TransactionKey, _KEYS.decode(data))


def decode_value(data: bytes) -> TransactionValue:
    """Decode a value of any version.

    Raises:
        WireError: The bytes are malformed, or the version is unknown.
    """
    return cast(TransactionValue, _VALUES.decode(data))


def encode_key(key: TransactionKey) -> bytes:
    """Encode a key."""
    return encode_record_key(_TYPE or 0, _KEY, key)


def encode_value(value: TransactionValue, version: int) -> bytes:
    """Encode a value.

    Args:
        value: The state of a transactional id.
        version: 0, or 1 where `transaction.version` is 1 or higher; 0 omits the tagged fields.
    """
    return encode_versioned(_VALUE, value, version)
