"""SaslHandshake (key 17, versions 0 to 1): choose a mechanism (KIP-43).

- A listener without SASL answers ILLEGAL_SASL_STATE.
- Not done: SASL listeners.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(broker: BrokerServices, context: RequestContext, request: SaslHandshakeRequest) -> None:
    """Refuse: this listener does not authenticate."""
    context.reply(SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE))
