"""Fetch versions 0 to 3 (3.9): records as messages of magic 0 or 1, unless the topic forbids the conversion.

Settings: `message.downconversion.enable`, and `log.message.downconversion.enable` of the broker.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec.structs import replace

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.log.message_formats import UnsupportedCodec, messages_of
from eosctl.sandbox.metadata.image import TOPIC_RESOURCE
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Amended
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

FIRST_BATCH_VERSION: Final = 4
_FIRST_TIMESTAMP_VERSION: Final = 2
_SETTING: Final = "message.downconversion.enable"


def with_messages(broker: BrokerServices, context: RequestContext, request: FetchRequest) -> RequestContext:
    """Return the context of a request whose response has messages instead of batches."""
    return replace(context, reply=Amended(context, partial(_convert, broker, context.api_version, request)))


def _convert(broker: BrokerServices, version: int, request: FetchRequest, response: FetchResponse) -> FetchResponse:
    magic = 0 if version < _FIRST_TIMESTAMP_VERSION else 1
    offsets = {
        (topic.topic, partition.partition): partition.fetch_offset
        for topic in request.topics
        for partition in topic.partitions
    }
    topics = []
    for topic in response.responses:
        overrides = broker.metadata.config(TOPIC_RESOURCE, topic.topic)
        is_allowed = broker.config.topic_value(overrides, _SETTING) == "true"
        partitions = [
            _convert_partition(data, magic, offsets.get((topic.topic, data.partition_index), 0), is_allowed=is_allowed)
            for data in topic.partitions
        ]
        topics.append(replace(topic, partitions=partitions))
    return replace(response, responses=topics)


def _convert_partition(data: PartitionData, magic: int, first_offset: int, *, is_allowed: bool) -> PartitionData:
    if data.error_code:
        return data
    if not is_allowed:
        return PartitionData(data.partition_index, ErrorCode.UNSUPPORTED_VERSION, -1)
    if not data.records:
        return data
    try:
        return replace(data, records=messages_of(data.records, magic, first_offset))
    except UnsupportedCodec:
        return PartitionData(data.partition_index, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1)
