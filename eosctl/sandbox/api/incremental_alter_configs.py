"""IncrementalAlterConfigs (key 44, versions 0 to 1): forwarded to the controller (KIP-339).

- Read-only broker settings are refused; unknown broker settings are kept, as for plugins.
"""

from __future__ import annotations

from eosctl.sandbox.api.own_node import forward_changes
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.incremental_alter_configs import AlterConfigsResourceResponse, IncrementalAlterConfigsRequest


def handle(broker: BrokerServices, context: RequestContext, request: IncrementalAlterConfigsRequest) -> None:
    """Forward to the active controller what is not another broker's."""
    forward_changes(broker, context, request, AlterConfigsResourceResponse)
