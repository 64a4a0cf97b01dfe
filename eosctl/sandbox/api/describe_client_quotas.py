"""DescribeClientQuotas (key 48, versions 0 to 1): configured quotas (KIP-546)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.quotas import ENTITY_TYPES, IP
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.metadata.image import QuotaEntity
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)


class MatchType(IntEnum):
    """How a filter component matches entities."""

    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


def handle(broker: BrokerServices, context: RequestContext, request: DescribeClientQuotasRequest) -> None:
    """Describe the entities that match all components."""
    try:
        _check(request.components)
    except Refused as refused:
        context.reply(DescribeClientQuotasResponse(0, refused.error, refused.message, None))
        return
    entries = [
        EntryData(
            [EntityData(kind, name) for kind, name in sorted(entity, key=lambda part: part[0])],
            [ValueData(key, value) for key, value in values.items()],
        )
        for entity, values in broker.metadata.quotas.items()
        if _selects(request, entity)
    ]
    context.reply(DescribeClientQuotasResponse(0, ErrorCode.NONE, "", entries))


def _check(components: Sequence[ComponentData]) -> None:
    seen: set[str] = set()
    for component in components:
        kind, match_type, match = component.entity_type, component.match_type, component.match
        if not kind:
            raise Refused(ErrorCode.INVALID_REQUEST, "Invalid empty entity type.")
        if kind in seen:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in ENTITY_TYPES:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        seen.add(kind)
        if match_type not in tuple(MatchType):
            raise Refused(ErrorCode.INVALID_REQUEST, f"Unknown match type {match_type}")
        if (match is None) is (match_type == MatchType.EXACT):
            name = f"MATCH_TYPE_{MatchType(match_type).name}"
            wrong = "set match string to null" if match is None else "also specified a match string"
            raise Refused(ErrorCode.INVALID_REQUEST, f"Request specified {name}, but {wrong}.")
    if IP in seen and len(seen) > 1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId "
            "filter component.",
        )


def _selects(request: DescribeClientQuotasRequest, entity: QuotaEntity) -> bool:
    names = dict(entity)
    if request.strict and len(names) != len(request.components):
        return False
    return all(
        one.entity_type in names and (one.match_type == MatchType.SPECIFIED or names[one.entity_type] == one.match)
        for one in request.components
    )


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(
    AclOperation.DESCRIBE_CONFIGS, lambda _: DescribeClientQuotasResponse(0, DENIED, kafka_text(DENIED), None)
)
