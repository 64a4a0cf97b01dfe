"""Define the facts that reading a partition yields."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from eosctl.model.kafka_data import CoordinatedTransaction, Damage, KeyUse, PartitionTransaction, SequenceBreak


class Subject(StrEnum):
    """The subject of a tally."""

    TOPIC = "topic"
    TRANSACTIONAL_ID = "transactional_id"
    GROUP = "group"


class Tally(NamedTuple):
    """Counts that add up over partitions.

    Attributes:
        subject: The kind of subject.
        name: The name of the subject.
        counts: The number of occurrences by kind.
        durations: The number of transactions by duration, see ``spread.bucket_of``.
        endings: The number of transactions by the time from the decision to the last marker.
    """

    subject: str
    name: str
    counts: Mapping[str, int]
    durations: Mapping[int, int]
    endings: Mapping[int, int]


Fact = PartitionTransaction | CoordinatedTransaction | Tally | SequenceBreak | KeyUse | Damage
