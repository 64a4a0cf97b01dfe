"""AlterClientQuotas on the controller (`ClientQuotaControlManager`, KIP-546)."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from math import isnan
from typing import Any, Final

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.metadata.image import QuotaEntity
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_client_quotas as api
from eosctl.wire.messages.internal.metadata.client_quota_record import ClientQuotaRecord, EntityData

_MAX_LONG: Final = 2.0**63
"""Kafka compares with the largest LONG as a DOUBLE."""

USER, CLIENT_ID, IP = "user", "client-id", "ip"
ENTITY_TYPES = (USER, CLIENT_ID, IP)

_CLIENT_QUOTAS: Mapping[str, bool] = {  # Whether the value must be an integer.
    "producer_byte_rate": True,
    "consumer_byte_rate": True,
    "request_percentage": False,
    "controller_mutation_rate": False,
}
_IP_QUOTAS: Mapping[str, bool] = {"connection_creation_rate": True}


def alter_client_quotas(controller: Controller, context: RequestContext, request: api.AlterClientQuotasRequest) -> None:
    """Set and remove quotas. The changes of an entity are all applied or none."""
    records: list[Any] = []
    results = []
    for entry in request.entries:
        entity_data = [api.EntityData(part.entity_type, part.entity_name) for part in entry.entity]
        try:
            records += _plan(controller, entry)
            results.append(api.ResponseEntryData(ErrorCode.NONE, None, entity_data))
        except Refused as refused:
            results.append(api.ResponseEntryData(refused.error, refused.message, entity_data))
    response = api.AlterClientQuotasResponse(0, results)
    controller.write([] if request.validate_only else records, lambda: context.reply(response))


def _plan(controller: Controller, entry: api.RequestEntryData) -> list[Any]:
    entity: QuotaEntity = frozenset((part.entity_type, part.entity_name) for part in entry.entity)
    allowed = _allowed(entity)
    present = controller.image.quotas.get(entity, {})
    if len({change.key for change in entry.ops}) < len(entry.ops):
        raise Refused(ErrorCode.INVALID_REQUEST, "Ignoring duplicate entity")
    parts = [EntityData(part.entity_type, part.entity_name) for part in entry.entity]
    records: list[Any] = []
    for change in entry.ops:
        if change.key not in allowed:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {change.key}")
        if change.remove:
            if change.key in present:
                records.append(ClientQuotaRecord(parts, change.key, 0.0, True))
            continue
        if change.value <= 0:  # Kafka takes NaN for a quota of any kind.
            raise Refused(ErrorCode.INVALID_REQUEST, f"Quota {change.key} must be greater than 0")
        if allowed[change.key] and change.value > _MAX_LONG:
            why = f"Proposed value for {change.key} is too large for a LONG."
            raise Refused(ErrorCode.INVALID_REQUEST, why)
        if allowed[change.key] and not isnan(change.value) and abs(change.value - round(change.value)) > 1e-6:
            raise Refused(ErrorCode.INVALID_REQUEST, f"{change.key} cannot be a fractional value.")
        if present.get(change.key) != change.value:
            records.append(ClientQuotaRecord(parts, change.key, change.value, False))
    return records


def _allowed(entity: QuotaEntity) -> Mapping[str, bool]:
    """Return the quotas that an entity may have, and whether they must be integers."""
    if not entity:
        raise Refused(ErrorCode.INVALID_REQUEST, "Invalid empty client quota entity")
    names: dict[str, str | None] = {}
    for kind, name in entity:
        if kind not in ENTITY_TYPES:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise Refused(ErrorCode.INVALID_REQUEST, f"Empty {kind} not supported")
        names[kind] = name
    if IP not in names:
        return _CLIENT_QUOTAS
    if len(names) > 1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
        )
    address = names[IP]
    if address is not None:
        try:
            ipaddress.ip_address(address)
        except ValueError:  # Host names are not resolved, since the sandbox contacts no other machine.
            raise Refused(ErrorCode.INVALID_REQUEST, f"{address} is not a valid IP or resolvable host.") from None
    return _IP_QUOTAS
