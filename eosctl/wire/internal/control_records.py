"""Values of control records that only KRaft writes: leader changes, snapshots, and voters (KIP-595, KIP-853).

Their first field is the version. Transaction markers are in `eosctl.wire.records.control`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.wire.generated.index import RECORDS
from eosctl.wire.internal.versioned import UnknownRecordError, load_version, read_prefix

_RECORDS: Final = {
    2: "LeaderChangeMessage",
    3: "SnapshotHeaderRecord",
    4: "SnapshotFooterRecord",
    5: "KRaftVersionRecord",
    6: "VotersRecord",
}


def decode_control_value(control_type: int, data: bytes) -> object:
    """Decode the value of a control record that is not a transaction marker.

    Args:
        control_type: The type in the record's key, 2 to 6.
        data: The value's bytes.

    Raises:
        UnknownRecordError: The type or its version is unknown.
        WireError: The bytes are malformed.
    """
    if control_type not in _RECORDS:
        raise UnknownRecordError(f"control record type {control_type} is not known", "control_type", 0)
    message = RECORDS[f"control.{_RECORDS[control_type]}"][1]
    value: object = load_version(message, read_prefix(data, "version"))[0](data, 0)[0]
    return value


def encode_control_value(value: msgspec.Struct, version: int) -> bytes:
    """Encode the value of a control record.

    Args:
        value: One of the classes of `eosctl.wire.messages.internal.control`; its `version` must be the same.
        version: The version to write.
    """
    return load_version(RECORDS[f"control.{type(value).__name__}"][1], version)[1](value)
