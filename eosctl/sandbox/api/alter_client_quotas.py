"""AlterClientQuotas (key 49, versions 0 to 1): forwarded to the controller (KIP-546).

- Quotas are kept and described, but nobody is throttled.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.alter_client_quotas import AlterClientQuotasRequest

TIMEOUT_MS = 30_000


def handle(broker: BrokerServices, context: RequestContext, request: AlterClientQuotasRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, TIMEOUT_MS)
