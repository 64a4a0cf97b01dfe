"""AlterUserScramCredentials (key 51, version 0): forwarded to the controller (KIP-554).

- A user appears once in a request, whatever the mechanism.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest

TIMEOUT_MS = 30_000


def handle(broker: BrokerServices, context: RequestContext, request: AlterUserScramCredentialsRequest) -> None:
    """Forward to the active controller."""
    broker.forward(context, request, TIMEOUT_MS)
