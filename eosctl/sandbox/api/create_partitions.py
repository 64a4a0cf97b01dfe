"""CreatePartitions (key 37, versions 0 to 3): forwarded to the controller (KIP-195).

- A topic grows only; assignments may be given.
"""

from __future__ import annotations

from eosctl.sandbox.api.in_time import forward_in_time
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.create_partitions import CreatePartitionsRequest


def handle(broker: BrokerServices, context: RequestContext, request: CreatePartitionsRequest) -> None:
    """Forward to the active controller."""
    forward_in_time(broker, context, request)
