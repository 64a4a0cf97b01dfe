"""ElectLeaders (key 43, versions 0 to 2): forwarded to the controller (KIP-183, KIP-460).

- Preferred or unclean election.
"""

from __future__ import annotations

from eosctl.sandbox.api.in_time import forward_in_time
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.elect_leaders import ElectLeadersRequest


def handle(broker: BrokerServices, context: RequestContext, request: ElectLeadersRequest) -> None:
    """Forward to the active controller."""
    forward_in_time(broker, context, request)
