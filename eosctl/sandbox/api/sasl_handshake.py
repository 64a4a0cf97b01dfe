"""SaslHandshake (key 17, versions 0 to 1): choose a mechanism (KIP-43).

- A listener without SASL returns ILLEGAL_SASL_STATE. SASL listeners are handled in `security.login`.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(broker: BrokerServices, context: RequestContext, request: SaslHandshakeRequest) -> None:
    """Reject the request: this listener does not use SASL."""
    context.reply(SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE))
