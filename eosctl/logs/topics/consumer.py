"""Reading partitions with confluent-kafka: offsets and records, in no group and without a trace on the cluster."""

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
"""How long an answer of the cluster may take."""
REFUSAL_S: Final = 2.0
"""From when on brokers that all refuse are given up, and others are told to be waited for."""
_LOG: Final = logging.getLogger(__name__)
_HOPELESS: Final = ("_AUTHENTICATION", "_SSL")
"""Errors that no further try mends."""
_TOKEN_ENDS_S: Final = 4_102_444_800.0
"""A token has no end that librdkafka could know: it asks again for the same one."""
_POLL_S: Final = 1.0
_BATCH: Final = 1000
_MISSING: Final = (
    "confluent-kafka is not installed for {python}, which reads the topics. Install it there (pip install "
    "confluent-kafka), on a cluster for the Python of every executor."
)


class Heard:
    """What the library has reported of a connection.

    Attributes:
        last: The last report; empty without one.
        all_down: Whether no broker that is known could be reached.
        hopeless: Whether no further try mends it.
    """

    def __init__(self) -> None:
        self.last = ""
        self.all_down = False
        self.hopeless = False

    def hear(self, error: KafkaError) -> None:
        """Take a report."""
        self.hopeless = self.hopeless or error.name() in _HOPELESS
        if error.name() == "_ALL_BROKERS_DOWN":
            # The reason has been reported before.
            self.all_down = True
        else:
            self.last = error.str()


class Cluster:
    """A connection that reads topics; made by :func:`connect`."""

    def __init__(self, topics: Topics, consumer: Consumer, heard: Heard, *, gives_up: bool) -> None:
        self._topics = topics
        self._consumer = consumer
        self._heard = heard
        self._gives_up = gives_up

    def partitions(self) -> list[tuple[str, int]]:
        """Return the partitions of the topics.

        Raises:
            TopicError: A topic does not exist or cannot be seen, or no broker answers.
        """
        found = []
        for name in self._topics.names:
            told = self._ask(partial(self._consumer.list_topics, name)).topics[name]
            if told.error is not None:
                raise TopicError(f"The topic {name} of {self._topics} cannot be read: {told.error.str()}.")
            found += [(name, number) for number in sorted(told.partitions)]
        return found

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset of a partition that is still there, and that behind the last to be read."""
        from confluent_kafka import TopicPartition

        place = TopicPartition(topic, partition)
        low, high = self._ask(partial(self._consumer.get_watermark_offsets, place))
        return low, high

    def resolve(self, topic: str, partition: int, bound: Bound) -> int:
        """Return the offset that a bound means for a partition; it may be one that is no longer there.

        Raises:
            TopicError: The cluster does not answer.
        """
        from confluent_kafka import TopicPartition

        told = None if bound.offsets is None else bound.offsets.get(topic, {}).get(str(partition))
        if told is not None and told >= 0:
            return told
        low, high = self.bounds(topic, partition)
        if bound.moment_ms is not None:
            place = TopicPartition(topic, partition, bound.moment_ms)
            [found] = self._ask(partial(self._consumer.offsets_for_times, [place]))
            return high if found.offset < 0 else int(found.offset)
        return high if (bound.place == "latest" if told is None else told == -1) else low

    def records(self, topic: str, partition: int, start: int) -> Iterator[TopicRecord]:
        """Yield the records from an offset on, to where the partition ends now.

        Raises:
            TopicError: The cluster does not answer, or the offset is not there any more.
        """
        from confluent_kafka import KafkaError, TopicPartition

        self._consumer.assign([TopicPartition(topic, partition, start)])
        until = time.monotonic() + ANSWER_S
        while True:
            first = self._consumer.poll(_POLL_S)
            # Without waiting: a batch that is not full is not waited for.
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

    def _ask(self, question: Callable[..., Any]) -> Any:
        """Ask, with a look at what the library reports meanwhile."""
        from confluent_kafka import KafkaException

        begun = time.monotonic()
        told = False
        while True:
            try:
                answer = question(timeout=_POLL_S)
            except KafkaException as error:
                self._consumer.poll(0)
                silent_s = time.monotonic() - begun
                refused = self._gives_up and self._heard.all_down and silent_s >= REFUSAL_S
                if self._heard.hopeless or refused or silent_s >= ANSWER_S or not _is_silence(error.args[0]):
                    raise TopicError(f"{self._silence()} {error.args[0].str()}.") from error
                if not told and silent_s >= REFUSAL_S:
                    told = True
                    _LOG.warning("%s is given %.0f s to answer.", self._topics.brokers, ANSWER_S)
            else:
                # From now on it is a cluster, whose brokers may restart.
                self._gives_up = False
                return answer

    def _silence(self) -> str:
        heard = f" Last heard: {self._heard.last}." if self._heard.last else ""
        if self._heard.all_down and not heard:
            heard = " The connection is closed at once, as by brokers that want another security.protocol."
        return f"{self._topics.brokers} does not answer.{heard}"


@contextmanager
def connect(topics: Topics, *, gives_up: bool = False) -> Iterator[Cluster]:
    """Open a connection.

    Args:
        topics: How to reach it.
        gives_up: Whether brokers that refuse from the first are held to be a wrong address, not ones that restart.

    Raises:
        TopicError: A setting is wrong, or confluent-kafka is missing.
    """
    try:
        from confluent_kafka import Consumer, KafkaException
    except ImportError as error:
        import sys

        raise TopicError(_MISSING.format(python=sys.executable)) from error
    heard = Heard()
    settings: dict[str, Any] = {
        # What it has to say is in the errors.
        "log_level": "0",
        # A partition's end is told by a fetch without records, for which a broker waits this long.
        "fetch.wait.max.ms": "10",
        **topics.settings,
        "bootstrap.servers": topics.brokers,
        # Asked for by the library, and never joined.
        "group.id": "eosctl-logs",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
        "allow.auto.create.topics": "false",
        "error_cb": heard.hear,
    }
    if token := settings.pop(BEARER, ""):
        settings["oauth_cb"] = lambda _: (token, _TOKEN_ENDS_S)
    try:
        consumer = Consumer(settings)
    except KafkaException as error:
        raise TopicError(f"{topics} cannot be read with these settings: {error.args[0].str()}.") from error
    try:
        yield Cluster(topics, consumer, heard, gives_up=gives_up)
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
