"""What reading a partition yields."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from eosctl.model.kafka_data import CoordinatedTransaction, Damage, KeyUse, PartitionTransaction, SequenceBreak


class Subject(StrEnum):
    """What a tally is about."""

    TOPIC = "topic"
    TRANSACTIONAL_ID = "transactional_id"
    GROUP = "group"


class Tally(NamedTuple):
    """Counts that add up over partitions.

    Attributes:
        subject: What is counted for.
        name: Which one of them.
        counts: How often what was seen.
        durations: Transactions by duration, see ``spread.bucket_of``.
        endings: The same of the time from the decision to the last marker.
    """

    subject: str
    name: str
    counts: Mapping[str, int]
    durations: Mapping[int, int]
    endings: Mapping[int, int]


Fact = PartitionTransaction | CoordinatedTransaction | Tally | SequenceBreak | KeyUse | Damage
