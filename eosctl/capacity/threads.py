"""What brokers' request handlers and network threads have to do.

Public sizing sheets count bytes; transactions cost requests and appends. The constants are processor time of Kafka's
own threads, measured with one broker of 4.3.1 (TV2, one replica, 2 cores, loopback) at 200 and 400 transactions a
second with 1 and with 8 partitions, of 100 B and of 20 kB; calibration uses other shapes. Faster processors need less,
and a JVM that has just started twice as much.
"""

from __future__ import annotations

from typing import Final

HANDLER_US_PER_REQUEST: Final = 77.0
HANDLER_US_PER_APPEND: Final = 16.0
HANDLER_US_PER_KIB: Final = 4.8
NETWORK_US_PER_REQUEST: Final = 75.0
NETWORK_US_PER_KIB: Final = 1.3


def requests_per_transaction(
    transaction_version: int, produce_requests: float, partition_waves: float, marked_brokers: float, *, offsets: bool
) -> float:
    """Return the requests that brokers handle for one transaction, their own to each other included.

    At TV0/TV1 clients add partitions and offsets to the transaction, and the leader of each produce request asks the
    coordinator whether they are in it; at TV2 that question adds them. Markers are sent even to a broker itself.

    Args:
        transaction_version: The level that clients speak.
        produce_requests: Produce requests of the transaction.
        partition_waves: Requests that add partitions (F9).
        marked_brokers: Brokers that lead a partition of the transaction, that of the offsets included.
        offsets: Whether consumed offsets are committed in it.

    One partition at TV2 (Produce, AddPartitionsToTxn, EndTxn, WriteTxnMarkers) and at TV1; with offsets at TV2:

    >>> requests_per_transaction(2, 1, 1, 1, offsets=False), requests_per_transaction(1, 1, 1, 1, offsets=False)
    (4, 5)
    >>> requests_per_transaction(2, 1, 1, 1, offsets=True)
    6
    """
    asked = produce_requests if transaction_version < 2 else 0
    # AddOffsetsToTxn or the group coordinator's question, and TxnOffsetCommit; at TV1 both ask.
    committing = (2 if transaction_version == 2 else 3) if offsets else 0
    return produce_requests + partition_waves + asked + committing + 1 + marked_brokers


def produce_request_rate(batches_per_s: float, writer_count: float, broker_count: int, linger_ms: float) -> float:
    """Return produce requests per second: one batch each, or what a writer has for one broker when its linger ends.

    Args:
        batches_per_s: Batches of all writers.
        writer_count: Producers.
        broker_count: Brokers that lead partitions.
        linger_ms: ``linger.ms``, or the commit interval if that is shorter; 0 sends every batch by itself.

    >>> produce_request_rate(10_000, 8, 3, 10), produce_request_rate(100, 8, 3, 10)
    (2400.0, 100)
    >>> produce_request_rate(9_000, 1, 3, 0)
    9000
    """
    if not linger_ms:
        return batches_per_s
    return min(batches_per_s, writer_count * broker_count * 1000 / linger_ms)


def fetch_request_rate(batches_per_s: float, fetcher_count: float, round_trip_ms: float) -> float:
    """Return fetches per second: with ``fetch.min.bytes`` of 1 each batch answers one, until round trips bound them.

    Args:
        batches_per_s: Batches that each of the fetchers' sources gets, over all fetchers.
        fetcher_count: Pairs of a consumer or follower and a broker that it reads from.
        round_trip_ms: One fetch and its answer, or longer where several batches are fetched together.

    >>> fetch_request_rate(100, 6, 1), fetch_request_rate(50_000, 6, 1)
    (100, 6000.0)
    """
    return min(batches_per_s, fetcher_count * 1000 / max(round_trip_ms, 0.1))


def busy_request_handlers(requests_per_s: float, appends_per_s: float, produced: float) -> float:
    """Return how many request-handler threads (``num.io.threads``) of a broker are busy on average.

    Args:
        requests_per_s: Requests that the broker handles.
        appends_per_s: Appends to the logs that it leads.
        produced: Bytes per second of these appends.

    1,000 transactions a second of one partition at TV2: 4 requests and 5 appends each.

    >>> round(busy_request_handlers(4_000, 5_000, 700_000), 2)
    0.39
    """
    busy_us = requests_per_s * HANDLER_US_PER_REQUEST + appends_per_s * HANDLER_US_PER_APPEND
    return (busy_us + produced / 1024 * HANDLER_US_PER_KIB) / 1e6


def busy_network_threads(requests_per_s: float, moved: float) -> float:
    """Return how many network threads (``num.network.threads``, for each listener) of a broker are busy on average.

    Args:
        requests_per_s: Requests that the broker answers.
        moved: Bytes per second in and out.

    >>> round(busy_network_threads(4_000, 700_000), 2)
    0.3
    """
    return (requests_per_s * NETWORK_US_PER_REQUEST + moved / 1024 * NETWORK_US_PER_KIB) / 1e6
