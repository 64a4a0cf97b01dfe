"""DescribeCluster (key 60, versions 0 to 2; 3.9 serves 0 to 1): brokers or controllers (KIP-700, KIP-919, KIP-1073).

- Endpoint type 1 lists brokers. Controllers (type 2) are listed only on controller listeners: MISMATCHED_ENDPOINT_TYPE.
- Fenced brokers are listed only on request (version 2).
"""

from __future__ import annotations

from eosctl.sandbox.api.metadata import alive_brokers, controller_id
from eosctl.sandbox.authorization import OPERATIONS_NOT_REQUESTED
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import cluster_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS, CONTROLLERS = 1, 2
OF_CONTROLLERS = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"


def handle(broker: BrokerServices, context: RequestContext, request: DescribeClusterRequest) -> None:
    """Describe the brokers of this listener."""
    if request.endpoint_type != BROKERS:
        context.reply(
            DescribeClusterResponse(
                error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE
                if request.endpoint_type == CONTROLLERS
                else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
                error_message=OF_CONTROLLERS
                if request.endpoint_type == CONTROLLERS
                else f"Unsupported endpoint type {request.endpoint_type}",
            )
        )
        return
    brokers = [
        DescribeClusterBroker(state.node_id, state.host, state.port, state.rack)
        for state in alive_brokers(broker, context.listener)
    ]
    if request.include_fenced_brokers:
        for state in broker.metadata.brokers.values():
            if state.fenced:
                end = next((end for end in state.endpoints if end.name == context.listener), None)
                if end is not None:
                    brokers.append(DescribeClusterBroker(state.broker_id, end.host, end.port, state.rack, True))
    context.reply(
        DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=0,
            error_message=None,
            endpoint_type=BROKERS,
            cluster_id=broker.cluster_id,
            controller_id=controller_id(broker),
            brokers=brokers,
            cluster_authorized_operations=cluster_operations(broker, context)
            if request.include_cluster_authorized_operations
            else OPERATIONS_NOT_REQUESTED,
        )
    )
