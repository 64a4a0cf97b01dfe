"""ShareFetch (key 78, versions 1 and 2; KIP-932, KIP-1206, KIP-1222).

- A session begins with epoch 0, names its partitions once, and ends with epoch -1. Acknowledgements may be part of all
  but the first request.
- Records are acquired for the member when they are read. The response waits for `min_bytes` up to `max_wait_ms`, and
  until the acknowledgements of the request are durable.
- A session ends with its connection, too. Then another member gets the records without waiting for their locks.
- Groups read uncommitted records unless `share.isolation.level` is set; then records of aborted transactions are
  archived.
- Not implemented: quotas.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.share_acknowledge import (
    FIRST_RENEW_VERSION,
    Member,
    Outcomes,
    acknowledge_all,
    member_error,
    read_batches,
    release_session,
)
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.share.state import SharePartitionKey
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replies import ConnectionReply
from eosctl.sandbox.security.access import may
from eosctl.sandbox.security.acls import ResourceType
from eosctl.sandbox.share.delayed_fetch import DelayedShareFetch, Fetched, FetchWish
from eosctl.sandbox.share.sessions import FINAL_EPOCH, INITIAL_EPOCH, SharedTopicPartition, ShareSession
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_fetch import (
    AcquiredRecords,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

LEADER_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def handle(broker: BrokerServices, context: RequestContext, request: ShareFetchRequest) -> None:
    """Acquire records for a member, and acknowledge earlier ones."""
    error = member_error(broker, context, request.group_id, request.member_id)
    renews = request.is_renew_ack and context.api_version >= FIRST_RENEW_VERSION
    if error is ErrorCode.NONE and renews and _fetches(request):
        error = ErrorCode.INVALID_REQUEST
    session = _session(broker, context, request) if error is ErrorCode.NONE else error
    if session is ErrorCode.SHARE_SESSION_LIMIT_REACHED:
        refusal = ShareFetchResponse(error_code=session)
        broker.runtime.call_later(request.max_wait_ms, lambda: context.reply(refusal))
    elif isinstance(session, ErrorCode):
        context.reply(ShareFetchResponse(error_code=session))
    else:
        ShareFetch(broker, context, request, session, renews).start()


def _fetches(request: ShareFetchRequest) -> bool:
    """Return whether a request requests records; one that renews locks must not."""
    return bool(request.max_bytes or request.min_bytes or request.max_records or request.max_wait_ms)


def _client_lost(broker: BrokerServices, member: Member, session: ShareSession) -> None:
    """End the session of a client that disconnected, which returns its records immediately."""
    if broker.share_sessions.find(*member) is session:
        release_session(broker, member)
    if not broker.share_sessions.has_members(member.group_id):
        broker.share_partitions.forget_group(member.group_id)


def _session(broker: BrokerServices, context: RequestContext, request: ShareFetchRequest) -> ShareSession | ErrorCode:
    epoch, sessions = request.share_session_epoch, broker.share_sessions
    group_id, member_id = request.group_id or "", request.member_id or ""
    named = [
        SharedTopicPartition(topic.topic_id, part.partition_index)
        for topic in request.topics
        for part in topic.partitions
    ]
    is_known = not broker.emulation.is_before_4_4 or all(
        broker.metadata.topic_name(topic.topic_id) is not None for topic in request.topics
    )
    if epoch == INITIAL_EPOCH:
        if any(part.acknowledgement_batches for topic in request.topics for part in topic.partitions):
            return ErrorCode.INVALID_REQUEST
        created = sessions.create(group_id, member_id, named)
        if isinstance(created, ShareSession) and isinstance(context.reply, ConnectionReply):
            member = Member(group_id, member_id)
            context.reply.on_close(("share session", member), partial(_client_lost, broker, member, created))
        return created if is_known else ErrorCode.UNKNOWN_SERVER_ERROR
    session = sessions.advance(group_id, member_id, epoch)
    if isinstance(session, ShareSession) and epoch != FINAL_EPOCH:
        forgotten = [
            SharedTopicPartition(topic.topic_id, index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        ]
        session.update(named, forgotten)
        if not is_known:  # 4.3.1 fails with a null pointer.
            return ErrorCode.UNKNOWN_SERVER_ERROR
    return session


class ShareFetch:
    """A request, from its two parts to its response."""

    def __init__(
        self,
        broker: BrokerServices,
        context: RequestContext,
        request: ShareFetchRequest,
        session: ShareSession,
        renews: bool,
    ) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._session = session
        self._renews = renews
        self._member = Member(request.group_id or "", request.member_id or "")
        self._outcomes: Outcomes | None = None
        self._fetched: Mapping[SharedTopicPartition, Fetched] | None = None

    def start(self) -> None:
        """Acknowledge, then fetch."""
        batches = {
            SharedTopicPartition(topic.topic_id, part.partition_index): read_batches(part.acknowledgement_batches)
            for topic in self._request.topics
            for part in topic.partitions
            if part.acknowledgement_batches
        }
        acknowledge_all(self._broker, self._context, self._member, batches, self._renews, self._acknowledged)
        if self._renews or self._request.share_session_epoch == FINAL_EPOCH:
            self._finish({})
        else:
            self._fetch()

    def _acknowledged(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self._answer()

    def _finish(self, fetched: Mapping[SharedTopicPartition, Fetched]) -> None:
        self._fetched = fetched
        self._answer()

    def _fetch(self) -> None:
        request, refused, wanted = self._request, dict[SharedTopicPartition, Fetched](), list[SharedTopicPartition]()
        for shared in self._session.must_respond:
            error = self._partition_error(shared)
            if error is ErrorCode.NONE:
                wanted.append(shared)
            else:
                refused[shared] = Fetched(error)
        if wanted and request.share_session_epoch >= 1:
            turn = request.share_session_epoch % len(wanted)
            wanted = wanted[turn:] + wanted[:turn]
        max_bytes = min(request.max_bytes, self._broker.config.get_int("fetch.max.bytes"))
        wish = FetchWish(
            member_id=self._member.member_id,
            max_wait_ms=request.max_wait_ms,
            min_bytes=min(request.min_bytes, max_bytes),
            max_bytes=max_bytes,
            max_records=request.max_records,
            batch_size=request.batch_size,
            mode=request.share_acquire_mode,
        )
        keys = {SharePartitionKey(self._member.group_id, *shared): shared for shared in wanted}

        def fetched(found: Mapping[SharePartitionKey, Fetched]) -> None:
            self._finish({**{keys[key]: result for key, result in found.items()}, **refused})

        if wanted and wish.max_records and wish.max_bytes:
            DelayedShareFetch(self._broker.share_partitions, self._broker.runtime, list(keys), wish, fetched).start()
        else:
            self._finish(refused)

    def _partition_error(self, shared: SharedTopicPartition) -> ErrorCode:
        name = self._broker.metadata.topic_name(shared.topic_id)
        if name is None:  # Before 4.4, the topic was deleted since it was added to the session.
            is_old = self._broker.emulation.is_before_4_4
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_old else ErrorCode.UNKNOWN_TOPIC_ID
        if not may(self._broker, self._context, AclOperation.READ, ResourceType.TOPIC, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if self._broker.metadata.partition(TopicPartition(name, shared.partition)) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NONE

    def _answer(self) -> None:
        if self._fetched is None or self._outcomes is None:
            return
        is_full, endpoints = self._request.share_session_epoch == INITIAL_EPOCH, dict[int, NodeEndpoint]()
        topics: dict[bytes, list[PartitionData]] = {}
        for shared in {**self._fetched, **self._outcomes}:
            found, outcome = self._fetched.get(shared), self._outcomes.get(shared)
            if found is not None:
                has_records, has_error = bool(found.records), found.error is not ErrorCode.NONE
                responds = self._session.responds_with(shared, has_records=has_records, has_error=has_error)
                if not (responds or is_full):
                    found = None
            if found is None and outcome is None:
                continue
            found = found or Fetched()
            data = PartitionData(
                partition_index=shared.partition,
                error_code=found.error,
                error_message=found.message,
                acknowledge_error_code=0 if outcome is None else outcome.error,
                acknowledge_error_message=None if outcome is None else outcome.message,
                current_leader=self._leader(shared, endpoints) if found.error in LEADER_ERRORS else LeaderIdAndEpoch(),
                records=found.records,
                acquired_records=[AcquiredRecords(*acquired) for acquired in found.acquired],
            )
            topics.setdefault(shared.topic_id, []).append(data)
        if self._request.share_session_epoch == FINAL_EPOCH:
            release_session(self._broker, self._member)
        self._context.reply(
            ShareFetchResponse(
                acquisition_lock_timeout_ms=self._broker.share_partitions.limits(
                    self._member.group_id
                ).lock_duration_ms,
                responses=[ShareFetchableTopicResponse(topic_id, data) for topic_id, data in topics.items()],
                node_endpoints=list(endpoints.values()),
            )
        )

    def _leader(self, shared: SharedTopicPartition, endpoints: dict[int, NodeEndpoint]) -> LeaderIdAndEpoch:
        broker = self._broker
        name = broker.metadata.topic_name(shared.topic_id) or ""
        leadership = broker.metadata.leadership(TopicPartition(name, shared.partition))
        if leadership is None:
            return LeaderIdAndEpoch(-1, -1)
        endpoint = broker.endpoint_of(leadership.leader_id, self._context.listener)
        if endpoint is not None:
            endpoints[leadership.leader_id] = NodeEndpoint(
                leadership.leader_id, endpoint.host, endpoint.port, endpoint.rack
            )
        return LeaderIdAndEpoch(leadership.leader_id, leadership.leader_epoch)
