"""Records of share groups that were delivered and not acknowledged, and the limit of their deliveries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from eosctl.model.group_details import DeliveredRange, DeliveryState, SharePartition
from eosctl.model.setting import Setting
from eosctl.model.snapshot import ClusterSnapshot, Group

GROUP_LIMIT: Final = "share.delivery.count.limit"
BROKER_LIMIT: Final = f"group.{GROUP_LIMIT}"
#: The least value of `group.share.min.delivery.count.limit`.
LOWEST_LIMIT: Final = 2

_Predicate = Callable[[SharePartition, DeliveredRange], bool]


class Deliveries(NamedTuple):
    """Ranges of one share-partition."""

    share: SharePartition
    ranges: tuple[DeliveredRange, ...]

    @property
    def record_count(self) -> int:
        """Return the number of offsets in the ranges."""
        return sum(one.last_offset - one.first_offset + 1 for one in self.ranges)

    @property
    def most_deliveries(self) -> int:
        """Return the highest delivery count."""
        return max(one.delivery_count for one in self.ranges)


def delivery_limits(snapshot: ClusterSnapshot) -> Iterator[tuple[Group, int]]:
    """Yield each group with the number of deliveries after which brokers archive a record of it.

    A group has a limit of its own only on releases with that setting; before, the brokers' lowest one counts. Where
    neither is known, it is Kafka's lowest limit.
    """
    of_brokers = _lowest(broker.setting(BROKER_LIMIT) for broker in snapshot.brokers)
    for group in snapshot.groups:
        own = group.setting(GROUP_LIMIT)
        yield group, of_brokers if own is None else _lowest((own,))


def _lowest(settings: Iterable[Setting | None]) -> int:
    limits = [int(one.value) for one in settings if one is not None and one.value and one.value.isdigit()]
    return min(limits, default=LOWEST_LIMIT)


def exhausted_records(group: Group, limit: int) -> Iterator[Deliveries]:
    """Find records that were archived with their last delivery: no consumer of the group will receive them again.

    A range below the limit was rejected by a consumer, or removed as control or aborted records.
    """
    yield from _select(group, lambda share, one: one.state == DeliveryState.ARCHIVED and one.delivery_count >= limit)


def repeated_records(group: Group, limit: int) -> Iterator[Deliveries]:
    """Find records that wait for another delivery after at least half of them, rounded up, and at least two.

    From that count on, brokers deliver smaller batches, to isolate records that cannot be processed.
    """
    yield from _select(
        group,
        lambda share, one: (
            one.state == DeliveryState.AVAILABLE
            and one.delivery_count >= max(2, (limit + 1) // 2)
            and (share.start_offset is None or one.last_offset >= share.start_offset)
        ),
    )


def _select(group: Group, is_wanted: _Predicate) -> Iterator[Deliveries]:
    for share in group.share_partitions:
        ranges = tuple(one for one in share.ranges if is_wanted(share, one))
        if ranges:
            yield Deliveries(share, ranges)
