"""DescribeQuorum (key 55, versions 0 to 2): forwarded to the controller (KIP-595, KIP-836, KIP-853).

- Only `__cluster_metadata-0` has a quorum.
- Without an active controller, the response is REQUEST_TIMED_OUT after a minute, as in 4.3.1.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse

TIMEOUT_MS = 60_000


def handle(broker: BrokerServices, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Forward to the active controller."""
    timed_out = DescribeQuorumResponse(ErrorCode.REQUEST_TIMED_OUT, kafka_text(ErrorCode.REQUEST_TIMED_OUT))

    def reply(response: DescribeQuorumResponse | None) -> None:
        context.reply(timed_out if response is None else response)

    broker.forward(replace(context, reply=reply), request, TIMEOUT_MS)


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(AclOperation.DESCRIBE, lambda _: DescribeQuorumResponse(DENIED, kafka_text(DENIED)))
