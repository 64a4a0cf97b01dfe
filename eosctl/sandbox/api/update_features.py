"""UpdateFeatures (key 57, versions 0 to 2; 3.9 serves 0 to 1): forwarded to the controller (KIP-584, KIP-1022).

- A live upgrade of ``transaction.version`` reaches clients through ApiVersions.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.update_features import UpdateFeaturesRequest


def handle(broker: BrokerServices, context: RequestContext, request: UpdateFeaturesRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, request.timeout_ms)
