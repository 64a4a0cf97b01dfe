"""ShareGroupDescribe (77), version 1 (KIP-932): refused.

- an empty group id answers 24, as by any broker
- every other group answers 35, as from a broker whose ``share.version`` is 0: the sandbox has no share groups
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
    groups = [
        DescribedGroup(error, error.message, group_id)
        if group_id
        else DescribedGroup(ErrorCode.INVALID_GROUP_ID, None, group_id)
        for group_id in request.group_ids
    ]
    context.reply(ShareGroupDescribeResponse(groups=groups))
