"""SaslAuthenticate (key 36, versions 0 to 2): a step of an authentication (KIP-152, KIP-368).

- A listener without SASL returns ILLEGAL_SASL_STATE. SASL listeners are handled in `security.login`.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse


def handle(broker: BrokerServices, context: RequestContext, request: SaslAuthenticateRequest) -> None:
    """Reject the request: this listener does not use SASL."""
    text = "SaslAuthenticate request received after successful authentication"
    context.reply(SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, text))
