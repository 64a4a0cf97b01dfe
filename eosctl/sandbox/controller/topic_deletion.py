"""DeleteTopics, by name or by id (KIP-516)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.metadata.image import TopicState
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.turns import SLICE
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from eosctl.wire.messages.internal.metadata.remove_topic_record import RemoveTopicRecord
from eosctl.wire.uuid import ZERO_UUID

FIRST_STRICT_VERSION = 5  # Earlier clients are only throttled by `controller_mutation_rate`.
Wanted = Sequence[tuple[str | None, bytes]]  # Name or id; the other one is None or the zero id.


def delete_topics(controller: Controller, context: RequestContext, request: DeleteTopicsRequest) -> Iterator[None]:
    """Delete topics by name (versions 1 to 5), or by name or id (version 6). Each has its own result."""
    wanted: list[tuple[str | None, bytes]] = [(name, ZERO_UUID) for name in request.topic_names]
    wanted += [(state.name, state.topic_id) for state in request.topics]
    quota = controller.mutation_quotas.quota_for(context, FIRST_STRICT_VERSION)
    twice = _named_and_identified(controller, wanted)
    twice_ids = {topic.topic_id for topic in twice.values()}
    results: list[DeletableTopicResult] = []
    records: list[Any] = []
    for position, ((name, topic_id), count) in enumerate(Counter(wanted).items()):
        if position and position % SLICE == 0:
            yield
        problem = _problem(name, topic_id, repeated=count > 1)
        if problem is not None:
            results.append(DeletableTopicResult(name, topic_id, ErrorCode.INVALID_REQUEST, problem))
        elif name is not None and name in twice:
            text = "The provided topic name maps to an ID that was already supplied."
            results.append(DeletableTopicResult(name, twice[name].topic_id, ErrorCode.INVALID_REQUEST, text))
        elif name is None and topic_id in twice_ids:
            continue  # The result contains its name.
        else:
            topic = _find_topic(controller, name, topic_id)
            if topic is None:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name is not None else ErrorCode.UNKNOWN_TOPIC_ID
                results.append(DeletableTopicResult(name, topic_id, error, kafka_text(error)))
            elif not quota.record(len(topic.partitions)):
                throttled = ErrorCode.THROTTLING_QUOTA_EXCEEDED
                results.append(DeletableTopicResult(topic.name, topic.topic_id, throttled, None))
            else:
                records.append(RemoveTopicRecord(topic.topic_id))
                results.append(DeletableTopicResult(topic.name, topic.topic_id))
    yield from controller.write_in_turns(
        records, lambda: context.reply(DeleteTopicsResponse(quota.throttle_ms(), results))
    )


def _problem(name: str | None, topic_id: bytes, *, repeated: bool) -> str | None:
    """Return why an entry does not identify a topic; None if it does."""
    if name is not None and topic_id != ZERO_UUID:
        return "You may not specify both topic name and topic id."
    if name is None and topic_id == ZERO_UUID:
        return "Neither topic name nor id were specified."
    if repeated:
        return "Duplicate topic name." if name is not None else "Duplicate topic id."
    return None


def _named_and_identified(controller: Controller, wanted: Wanted) -> dict[str, TopicState]:
    """Return the topics that one entry names and another identifies by id; Kafka deletes none of them."""
    named = {name for name, topic_id in wanted if name is not None and topic_id == ZERO_UUID}
    identified = [controller.image.topics_by_id.get(topic_id) for name, topic_id in wanted if name is None]
    return {topic.name: topic for topic in identified if topic is not None and topic.name in named}


def _find_topic(controller: Controller, name: str | None, topic_id: bytes) -> TopicState | None:
    if name is not None:
        return controller.image.topics.get(name)
    return controller.image.topics_by_id.get(topic_id)
