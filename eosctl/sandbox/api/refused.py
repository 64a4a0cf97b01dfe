"""APIs of features that a sandbox has not, answered as a broker does on which the feature is switched off.

- Share groups (KIP-932) and Streams groups (KIP-1071): UNSUPPORTED_VERSION for every group or partition named.
- Voters of the controller quorum (KIP-853): the request is checked, then refused because ``kraft.version`` is 0.
- Delegation tokens (KIP-48): a broker without ``delegation.token.secret.key`` has none, and clients that did not log in
  cannot even ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from eosctl.sandbox.ports import Handler, RequestContext
from eosctl.sandbox.security.protocol import SecurityProtocol
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    add_raft_voter,
    alter_share_group_offsets,
    create_delegation_token,
    delete_share_group_offsets,
    delete_share_group_state,
    describe_delegation_token,
    describe_share_group_offsets,
    expire_delegation_token,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    remove_raft_voter,
    renew_delegation_token,
    share_acknowledge,
    share_fetch,
    streams_group_describe,
    streams_group_heartbeat,
    write_share_group_state,
)

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker

OFF = ErrorCode.UNSUPPORTED_VERSION
CONTROLLER_LISTENER = "CONTROLLER"
Answer = Callable[[Any], Any]


def _always(response: Any) -> Answer:
    return lambda request: response


def _state(response: Callable[[Any], Any], topic: Callable[..., Any], partition: Callable[..., Any]) -> Answer:
    """Refuse every partition of a share coordinator's request."""
    return lambda request: response(
        [
            topic(asked.topic_id, [partition(part.partition, OFF, OFF.message) for part in asked.partitions])
            for asked in request.topics
        ]
    )


_GROUPS: Mapping[int, Answer] = {
    ApiKey.SHARE_FETCH: _always(share_fetch.ShareFetchResponse(0, OFF, OFF.message)),
    ApiKey.SHARE_ACKNOWLEDGE: _always(share_acknowledge.ShareAcknowledgeResponse(0, OFF, OFF.message)),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _state(
        initialize_share_group_state.InitializeShareGroupStateResponse,
        initialize_share_group_state.InitializeStateResult,
        initialize_share_group_state.PartitionResult,
    ),
    ApiKey.READ_SHARE_GROUP_STATE: _state(
        read_share_group_state.ReadShareGroupStateResponse,
        read_share_group_state.ReadStateResult,
        read_share_group_state.PartitionResult,
    ),
    ApiKey.WRITE_SHARE_GROUP_STATE: _state(
        write_share_group_state.WriteShareGroupStateResponse,
        write_share_group_state.WriteStateResult,
        write_share_group_state.PartitionResult,
    ),
    ApiKey.DELETE_SHARE_GROUP_STATE: _state(
        delete_share_group_state.DeleteShareGroupStateResponse,
        delete_share_group_state.DeleteStateResult,
        delete_share_group_state.PartitionResult,
    ),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _state(
        read_share_group_state_summary.ReadShareGroupStateSummaryResponse,
        read_share_group_state_summary.ReadStateSummaryResult,
        read_share_group_state_summary.PartitionResult,
    ),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: lambda request: describe_share_group_offsets.DescribeShareGroupOffsetsResponse(
        0,
        [
            describe_share_group_offsets.DescribeShareGroupOffsetsResponseGroup(group.group_id, (), OFF, OFF.message)
            for group in request.groups
        ],
    ),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _always(
        alter_share_group_offsets.AlterShareGroupOffsetsResponse(0, OFF, OFF.message)
    ),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _always(
        delete_share_group_offsets.DeleteShareGroupOffsetsResponse(0, OFF, OFF.message)
    ),
    ApiKey.STREAMS_GROUP_HEARTBEAT: _always(
        streams_group_heartbeat.StreamsGroupHeartbeatResponse(error_code=OFF, error_message=OFF.message, status=())
    ),
    ApiKey.STREAMS_GROUP_DESCRIBE: lambda request: streams_group_describe.StreamsGroupDescribeResponse(
        0, [streams_group_describe.DescribedGroup(OFF, OFF.message, group) for group in request.group_ids]
    ),
}


def _refuse_group(broker: Broker, context: RequestContext, request: Any) -> None:
    context.reply(_GROUPS[context.api_key](request))


def _add_voter(broker: Broker, context: RequestContext, request: add_raft_voter.AddRaftVoterRequest) -> None:
    error, text = _wrong_cluster(broker, request.cluster_id)
    if not error and request.voter_id < 0:
        error, text = ErrorCode.INVALID_REQUEST, "Add voter request didn't include a valid voter"
    if not error and CONTROLLER_LISTENER not in {end.name for end in request.listeners}:
        error = ErrorCode.INVALID_REQUEST
        text = "Add voter request didn't include the endpoint for the default listener ListenerName(CONTROLLER)"
    if not error:
        error, text = OFF, "Cluster doesn't support adding voter because the kraft.version feature is 0"
    context.reply(add_raft_voter.AddRaftVoterResponse(0, error, text))


def _remove_voter(broker: Broker, context: RequestContext, request: remove_raft_voter.RemoveRaftVoterRequest) -> None:
    error, text = _wrong_cluster(broker, request.cluster_id)
    if not error:
        error, text = OFF, "Cluster doesn't support removing voter because the kraft.version feature is 0"
    context.reply(remove_raft_voter.RemoveRaftVoterResponse(0, error, text))


def _wrong_cluster(broker: Broker, cluster_id: str | None) -> tuple[ErrorCode, str]:
    if cluster_id is None or cluster_id == broker.cluster_id:
        return ErrorCode.NONE, ""
    text = f'The given id "{cluster_id}" doesn\'t match the cluster id "{broker.cluster_id}"'
    return ErrorCode.INCONSISTENT_CLUSTER_ID, text


def _refuse_token(broker: Broker, context: RequestContext, request: Any) -> None:
    endpoint = broker.listeners.get(context.listener)
    logged_in = endpoint is not None and SecurityProtocol(endpoint.security_protocol).uses_sasl
    error = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED if logged_in else ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    time_ms = 0 if logged_in else -1
    match context.api_key:
        case ApiKey.CREATE_DELEGATION_TOKEN:
            kind, _, name = context.principal.partition(":")
            context.reply(
                create_delegation_token.CreateDelegationTokenResponse(
                    error, kind, name, kind, name, time_ms, time_ms, time_ms
                )
            )
        case ApiKey.RENEW_DELEGATION_TOKEN:
            context.reply(renew_delegation_token.RenewDelegationTokenResponse(error, time_ms))
        case ApiKey.EXPIRE_DELEGATION_TOKEN:
            context.reply(expire_delegation_token.ExpireDelegationTokenResponse(error, time_ms))
        case _:
            context.reply(describe_delegation_token.DescribeDelegationTokenResponse(error))


HANDLERS: Mapping[int, Handler] = {
    **dict.fromkeys(_GROUPS, _refuse_group),
    ApiKey.ADD_RAFT_VOTER: _add_voter,
    ApiKey.REMOVE_RAFT_VOTER: _remove_voter,
    ApiKey.CREATE_DELEGATION_TOKEN: _refuse_token,
    ApiKey.RENEW_DELEGATION_TOKEN: _refuse_token,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _refuse_token,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _refuse_token,
}
