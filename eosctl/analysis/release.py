"""The minimum Kafka release of the brokers, derived from their API versions.

Brokers do not report their release. Each line of the table is the first release that serves a version, so the result is
a lower bound: 3.4 serves what 3.3 serves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.model.snapshot import Broker, ClusterSnapshot

Release = tuple[int, int]
"""Major and minor number, e.g. ``(3, 9)``."""


class _Mark(NamedTuple):
    release: Release
    api_key: int
    version: int


_MARKS: Final = (
    _Mark((2, 5), 22, 3),  # InitProducerId 3, KIP-360
    _Mark((2, 8), 61, 0),  # DescribeProducers, KIP-664
    _Mark((3, 0), 66, 0),  # ListTransactions, KIP-664
    _Mark((3, 1), 1, 13),  # Fetch 13, KIP-516
    _Mark((3, 2), 11, 9),  # JoinGroup 9, KIP-814
    _Mark((3, 3), 35, 4),  # DescribeLogDirs 4, KIP-827
    _Mark((3, 5), 1, 15),  # Fetch 15, KIP-903
    _Mark((3, 6), 24, 4),  # AddPartitionsToTxn 4, KIP-890
    _Mark((3, 7), 0, 10),  # Produce 10, KIP-951
    _Mark((3, 8), 66, 1),  # ListTransactions 1, KIP-994
    _Mark((3, 9), 1, 17),  # Fetch 17, KIP-853
    _Mark((4, 0), 0, 12),  # Produce 12, KIP-890
    _Mark((4, 1), 66, 2),  # ListTransactions 2, KIP-1152
    _Mark((4, 2), 27, 2),  # WriteTxnMarkers 2, KIP-1228
    _Mark((4, 3), 35, 5),  # DescribeLogDirs 5, KIP-1066
    _Mark((4, 4), 28, 6),  # TxnOffsetCommit 6
)
OLDEST: Final[Release] = (0, 11)


def release_floor(broker: Broker) -> Release | None:
    """Return the minimum release of a broker; None if it reported no API versions."""
    if not broker.api_ranges:
        return None
    served = {api.api_key: api.max_version for api in broker.api_ranges}
    return max((m.release for m in _MARKS if served.get(m.api_key, -1) >= m.version), default=OLDEST)


def at_least(snapshot: ClusterSnapshot, release: Release) -> bool:
    """Return whether any broker may have this release or a later one; one without API versions may have any."""
    floors = [release_floor(broker) for broker in snapshot.brokers]
    return not floors or any(floor is None or floor >= release for floor in floors)


def oldest_release(snapshot: ClusterSnapshot) -> Release | None:
    """Return the minimum release of the oldest broker; None if none reported API versions."""
    return min((floor for floor in map(release_floor, snapshot.brokers) if floor is not None), default=None)
