"""AlterPartitionReassignments (key 45, versions 0 to 1; 3.9 serves 0): forwarded to the controller (KIP-455).

- Null replicas cancel; a reassignment completes when every new replica is in sync.
- Not done: ``allowReplicationFactorChange`` false (version 1) is not enforced.
"""

from __future__ import annotations

from eosctl.sandbox.api.in_time import forward_in_time
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest


def handle(broker: BrokerServices, context: RequestContext, request: AlterPartitionReassignmentsRequest) -> None:
    """Forward to the active controller."""
    forward_in_time(broker, context, request)
