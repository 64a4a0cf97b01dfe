"""SaslAuthenticate (key 36, versions 0 to 2): one step of an authentication (KIP-152, KIP-368).

- A listener without SASL answers ILLEGAL_SASL_STATE.
- Not done: SASL listeners.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse


def handle(broker: BrokerServices, context: RequestContext, request: SaslAuthenticateRequest) -> None:
    """Refuse: this listener does not authenticate."""
    text = "SaslAuthenticate request received after successful authentication"
    context.reply(SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, text))
