"""Create the internal topics of topologies, and remember why some could not be created (`AutoTopicCreationManager`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

from eosctl.sandbox.coordinator.group.streams.topic_configuration import Status, StatusCode
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import Channel, Runtime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

CREATE_TOPICS_VERSION: Final = 7
DEFAULT_REPLICATION: Final = -1
_TIMEOUT_MS: Final = 30_000
_NAMED_ERRORS: Final = 3


class InternalTopicCreator:
    """Sends one CreateTopics per set of missing topics; repeats failed ones after `ttl_ms` only."""

    def __init__(self, runtime: Runtime, channel: Channel) -> None:
        self._runtime = runtime
        self._channel = channel
        self._in_flight: set[str] = set()
        self._errors: dict[str, tuple[str, int]] = {}

    def create(self, topics: Iterable[InternalTopic], ttl_ms: int) -> None:
        """Request the topics that are not requested already."""
        now_ms = self._runtime.now_ms()
        wanted = [
            topic
            for topic in topics
            if topic.name not in self._in_flight and self._error_of(topic.name, now_ms) is None
        ]
        if not wanted:
            return
        names = [topic.name for topic in wanted]
        self._in_flight.update(names)
        self._channel.send_to_controller(
            ApiKey.CREATE_TOPICS,
            CREATE_TOPICS_VERSION,
            CreateTopicsRequest([_creatable(topic) for topic in wanted], _TIMEOUT_MS, False),
            partial(self._created, names, ttl_ms),
        )

    def with_errors(self, statuses: Sequence[Status], topics: Iterable[InternalTopic]) -> tuple[Status, ...]:
        """Return the statuses; the one about missing topics says which could not be created."""
        now_ms = self._runtime.now_ms()
        errors = {topic.name: error for topic in topics if (error := self._error_of(topic.name, now_ms)) is not None}
        if not errors:
            return tuple(statuses)
        shown = ", ".join(f"{name} ({error})" for name, error in list(errors.items())[:_NAMED_ERRORS])
        more = f" and {len(errors) - _NAMED_ERRORS} more" if len(errors) > _NAMED_ERRORS else ""
        return with_detail(statuses, f"; Creation failed: {shown}{more}.")

    def _error_of(self, topic: str, now_ms: int) -> str | None:
        error, expires_ms = self._errors.get(topic, (None, 0))
        return error if now_ms < expires_ms else None

    def _created(self, names: Sequence[str], ttl_ms: int, response: Any | None) -> None:
        self._in_flight.difference_update(names)
        expires_ms = self._runtime.now_ms() + ttl_ms
        if response is None:
            self._errors |= dict.fromkeys(names, (kafka_text(ErrorCode.REQUEST_TIMED_OUT) or "", expires_ms))
            return
        for result in response.topics:
            if result.error_code:
                text = result.error_message or kafka_text(ErrorCode(result.error_code)) or ""
                self._errors[result.name] = (text, expires_ms)


def with_detail(statuses: Sequence[Status], more: str) -> tuple[Status, ...]:
    """Return the statuses with more details about the missing internal topics."""
    return tuple(
        status._replace(detail=status.detail + more) if status.code is StatusCode.MISSING_INTERNAL_TOPICS else status
        for status in statuses
    )


def _creatable(topic: InternalTopic) -> CreatableTopic:
    return CreatableTopic(
        topic.name,
        topic.partition_count,
        topic.replication_factor or DEFAULT_REPLICATION,
        (),
        [CreatableTopicConfig(key, value) for key, value in topic.configs],
    )
