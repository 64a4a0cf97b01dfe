"""Recognize that a client gave a request up, so that one record is enough for an incident.

A client's own retries come first: librdkafka and its bindings, sarama, KafkaJS, ruby-kafka, and the pipelines on top of
them (Vector, Telegraf, Fluent Bit, Fluentd, the OpenTelemetry Collector) return an error only once they have ended.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.log_event import LogEvent

_GAVE_UP: Final = re.compile(
    r"[Nn]o (?:more )?retries\b|\b[Rr]etries (?:are |were )?exhausted|RetriesExceeded\b|\bService call failed\. "
    r"|[Ff]ailed to produce message to topic|[Ff]ailed to deliver \d+ messages?|\b(?:Rejecting|Dropping) data\b"
    r"|[Mm]essage delivery failed|\b[Dd]elivery failed\b|Message (?:production|consumption) error: "
    r"|failed to flush the buffer|\bGiving up\b|\bgave up\b"
)
_RETURNED: Final = re.compile(r"\b(?:Broker|Local): Unknown (?:topic|partition)")
"""librdkafka waits for a topic before it returns this to the application."""
_LIBRARY: Final = "[thrd:"
"""A thread of librdkafka, which logs every attempt."""


def has_given_up(event: LogEvent) -> bool:
    """Return whether a client's record reports the end of its retries."""
    if _LIBRARY in event.message:
        return False
    return _GAVE_UP.search(event.message) is not None or _RETURNED.search(event.message) is not None
