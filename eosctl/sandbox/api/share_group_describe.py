"""ShareGroupDescribe (77), version 1 (KIP-932): refused.

- the sandbox has no share groups: every group answers 35, as from a broker whose ``share.version`` is 0
"""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)


def handle(broker: Any, context: RequestContext, request: ShareGroupDescribeRequest) -> None:
    """Refuse to describe share groups."""
    error = ErrorCode.UNSUPPORTED_VERSION
    groups = [DescribedGroup(error, error.message, group_id) for group_id in request.group_ids]
    context.reply(ShareGroupDescribeResponse(groups=groups))
