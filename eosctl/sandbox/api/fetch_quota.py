"""The quotas of fetches: smaller reads, and empty responses for clients above them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.fetch_sessions import NO_SESSION_ID, CachedPartition, FetchContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData

SIZE_BYTES = 4


def within_quota(broker: BrokerServices, context: RequestContext, request: FetchRequest) -> FetchRequest:
    """Return the request with at most as many bytes as the client's quota allows in its windows."""
    most = broker.fetch_quota.limit_bytes(context.principal, context.client_id, request.max_bytes)
    if most >= request.max_bytes:
        return request
    return replace(request, max_bytes=most, min_bytes=min(most, request.min_bytes))


def throttled_reply(
    broker: BrokerServices,
    context: RequestContext,
    opened: FetchContext,
    results: Sequence[tuple[CachedPartition, PartitionData]],
) -> FetchResponse | None:
    """Count a response to a consumer; return an empty one instead if it exceeds a quota.

    The records of an empty response do not count, and a session that it would have opened is closed.
    """
    quota = broker.fetch_quota
    if not broker.metadata.quotas or not (quota.is_active or broker.request_quota.is_active):
        return None
    throttle_ms, now_ms = broker.request_throttle_ms(context), broker.runtime.now_ms()
    if quota.is_active:
        principal, client_id = context.principal, context.client_id
        size_bytes = _size_of(context.api_version, opened, results)
        throttle_ms = max(throttle_ms, quota.record(principal, client_id, size_bytes, now_ms))
        if throttle_ms:
            quota.record(principal, client_id, -size_bytes, now_ms)
    if not throttle_ms:
        return None
    broker.throttle(context, throttle_ms)
    if opened.incremental:
        return FetchResponse(throttle_ms, 0, opened.session.session_id)
    broker.fetch_sessions.close(opened.session)
    return FetchResponse(throttle_ms, 0, NO_SESSION_ID)


def _size_of(version: int, opened: FetchContext, results: Sequence[tuple[CachedPartition, PartitionData]]) -> int:
    topics: dict[tuple[str, bytes], list[PartitionData]] = {}
    for cached, data in results:
        if not opened.incremental or cached.has_changes(data):
            topics.setdefault(cached.topic, []).append(data)
    response = FetchResponse(
        session_id=opened.session.session_id,
        responses=[FetchableTopicResponse(name, topic_id, data) for (name, topic_id), data in topics.items()],
    )
    return SIZE_BYTES + len(codec(ApiKey.FETCH, version).encode_response(response))
