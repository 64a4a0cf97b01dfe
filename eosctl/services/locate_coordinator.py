"""Find the partition of an internal topic that a name belongs to, without a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.analysis.locate import coordinator_partition
from eosctl.model.transaction import TopicPartition

#: Kafka's default of `transaction.state.log.num.partitions` and `offsets.topic.num.partitions`.
DEFAULT_PARTITIONS: Final = 50


def locate_transactional_ids(
    ids: Iterable[str], partitions: int = DEFAULT_PARTITIONS
) -> list[tuple[str, TopicPartition]]:
    """Return each id with its partition of ``__transaction_state``, which has this many partitions."""
    return [(name, coordinator_partition(TRANSACTION_STATE_TOPIC, name, partitions)) for name in ids]


def locate_groups(groups: Iterable[str], partitions: int = DEFAULT_PARTITIONS) -> list[tuple[str, TopicPartition]]:
    """Return each group with its partition of ``__consumer_offsets``, which has this many partitions."""
    return [(name, coordinator_partition(CONSUMER_OFFSETS_TOPIC, name, partitions)) for name in groups]
