"""Read offsets and records with confluent-kafka, without a group and without a trace on the cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from eosctl.logs.topics.address import BEARER, Bound, TopicError, Topics
from eosctl.logs.topics.shipped import TopicRecord

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError

ANSWER_S: Final = 15.0
"""Maximum time for a response of the cluster."""
REFUSAL_S: Final = 2.0
"""After this time, brokers that all refuse are given up; for others, the wait is logged."""
_LOG: Final = logging.getLogger(__name__)
_HOPELESS: Final = ("_AUTHENTICATION", "_SSL")
"""Errors that a retry cannot fix."""
_TOKEN_ENDS_S: Final = 4_102_444_800.0
"""librdkafka does not know the expiration of a token, so it requests the same token again."""
_POLL_S: Final = 1.0
_BATCH: Final = 1000
_MISSING: Final = (
    "confluent-kafka is not installed for {python}, which reads the topics. Install it there (pip install "
    "confluent-kafka); on a cluster, install it for the Python of every executor."
)


class ConnectionErrors:
    """The errors that the library has reported for a connection.

    Attributes:
        last: The last error; empty without one.
        all_down: Whether no known broker could be reached.
        hopeless: Whether a retry cannot fix the connection.
    """

    def __init__(self) -> None:
        self.last = ""
        self.all_down = False
        self.hopeless = False

    def record(self, error: KafkaError) -> None:
        """Record an error."""
        self.hopeless = self.hopeless or error.name() in _HOPELESS
        if error.name() == "_ALL_BROKERS_DOWN":
            # The library has already reported the reason.
            self.all_down = True
        else:
            self.last = error.str()


class Cluster:
    """A connection that reads topics; made by :func:`connect`."""

    def __init__(self, topics: Topics, consumer: Consumer, errors: ConnectionErrors, *, gives_up: bool) -> None:
        self._topics = topics
        self._consumer = consumer
        self._errors = errors
        self._gives_up = gives_up

    def partitions(self) -> list[tuple[str, int]]:
        """Return the partitions of the topics.

        Raises:
            TopicError: A topic does not exist or cannot be seen, or no broker answers.
        """
        found = []
        for name in self._topics.names:
            metadata = self._request(partial(self._consumer.list_topics, name)).topics[name]
            if metadata.error is not None:
                raise TopicError(f"The topic {name} of {self._topics} cannot be read: {metadata.error.str()}.")
            found += [(name, number) for number in sorted(metadata.partitions)]
        return found

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that a partition still has, and the offset after the last readable one."""
        from confluent_kafka import TopicPartition

        place = TopicPartition(topic, partition)
        low, high = self._request(partial(self._consumer.get_watermark_offsets, place))
        return low, high

    def resolve(self, topic: str, partition: int, bound: Bound) -> int:
        """Return the offset that a bound means for a partition; the record at this offset may already be deleted.

        Raises:
            TopicError: The cluster does not answer.
        """
        from confluent_kafka import TopicPartition

        offset = None if bound.offsets is None else bound.offsets.get(topic, {}).get(str(partition))
        if offset is not None and offset >= 0:
            return offset
        low, high = self.bounds(topic, partition)
        if bound.moment_ms is not None:
            place = TopicPartition(topic, partition, bound.moment_ms)
            [found] = self._request(partial(self._consumer.offsets_for_times, [place]))
            return high if found.offset < 0 else int(found.offset)
        return high if (bound.place == "latest" if offset is None else offset == -1) else low

    def records(self, topic: str, partition: int, start: int) -> Iterator[TopicRecord]:
        """Yield the records from an offset to the current end of the partition.

        Raises:
            TopicError: The cluster does not answer, or no longer has the offset.
        """
        from confluent_kafka import KafkaError, TopicPartition

        self._consumer.assign([TopicPartition(topic, partition, start)])
        until = time.monotonic() + ANSWER_S
        while True:
            first = self._consumer.poll(_POLL_S)
            # Without a timeout, so that the call does not wait until a batch is full.
            for message in () if first is None else (first, *self._consumer.consume(_BATCH, 0)):
                until = time.monotonic() + ANSWER_S
                error = message.error()
                if error is None:
                    yield _record(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                else:
                    raise TopicError(f"{topic}-{partition} cannot be read from offset {start} on: {error.str()}.")
            if time.monotonic() >= until:
                raise TopicError(self._silence())

    def _request(self, call: Callable[..., Any]) -> Any:
        """Send a request, and check the errors that the library reports until the response arrives."""
        from confluent_kafka import KafkaException

        begun = time.monotonic()
        is_logged = False
        while True:
            try:
                answer = call(timeout=_POLL_S)
            except KafkaException as error:
                self._consumer.poll(0)
                silent_s = time.monotonic() - begun
                refused = self._gives_up and self._errors.all_down and silent_s >= REFUSAL_S
                if self._errors.hopeless or refused or silent_s >= ANSWER_S or not _is_silence(error.args[0]):
                    raise TopicError(f"{self._silence()} {error.args[0].str()}.") from error
                if not is_logged and silent_s >= REFUSAL_S:
                    is_logged = True
                    _LOG.warning("%s does not answer yet; waiting for up to %.0f s.", self._topics.brokers, ANSWER_S)
            else:
                # The address is right: from now on, brokers that refuse may be restarting.
                self._gives_up = False
                return answer

    def _silence(self) -> str:
        reason = f" Last error: {self._errors.last}." if self._errors.last else ""
        if self._errors.all_down and not reason:
            reason = " It closes the connection immediately, as if it required another security.protocol."
        return f"{self._topics.brokers} does not answer.{reason}"


@contextmanager
def connect(topics: Topics, *, gives_up: bool = False) -> Iterator[Cluster]:
    """Open a connection.

    Args:
        topics: How to reach it.
        gives_up: Whether brokers that refuse the first connection count as a wrong address, not as restarting.

    Raises:
        TopicError: A setting is wrong, or confluent-kafka is missing.
    """
    try:
        from confluent_kafka import Consumer, KafkaException
    except ImportError as error:
        import sys

        raise TopicError(_MISSING.format(python=sys.executable)) from error
    errors = ConnectionErrors()
    settings: dict[str, Any] = {
        # The errors contain all that the library reports.
        "log_level": "0",
        # A fetch without records shows the end of a partition; a broker waits this long before it answers one.
        "fetch.wait.max.ms": "10",
        **topics.settings,
        "bootstrap.servers": topics.brokers,
        # The library requires a group, which is never joined.
        "group.id": "eosctl-logs",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
        "allow.auto.create.topics": "false",
        "error_cb": errors.record,
    }
    if token := settings.pop(BEARER, ""):
        settings["oauth_cb"] = lambda _: (token, _TOKEN_ENDS_S)
    try:
        consumer = Consumer(settings)
    except KafkaException as error:
        raise TopicError(f"{topics} cannot be read with these settings: {error.args[0].str()}.") from error
    try:
        yield Cluster(topics, consumer, errors, gives_up=gives_up)
    finally:
        consumer.close()


def _is_silence(error: KafkaError) -> bool:
    return error.name() in ("_TRANSPORT", "_TIMED_OUT", "_ALL_BROKERS_DOWN", "_WAIT_COORD") or bool(error.retriable())


def _record(message: Any) -> TopicRecord:
    kind, time_ms = message.timestamp()
    return TopicRecord(
        message.offset(),
        time_ms if kind else None,
        message.key(),
        message.value() or b"",
        tuple((name, value if value is None else bytes(value)) for name, value in message.headers() or ()),
    )
