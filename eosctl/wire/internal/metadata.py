"""Records of the KRaft metadata log (`__cluster_metadata`).

A value consists of the frame version (always 1), the record's type, its version, and its fields. The first three are
unsigned varints (`MetadataRecordSerde`). The key is null. Classes are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from eosctl.wire.errors import WireError
from eosctl.wire.generated.index import RECORDS
from eosctl.wire.internal.versioned import UnknownRecordError, find_record, find_record_class, load_version
from eosctl.wire.runtime import LengthError, read_unsigned_varint, unsigned_varint

if TYPE_CHECKING:
    from eosctl.wire.messages.internal.metadata.abort_transaction_record import (
        AbortTransactionRecord as AbortTransactionRecord,
    )
    from eosctl.wire.messages.internal.metadata.access_control_entry_record import (
        AccessControlEntryRecord as AccessControlEntryRecord,
    )
    from eosctl.wire.messages.internal.metadata.begin_transaction_record import (
        BeginTransactionRecord as BeginTransactionRecord,
    )
    from eosctl.wire.messages.internal.metadata.broker_registration_change_record import (
        BrokerRegistrationChangeRecord as BrokerRegistrationChangeRecord,
    )
    from eosctl.wire.messages.internal.metadata.clear_elr_record import ClearElrRecord as ClearElrRecord
    from eosctl.wire.messages.internal.metadata.client_quota_record import ClientQuotaRecord as ClientQuotaRecord
    from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord as ConfigRecord
    from eosctl.wire.messages.internal.metadata.delegation_token_record import (
        DelegationTokenRecord as DelegationTokenRecord,
    )
    from eosctl.wire.messages.internal.metadata.end_transaction_record import (
        EndTransactionRecord as EndTransactionRecord,
    )
    from eosctl.wire.messages.internal.metadata.feature_level_record import FeatureLevelRecord as FeatureLevelRecord
    from eosctl.wire.messages.internal.metadata.fence_broker_record import FenceBrokerRecord as FenceBrokerRecord
    from eosctl.wire.messages.internal.metadata.no_op_record import NoOpRecord as NoOpRecord
    from eosctl.wire.messages.internal.metadata.partition_change_record import (
        PartitionChangeRecord as PartitionChangeRecord,
    )
    from eosctl.wire.messages.internal.metadata.partition_record import PartitionRecord as PartitionRecord
    from eosctl.wire.messages.internal.metadata.producer_ids_record import ProducerIdsRecord as ProducerIdsRecord
    from eosctl.wire.messages.internal.metadata.register_broker_record import (
        RegisterBrokerRecord as RegisterBrokerRecord,
    )
    from eosctl.wire.messages.internal.metadata.register_controller_record import (
        RegisterControllerRecord as RegisterControllerRecord,
    )
    from eosctl.wire.messages.internal.metadata.remove_access_control_entry_record import (
        RemoveAccessControlEntryRecord as RemoveAccessControlEntryRecord,
    )
    from eosctl.wire.messages.internal.metadata.remove_delegation_token_record import (
        RemoveDelegationTokenRecord as RemoveDelegationTokenRecord,
    )
    from eosctl.wire.messages.internal.metadata.remove_topic_record import RemoveTopicRecord as RemoveTopicRecord
    from eosctl.wire.messages.internal.metadata.remove_user_scram_credential_record import (
        RemoveUserScramCredentialRecord as RemoveUserScramCredentialRecord,
    )
    from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord as TopicRecord
    from eosctl.wire.messages.internal.metadata.unfence_broker_record import UnfenceBrokerRecord as UnfenceBrokerRecord
    from eosctl.wire.messages.internal.metadata.unregister_broker_record import (
        UnregisterBrokerRecord as UnregisterBrokerRecord,
    )
    from eosctl.wire.messages.internal.metadata.user_scram_credential_record import (
        UserScramCredentialRecord as UserScramCredentialRecord,
    )
    from eosctl.wire.messages.internal.metadata.zk_migration_state_record import (
        ZkMigrationStateRecord as ZkMigrationStateRecord,
    )

_TOPIC: Final = "metadata"
_FRAME_VERSION: Final = 1
_MESSAGES: Final = {number: message for name, (number, message) in RECORDS.items() if name.startswith("metadata.")}


def decode_record(data: bytes) -> object:
    """Decode a record into the class of its type, such as `PartitionRecord`.

    Raises:
        UnknownRecordError: The record's type or version is unknown.
        WireError: The bytes are malformed.
    """
    return _decode(data)[0]


def decode_whole_record(data: bytes) -> tuple[msgspec.Struct, int]:
    """Decode a record that fills the buffer; return the record and its version.

    Raises:
        UnknownRecordError: The record's type or version is unknown.
        WireError: The bytes are malformed, or contain more than one record.
    """
    message, version, end = _decode(data)
    if end != len(data):
        raise WireError(f"metadata record: {len(data) - end} bytes are left", "record", end)
    return message, version


def _decode(data: bytes) -> tuple[msgspec.Struct, int, int]:
    try:
        frame_version, position = read_unsigned_varint(data, 0)
        record_type, position = read_unsigned_varint(data, position)
        version, position = read_unsigned_varint(data, position)
    except (IndexError, LengthError):
        raise WireError("metadata record: the prefix is cut", "record_type", len(data)) from None
    if frame_version != _FRAME_VERSION:
        raise WireError(f"metadata record: frame version {frame_version}", "frame_version", 0)
    if record_type not in _MESSAGES:
        raise UnknownRecordError(f"metadata record type {record_type} is not known", "record_type", 1)
    message, end = load_version(_MESSAGES[record_type], version)[0](data, position)
    return message, version, end


def encode_record(record: msgspec.Struct, version: int) -> bytes:
    """Encode a record with its prefix.

    Raises:
        UnknownRecordError: The version is unknown.
        TypeError: The value is not a metadata record.
    """
    number, message = find_record(_TOPIC, record)
    prefix = unsigned_varint(_FRAME_VERSION) + unsigned_varint(number) + unsigned_varint(version)
    return prefix + load_version(message, version)[1](record)


def __getattr__(name: str) -> Any:
    return find_record_class(_TOPIC, name)
