"""ShareGroupHeartbeat (76), version 1 (KIP-932): refused.

- the sandbox has no share groups: the answer is 35, as from a broker whose ``share.version`` is 0
"""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse


def handle(broker: Any, context: RequestContext, request: ShareGroupHeartbeatRequest) -> None:
    """Refuse a member of a share group."""
    error = ErrorCode.UNSUPPORTED_VERSION
    context.reply(ShareGroupHeartbeatResponse(error_code=error, error_message=error.message))
