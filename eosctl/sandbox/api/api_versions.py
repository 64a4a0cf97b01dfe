r"""ApiVersions (key 18, versions 0 to 4, and 5 on 4.4): the APIs of this broker (KIP-511, KIP-584, KIP-1242).

- An unsupported version is answered in version 0 with UNSUPPORTED_VERSION and the versions of this API only.
- From version 3, the client's name and version must match `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`.
- From version 5, a client may name the cluster and the node that it expects; another one gets REBOOTSTRAP_REQUIRED.
- Up to version 3, supported features with a minimum of 0 are omitted (KAFKA-17011).
- The epoch of the finalized features is the offset of this broker's metadata (`KRaftMetadataCache.features`).
"""

from __future__ import annotations

import re
from functools import cache

from eosctl.sandbox.api.registry import client_versions
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.features import FEATURES
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.sandbox.replies import IdentifiedReply
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

ANY_NODE = -1
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(broker: BrokerServices, context: RequestContext, request: ApiVersionsRequest) -> None:
    """Return APIs, supported features, and finalized features."""
    version = context.api_version
    served = client_versions(ApiKey.API_VERSIONS, broker.emulation)
    if version not in served:
        own = ApiVersion(ApiKey.API_VERSIONS, served.start, served.stop - 1)
        context.reply(ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, [own]))
        return
    if version >= 3 and not (
        _SOFTWARE.fullmatch(request.client_software_name) and _SOFTWARE.fullmatch(request.client_software_version)
    ):
        context.reply(ApiVersionsResponse(ErrorCode.INVALID_REQUEST))
        return
    if error := _wrong_node(broker, request):
        context.reply(ApiVersionsResponse(error))
        return
    if version >= 3 and isinstance(context.reply, IdentifiedReply):
        context.reply.identify(request.client_software_name, request.client_software_version)
    supported = [
        SupportedFeatureKey(name, levels.minimum, levels.maximum)
        for name, levels in FEATURES[broker.emulation.release].items()
        if version >= 4 or levels.minimum > 0
    ]
    finalized = [FinalizedFeatureKey(name, level, level) for name, level in sorted(broker.metadata.features.items())]
    context.reply(
        ApiVersionsResponse(
            error_code=0,
            api_keys=announced_apis(broker.emulation),
            throttle_time_ms=0,
            supported_features=supported,
            finalized_features_epoch=broker.metadata.last_offset,
            finalized_features=finalized,
        )
    )


def _wrong_node(broker: BrokerServices, request: ApiVersionsRequest) -> ErrorCode:
    """Return the error of a client that expects another cluster or node; a client names both, or neither."""
    if request.cluster_id is None and request.node_id == ANY_NODE:
        return ErrorCode.NONE
    if not request.cluster_id or request.node_id < 0:
        return ErrorCode.INVALID_REQUEST
    if (request.cluster_id, request.node_id) != (broker.cluster_id, broker.node_id):
        return ErrorCode.REBOOTSTRAP_REQUIRED
    return ErrorCode.NONE


@cache
def announced_apis(emulation: Emulation) -> list[ApiVersion]:
    """Return the APIs that a broker of this release lists for a client listener."""
    apis = []
    for key in ApiKey:
        versions = client_versions(key, emulation)
        if key == ApiKey.PRODUCE:
            versions = range(versions.stop)
        if len(versions):
            apis.append(ApiVersion(key, versions.start, versions.stop - 1))
    return apis
