"""The parts of share groups (KIP-932) that the sandbox lacks: fetching, acknowledging, and administering offsets.

- With `share.version` 0, every request gets UNSUPPORTED_VERSION.
- From 1 on, requests for unknown sessions get Kafka's errors, and all others UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    alter_share_group_offsets,
    delete_share_group_offsets,
)

FEATURE = "share.version"
OFF = ErrorCode.UNSUPPORTED_VERSION


def _is_on(broker: BrokerServices) -> bool:
    return broker.metadata.finalized_feature(FEATURE) > 0


def absence(broker: BrokerServices, group_id: str, kind: str) -> tuple[ErrorCode, str | None]:
    """Return the error for an unknown group of a type."""
    shard = broker.groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if isinstance(shard, ErrorCode):
        return shard, None
    what = "not found" if shard.groups.get(group_id) is None else f"is not a {kind} group"
    return ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}."


# --- offsets and state ------------------------------------------------------------------------------------------


def _alter_offsets(_: BrokerServices, context: RequestContext, request: Any) -> None:
    context.reply(alter_share_group_offsets.AlterShareGroupOffsetsResponse(0, OFF, kafka_text(OFF)))


def _delete_offsets(_: BrokerServices, context: RequestContext, request: Any) -> None:
    context.reply(delete_share_group_offsets.DeleteShareGroupOffsetsResponse(0, OFF, kafka_text(OFF)))


HANDLERS: Mapping[int, Handler] = {
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _alter_offsets,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _delete_offsets,
}
