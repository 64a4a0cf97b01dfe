"""DescribeQuorum (key 55, versions 0 to 2): forwarded to the controller (KIP-595, KIP-836, KIP-853).

- Only ``__cluster_metadata-0`` is a quorum's log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, 30_000)
