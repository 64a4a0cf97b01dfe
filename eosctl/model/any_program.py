"""What programs without Kafka log, too: categories of records that do not show a log of Kafka, and names that do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import UNCLASSIFIED, LogEvent

OF_ANY_PROGRAM: Final[frozenset[EventCategory]] = frozenset(
    {
        *(UNCLASSIFIED, "APPLICATION_KILLED", "APPLICATION_SIGNAL", "APPLICATION_STOP", "GC_PAUSE", "PROCESS_PAUSED"),
        *("DISK_ERROR", "FD_EXHAUSTED", "HOST_NOT_RESOLVED", "OOM", "OOM_KILLED", "SLOW_STEP", "THREAD_BLOCKED"),
        *("KNOWN_NOISE", "TXN_BEGUN", "TXN_COMMITTED"),
    }
)
"""Categories of records that programs without Kafka write, too."""
_KAFKA: Final = re.compile(
    r"(?i:kafka|zookeeper|redpanda|strimzi|confluent|transactional|\bsarama\b|\bfranz-go\b|\bkgo\b|\bbrokers?\b"
    r"|\bconsumer|\bproducer|\brebalanc|\btopics?\b|\blog\.?dirs?\b|logdir)|\bo\.a\.k(?:afka)?\.|:909\d\b"
)
_KILLED: Final = re.compile(r"\bjava\b")
"""The process of a server of Kafka, as the operating system names it."""
_FULL: Final = "No space left on device"


def names_kafka(text: str) -> bool:
    """Return whether a text names Kafka, a program around it, or what only its logs are about."""
    return _KAFKA.search(text) is not None


def shows_kafka(events: Iterable[LogEvent]) -> bool:
    """Return whether an event is of a category that only Kafka and its clients have, or names Kafka or a JVM's kill."""
    return any(_is_of_kafka(event) for event in events)


def _is_of_kafka(event: LogEvent) -> bool:
    if event.category not in OF_ANY_PROGRAM:
        return True
    if event.category == "DISK_ERROR" and (event.fields.keys() - {"os_error", "thrown"} or _FULL not in event.message):
        return True
    chain = event.exception.chain if event.exception is not None else ()
    texts = (event.application, event.logger, event.message, event.thread, *chain)
    if event.category in ("OOM_KILLED", "APPLICATION_KILLED") and _KILLED.search(event.message):
        return True
    return any(map(names_kafka, texts))
