"""ListPartitionReassignments (key 46, version 0): forwarded to the controller (KIP-455).

- Only partitions that have replicas to add or to remove; without topics all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: ListPartitionReassignmentsRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, request.timeout_ms)
