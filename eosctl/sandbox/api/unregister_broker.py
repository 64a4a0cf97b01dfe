"""UnregisterBroker (key 64, version 0): forwarded to the controller (KIP-631).

- A broker that still runs registers again at once.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.unregister_broker import UnregisterBrokerRequest

TIMEOUT_MS = 30_000


def handle(broker: BrokerServices, context: RequestContext, request: UnregisterBrokerRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, TIMEOUT_MS)
