"""ListPartitionReassignments (key 46, version 0): forwarded to the controller (KIP-455).

- Only partitions that have replicas to add or to remove; without topics all of them.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest


def handle(broker: BrokerServices, context: RequestContext, request: ListPartitionReassignmentsRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, request.timeout_ms)
