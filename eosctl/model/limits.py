"""Thresholds of analyses and checks, in one place."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Thresholds. Kafka's defaults do not exceed any of them.

    Attributes:
        clock_tolerance_ms: Tolerated difference between the clocks of observer and brokers.
        marker_delivery_ms: Time in which a Prepare* transaction is normal; a leader election takes seconds.
        long_running_transaction_ms: Age of a long-running transaction: twice the producer's default
            `transaction.timeout.ms`.
        long_running_invisible_records: Number of records that a long-running transaction may hide.
        last_stable_offset_gap_records: Maximum distance of the last stable offset from the high watermark.
        retention_percent: Share of `retention.ms` after which the records of an open transaction are at risk.
        fencing_window_ms: Maximum age of a reported fencing.
        fencing_repeat_count: Number of fencings of an id in the window that indicates two competing instances.
        initialization_window_ms: Maximum age of a counted InitProducerId.
        initialization_count: Number of InitProducerId of an id in that window that no planned restart explains.
        reinit_within_ms: Maximum time from an abort to the InitProducerId that caused it; the initializing client
            retries CONCURRENT_TRANSACTIONS with at most `retry.backoff.max.ms` (1,000) in between.
        transaction_log_replication_factor: Expected replicas of `__transaction_state`, with enough brokers.
        transaction_log_min_isr: Expected in-sync replicas of its writes.
        producer_id_count: Maximum producer ids per partition; expiring more takes long under the log's lock
            (KAFKA-16229).
        transactional_id_count: Maximum transactional ids of a cluster before they are reported.
        rebalance_ms: Time in which a rebalance is normal; members join with the first poll after a heartbeat (3 s).
        coordinator_skew_percent: Maximum excess of a broker's share of coordinators.
        partition_count: Maximum replicas of a broker.
        disk_used_percent: Maximum use of a broker's volume.
        quorum_lag_ms: Maximum lag of a replica of the metadata log; brokers' sessions expire after nine seconds.
        preferred_leader_percent: Maximum share of leaders that are not preferred.
    """

    clock_tolerance_ms: int = 5_000
    marker_delivery_ms: int = 5_000
    long_running_transaction_ms: int = 120_000
    long_running_invisible_records: int = 10_000
    last_stable_offset_gap_records: int = 100_000
    retention_percent: int = 50
    fencing_window_ms: int = 3_600_000
    fencing_repeat_count: int = 3
    initialization_window_ms: int = 600_000
    initialization_count: int = 20
    reinit_within_ms: int = 2_000
    transaction_log_replication_factor: int = 3
    transaction_log_min_isr: int = 2
    producer_id_count: int = 5_000
    transactional_id_count: int = 10_000
    rebalance_ms: int = 5_000
    coordinator_skew_percent: int = 50
    partition_count: int = 4_000
    disk_used_percent: int = 85
    quorum_lag_ms: int = 9_000
    preferred_leader_percent: int = 20
