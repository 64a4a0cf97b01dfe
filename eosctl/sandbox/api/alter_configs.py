"""AlterConfigs (key 33, versions 0 to 2): forwarded to the controller (KIP-133).

- Replaces all dynamic settings of a resource.
"""

from __future__ import annotations

from eosctl.sandbox.api.own_node import forward_changes
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResourceResponse


def handle(broker: BrokerServices, context: RequestContext, request: AlterConfigsRequest) -> None:
    """Forward to the active controller what is not another broker's."""
    forward_changes(broker, context, request, AlterConfigsResourceResponse)
