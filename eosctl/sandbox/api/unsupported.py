"""APIs of features that the sandbox lacks. The responses are those of a broker with the feature disabled.

Voters of the controller quorum (KIP-853): valid requests are rejected because `kraft.version` is 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Guard, needs_cluster
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import add_raft_voter, remove_raft_voter

OFF = ErrorCode.UNSUPPORTED_VERSION
CONTROLLER_LISTENER = "CONTROLLER"


def _add_voter(broker: BrokerServices, context: RequestContext, request: add_raft_voter.AddRaftVoterRequest) -> None:
    error, text = _wrong_cluster(broker, request.cluster_id)
    if not error and request.voter_id < 0:
        error, text = ErrorCode.INVALID_REQUEST, "Add voter request didn't include a valid voter"
    if not error and CONTROLLER_LISTENER not in {end.name for end in request.listeners}:
        error = ErrorCode.INVALID_REQUEST
        text = "Add voter request didn't include the endpoint for the default listener ListenerName(CONTROLLER)"
    if not error:
        error, text = OFF, "Cluster doesn't support adding voter because the kraft.version feature is 0"
    context.reply(add_raft_voter.AddRaftVoterResponse(0, error, text))


def _remove_voter(
    broker: BrokerServices, context: RequestContext, request: remove_raft_voter.RemoveRaftVoterRequest
) -> None:
    error, text = _wrong_cluster(broker, request.cluster_id)
    if not error:
        error, text = OFF, "Cluster doesn't support removing voter because the kraft.version feature is 0"
    context.reply(remove_raft_voter.RemoveRaftVoterResponse(0, error, text))


def _wrong_cluster(broker: BrokerServices, cluster_id: str | None) -> tuple[ErrorCode, str]:
    if cluster_id is None or cluster_id == broker.cluster_id:
        return ErrorCode.NONE, ""
    text = f'The given id "{cluster_id}" doesn\'t match the cluster id "{broker.cluster_id}"'
    return ErrorCode.INCONSISTENT_CLUSTER_ID, text


HANDLERS: Mapping[int, Handler] = {
    ApiKey.ADD_RAFT_VOTER: _add_voter,
    ApiKey.REMOVE_RAFT_VOTER: _remove_voter,
}

DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
GUARDS: Mapping[int, Guard] = {
    ApiKey.ADD_RAFT_VOTER: needs_cluster(
        AclOperation.ALTER, lambda _: add_raft_voter.AddRaftVoterResponse(0, DENIED, kafka_text(DENIED))
    ),
    ApiKey.REMOVE_RAFT_VOTER: needs_cluster(
        AclOperation.ALTER, lambda _: remove_raft_voter.RemoveRaftVoterResponse(0, DENIED, kafka_text(DENIED))
    ),
}
