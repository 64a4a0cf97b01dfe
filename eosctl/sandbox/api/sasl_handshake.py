"""SaslHandshake (key 17, versions 0 to 1): choose a mechanism (KIP-43).

- A listener without SASL answers ILLEGAL_SASL_STATE.
- Not done: SASL listeners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: SaslHandshakeRequest) -> None:
    """Refuse: this listener does not authenticate."""
    context.reply(SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE))
