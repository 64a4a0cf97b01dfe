"""Name the partition and the producer id of a refusal that only other records of its program name.

Sarama returns an error with the topic alone. Its log names each partition that a broker's producer opens
(``brokerProducer``), and the producer id that it obtained (``InitProducerID``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

_OPENED: Final = re.compile(
    r"\bproducer/broker/\d+ state change to \[open\] on (?P<topic>[\w.-]{1,249})/(?P<index>\d+)"
)


def shown_in_log(timeline: LogTimeline, episode: Sequence[LogEvent]) -> Mapping[EventField, str]:
    """Return the partition and the producer id that a client's log shows for refusals without a partition.

    They are named only if the client has opened one partition of the topic, and has had one producer id.
    """
    first = episode[0]
    topic = next((name for event in episode if (name := event.fields.get("topic"))), "")
    is_named = any(event.fields.get("partition") or event.fields.get("partition_index") for event in episode)
    if first.application in timeline.servers() or is_named or not topic:
        return {}
    before = timeline.log_between(first, -inf, time_of(first), ("ROUTINE", "INIT_PRODUCER_ID"))
    opened = [found for event in before if (found := _OPENED.search(event.message)) and found["topic"] == topic]
    shown: dict[EventField, str] = {}
    if len(indexes := {found["index"] for found in opened}) == 1:
        shown["partition"] = f"{topic}-{indexes.pop()}"
    producers = {name for event in before if opened and (name := event.fields.get("producer_id"))}
    if len(producers) == 1:
        shown["producer_id"] = producers.pop()
    return shown


def partition_in_words(fields: Mapping[EventField, str]) -> str:
    """Return the partition of a refusal, or its topic as words.

    >>> partition_in_words({"topic": "orders"})
    'a partition of orders'
    """
    topic = fields.get("topic", "")
    return fields.get("partition", "").rpartition(":")[2] or (f"a partition of {topic}" if topic else "a partition")
