"""Thresholds of analyses and checks, in one place."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Where normal ends.

    None of Kafka's own defaults, left alone, crosses one of them.

    Attributes:
        clock_tolerance_ms: How far the clocks of observer and brokers may differ before a comparison counts.
        marker_delivery_ms: How long a transaction may stay in Prepare* while its markers are delivered; a leader
            election takes seconds.
        long_running_transaction_ms: From when on an open transaction is called long-running: twice the producer's
            default `transaction.timeout.ms`.
        long_running_invisible_records: How many records a long-running transaction may hide from readers.
        last_stable_offset_gap_records: How far the last stable offset may lie behind the high watermark.
        retention_percent: How much of `retention.ms` a transaction may be open before its records are in danger.
        fencing_window_ms: How old a fencing may be to be news.
        fencing_repeat_count: From how many fencings of one id in the window on it is a fight between two instances.
        reinit_within_ms: How soon after an abort a new InitProducerId must follow to belong to it; the initialising
            client retries CONCURRENT_TRANSACTIONS with at most `retry.backoff.max.ms` (1,000) in between.
        transaction_log_replication_factor: Replicas that `__transaction_state` should have, brokers permitting.
        transaction_log_min_isr: In-sync replicas that its writes should wait for.
        producer_id_count: Producer ids that one partition may remember; expiring more takes noticeable time under the
            lock of the log (KAFKA-16229).
        transactional_id_count: Transactional ids that a cluster may remember before somebody should ask why.
        coordinator_offset_count: Offsets of an internal partition that a coordinator can read while it moves; some ten
            seconds of loading.
        coordinator_skew_percent: How much more than its share of coordinators a broker may lead.
        partition_count: Replicas that one broker may hold.
        disk_used_percent: How full a broker's volume may be.
        quorum_lag_ms: How far behind a replica of the metadata log may be; brokers' sessions end after nine seconds.
        preferred_leader_percent: How many leaders may be away from their preferred broker.
    """

    clock_tolerance_ms: int = 5_000
    marker_delivery_ms: int = 5_000
    long_running_transaction_ms: int = 120_000
    long_running_invisible_records: int = 10_000
    last_stable_offset_gap_records: int = 100_000
    retention_percent: int = 50
    fencing_window_ms: int = 3_600_000
    fencing_repeat_count: int = 3
    reinit_within_ms: int = 2_000
    transaction_log_replication_factor: int = 3
    transaction_log_min_isr: int = 2
    producer_id_count: int = 5_000
    transactional_id_count: int = 10_000
    coordinator_offset_count: int = 2_000_000
    coordinator_skew_percent: int = 50
    partition_count: int = 4_000
    disk_used_percent: int = 85
    quorum_lag_ms: int = 9_000
    preferred_leader_percent: int = 20
