"""Mask the secrets in records of the metadata log and of Connect's topic of settings.

The rules for the metadata log are those of Kafka's `RecordRedactor`: values of settings that are passwords or that no
release declares, and the salt and keys of SCRAM credentials. Ids of delegation tokens are masked as well: with the
secret key of the cluster they are the tokens. In Connect's topic (`config.storage.topic`), whose name is free, the keys
of `KafkaConfigBackingStore` say what a record is; of its settings the names decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.redaction import redact_line, redact_text
from eosctl.model.secret import MASK
from eosctl.wire.errors import WireError
from eosctl.wire.internal.metadata import decode_whole_record, encode_record
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord
from eosctl.wire.messages.internal.metadata.remove_delegation_token_record import RemoveDelegationTokenRecord
from eosctl.wire.messages.internal.metadata.user_scram_credential_record import UserScramCredentialRecord
from eosctl.wire.records.record import Record

#: Of a ConfigRecord's `resource_type`; Kafka declares the settings of these two and takes all others for secrets.
_COMPONENTS: Final = {2: "topic", 4: "broker"}
_LISTENER: Final = re.compile(r"listener\.name\.[^.]+\.")
_CONNECT_KEYS: Final = (b"connector-", b"task-")
_CONNECT_SESSION_KEY: Final = b"session-key"
#: What a record that can hold a secret starts with: frame version, type.
_FRONTS: Final = tuple(bytes((1, record_type)) for record_type in (4, 10, 11, 26))


def secret_fields(record: object) -> Mapping[str, str | bytes]:
    """Return the fields of a decoded metadata record that hold secrets, with what is shown in their place."""
    match record:
        case ConfigRecord(value=str(value)):
            shown = MASK if is_sensitive(record.resource_type, record.name) else redact_text(value)
            return {"value": shown} if shown != value else {}
        case UserScramCredentialRecord():
            return dict.fromkeys(("salt", "stored_key", "server_key"), MASK.encode())
        case DelegationTokenRecord() | RemoveDelegationTokenRecord():
            return {"token_id": MASK}
    return {}


def is_sensitive(resource_type: int, name: str) -> bool:
    """Return whether the value of a dynamic setting is a secret: a password, or a setting that no release declares."""
    parameter_type = _types(_COMPONENTS.get(resource_type, "")).get(_LISTENER.sub("", name, count=1))
    return parameter_type in (None, "password")


@cache
def _types(component: str) -> Mapping[str, str]:
    table = load_tables().get(component)
    return {} if table is None else {name: parameter.type for name, parameter in table.parameters.items()}


def redact_metadata_value(data: bytes) -> bytes:
    """Return the value of a metadata record with its secrets masked; the same bytes if it holds none.

    Raises:
        WireError: The bytes are not exactly one record of a type and version that are known here.
    """
    record, version = decode_whole_record(data)
    fields = secret_fields(record)
    # A tag of a later release may hold anything.
    has_tags = bool(getattr(record, "unknown_tags", ()))
    return encode_record(replace(record, **fields, unknown_tags=()), version) if fields or has_tags else data


def redact_records(records: Iterable[Record], *, in_metadata_log: bool) -> list[Record]:
    """Return records with the secrets of the metadata log masked.

    Args:
        records: Records of any topic; not those of a control batch.
        in_metadata_log: Whether they are known to be from the metadata log: then all that cannot be decoded is masked.
            Elsewhere, a value without key that is exactly a metadata record with secrets is taken for one, since
            segments are copied and renamed; one with a key of Connect's and its settings is masked as well.
    """
    if in_metadata_log:
        return [_redact_known(record) for record in records]
    return [_redact_likely(record) if record.value else record for record in records]


def _redact_known(record: Record) -> Record:
    try:
        if record.key is None and not record.headers and record.value is not None:
            return record._replace(value=redact_metadata_value(record.value))
    except WireError:
        pass
    key, value = (None if data is None else MASK.encode() for data in (record.key, record.value))
    return record._replace(key=key, value=value, headers=())


def _redact_likely(record: Record) -> Record:
    key, value = record.key, record.value or b""
    if key is None and value.startswith(_FRONTS):
        try:
            return record._replace(value=redact_metadata_value(value))
        except WireError:
            return record
    if key == _CONNECT_SESSION_KEY:
        return record._replace(value=MASK.encode())
    if key is not None and key.startswith(_CONNECT_KEYS) and b'"properties"' in value:
        return record._replace(value=redact_line(value))
    return record
