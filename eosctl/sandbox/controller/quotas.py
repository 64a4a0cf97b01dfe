"""AlterClientQuotas on the controller (`ClientQuotaControlManager`, KIP-546)."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import Any, Final, NamedTuple

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.metadata.image import QuotaEntity
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_client_quotas as api
from eosctl.wire.messages.internal.metadata.client_quota_record import ClientQuotaRecord, EntityData

_MAX_INT: Final = 2.0**31 - 1
_MAX_LONG: Final = 2.0**63
"""Kafka compares with the largest LONG as a DOUBLE."""

USER, CLIENT_ID, IP = "user", "client-id", "ip"
ENTITY_TYPES = (USER, CLIENT_ID, IP)


class _Kind(NamedTuple):
    """The type of an integer quota and its largest value."""

    name: str
    largest: float


_LONG: Final = _Kind("a LONG", _MAX_LONG)
_CLIENT_QUOTAS: Mapping[str, _Kind | None] = {  # None for a quota that may be a fraction.
    "producer_byte_rate": _LONG,
    "consumer_byte_rate": _LONG,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_QUOTAS: Mapping[str, _Kind | None] = {"connection_creation_rate": _Kind("an INT", _MAX_INT)}

_Names = dict[str, str | None]
"""An entity: its names by type, None for the default."""


def alter_client_quotas(controller: Controller, context: RequestContext, request: api.AlterClientQuotasRequest) -> None:
    """Set and remove quotas. The changes of an entry are all applied or none.

    A later entry of the same entity is rejected, and its error is the entity's only result; the first one is applied.
    """
    records: list[Any] = []
    results: dict[QuotaEntity, api.ResponseEntryData] = {}
    for entry in request.entries:
        names = {part.entity_type: part.entity_name for part in entry.entity}
        entity = frozenset(names.items())
        error, message = ErrorCode.NONE, None
        if entity in results or len({change.key for change in entry.ops}) < len(entry.ops):
            error, message = ErrorCode.INVALID_REQUEST, f"Ignoring duplicate entity {_render(names)}"
        else:
            try:
                records += _plan(controller, names, entry.ops)
            except Refused as refused:
                error, message = refused.error, refused.message
        parts = [api.EntityData(kind, name) for kind, name in names.items()]
        results[entity] = api.ResponseEntryData(error, message, parts)
    response = api.AlterClientQuotasResponse(0, list(results.values()))
    controller.write([] if request.validate_only else records, lambda: context.reply(response))


def _render(names: _Names) -> str:
    """Return `ClientQuotaEntity.toString`."""
    entries = [f"{kind}={'null' if names[kind] is None else names[kind]}" for kind in hash_order(names, len(names))]
    return f"ClientQuotaEntity(entries={{{', '.join(entries)}}})"


def _plan(controller: Controller, names: _Names, changes: Sequence[api.OpData]) -> list[Any]:
    allowed = _allowed(names)
    present = controller.image.quotas.get(frozenset(names.items()), {})
    parts = [EntityData(kind, name) for kind, name in names.items()]
    records: list[Any] = []
    by_key = {change.key: change for change in changes}
    for key in hash_order(by_key, len(by_key)):
        change = by_key[key]
        if change.remove:
            if key in present:
                records.append(ClientQuotaRecord(parts, key, 0.0, True))
            continue
        if key not in allowed:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {key}")
        problem = _problem(key, change.value, allowed[key], takes_infinity=controller.emulation.is_before_4_4)
        if problem is not None:
            raise Refused(ErrorCode.INVALID_REQUEST, problem)
        if present.get(key) != change.value:
            records.append(ClientQuotaRecord(parts, key, change.value, False))
    return records


def _problem(key: str, value: float, kind: _Kind | None, *, takes_infinity: bool) -> str | None:
    """Return why a value is rejected; None for a valid one. Kafka before 4.4 takes NaN for a quota of any type."""
    if not takes_infinity and not isfinite(value):
        return f"Quota {key} must be a finite number"
    if value <= 0:
        return f"Quota {key} must be greater than 0"
    if kind is not None and value > kind.largest:
        return f"Proposed value for {key} is too large for {kind.name}."
    if kind is not None and not isnan(value) and abs(value - round(value)) > 1e-6:
        return f"{key} cannot be a fractional value."
    return None


def _allowed(names: _Names) -> Mapping[str, _Kind | None]:
    """Return the quotas that an entity may have."""
    if not names:
        raise Refused(ErrorCode.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind in hash_order(names, len(names)):
        name = names[kind]
        if kind not in ENTITY_TYPES:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise Refused(ErrorCode.INVALID_REQUEST, f"Empty {kind} not supported")
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
