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
    r"|[Ff]ailed to deliver \d+ messages?|\b(?:Rejecting|Dropping) data\b|[Mm]essage delivery failed"
    r"|\b[Dd]elivery failed\b|failed to flush the buffer|\bGiving up\b|\bgave up\b|[Cc]ould not find the leader"
    r"|Problem getting partitions during startup|\bHandler for \S+ failed with\b"
)
_LIBRARY: Final = "[thrd:"
"""A thread of librdkafka, which logs every attempt; its error is final where the application reports it."""


def has_given_up(event: LogEvent) -> bool:
    """Return whether a client's record, or the error below it, reports the end of its retries."""
    if _LIBRARY in event.message:
        return False
    return bool(event.fields.get("gave_up")) or _GAVE_UP.search(event.message) is not None
