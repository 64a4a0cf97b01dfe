"""ListConfigResources (key 74, versions 0 and 1; 3.9 serves 0 as ListClientMetricsResources; KIP-714, KIP-1142).

- Version 0 and 3.9 list client metrics only; version 1 lists resources by type.
- All topics, brokers, and broker loggers are listed; groups and client metrics only with settings of their own.
- Types that cannot be listed are UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.sandbox.api.broker_loggers import LOGGER_RESOURCE
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.metadata import image
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.telemetry.subscription import CLIENT_METRICS_RESOURCE
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

LISTABLE = (
    image.TOPIC_RESOURCE,
    image.BROKER_RESOURCE,
    LOGGER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    image.GROUP_RESOURCE,
)


def handle(broker: BrokerServices, context: RequestContext, request: ListConfigResourcesRequest) -> None:
    """List the resources of the requested types, or of all types."""
    types = (CLIENT_METRICS_RESOURCE,) if context.api_version == 0 else tuple(request.resource_types) or LISTABLE
    if not set(types) <= set(LISTABLE):
        context.reply(ListConfigResourcesResponse(0, ErrorCode.UNSUPPORTED_VERSION))
        return
    resources = [ConfigResource(name, kind) for kind in dict.fromkeys(types) for name in _names(broker, kind)]
    context.reply(ListConfigResourcesResponse(0, 0, resources))


def _names(broker: BrokerServices, resource_type: int) -> Iterable[str]:
    metadata = broker.metadata
    if resource_type == image.TOPIC_RESOURCE:
        return sorted(metadata.topics)
    if resource_type in (image.BROKER_RESOURCE, LOGGER_RESOURCE):
        return [str(other.broker_id) for other in metadata.active_brokers()]
    return sorted(name for kind, name in metadata.configs if kind == resource_type)


def guard(access: Access, request: ListConfigResourcesRequest) -> None:
    """Require DESCRIBE_CONFIGS on the cluster."""
    if access.may_cluster(AclOperation.DESCRIBE_CONFIGS):
        access.proceed(request)
    else:
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        access.reply(ListConfigResourcesResponse(0, error))
