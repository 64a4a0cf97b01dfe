"""DescribeQuorum (key 55, versions 0 to 2): forwarded to the controller (KIP-595, KIP-836, KIP-853).

- Only ``__cluster_metadata-0`` is a quorum's log.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest


def handle(broker: BrokerServices, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, 30_000)
