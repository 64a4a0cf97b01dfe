"""Bytes on the wire and on disks, by broker and direction (formulas F1 to F4, F24, F26, F31).

MB is 10⁶ bytes throughout. Rates are bytes per second after compression. Published sizing sheets differ from each other
mostly in what they forget: replication of the output, the direction of traffic, or the loss of a broker.
"""

from __future__ import annotations


def records_per_batch(
    rate_per_s: float, writer_count: float, linger_ms: float, record_size_bytes: float, batch_size_bytes: float
) -> float:
    """Return how many records a producer gathers for one partition before it sends them (F1).

    A batch is opened by its first record and sent when the linger ends or it is full, so it holds that record and what
    arrives within the linger. Flushing at commit ends it early: pass the commit interval where that is shorter.

    Args:
        rate_per_s: Records per second into one partition, from all writers.
        writer_count: Producers that share this rate.
        linger_ms: ``linger.ms``, or the commit interval if that is shorter.
        record_size_bytes: Size of one uncompressed record.
        batch_size_bytes: ``batch.size``.

    >>> records_per_batch(400, 4, 5, 1_000, 16_384)
    1.5
    >>> records_per_batch(100_000, 1, 100, 1_000, 16_384)
    16.384
    """
    gathered = 1 + rate_per_s / writer_count * linger_ms / 1000
    return max(1.0, min(gathered, batch_size_bytes / record_size_bytes))


def disk_write_per_broker(written: float, replication_factor: int, broker_count: int) -> float:
    """Return bytes/s that each broker writes (F2): all logs, input, output, changelogs and internal topics.

    The published table W3 (P = 500 MB/s; brokers and RF of 3/3, 5/3, 7/3, 7/5):

    >>> [round(disk_write_per_broker(500, rf, n)) for n, rf in ((3, 3), (5, 3), (7, 3), (7, 5))]
    [500, 300, 214, 357]
    """
    return written * replication_factor / broker_count


def network_in_per_broker(written: float, replication_factor: int, broker_count: int) -> float:
    """Return bytes/s that each broker receives (F3): from clients, and from leaders as a follower.

    10 MB/s in at RF 3 over 3 brokers; a common text has 30 MB/s for producers and another 20 for replication, which
    counts the copies twice:

    >>> network_in_per_broker(10, 3, 3)
    10.0
    """
    return written * replication_factor / broker_count


def network_out_per_broker(written: float, read: float, replication_factor: int, broker_count: int) -> float:
    """Return bytes/s that each broker sends (F4): to followers, and to every reader of every group.

    Args:
        written: Bytes/s into all topics.
        read: Bytes/s that all consumer groups read together (bytes/s of each topic times its readers).
        replication_factor: Copies.
        broker_count: Brokers.

    W4, reads of 1,500 MB/s over 3, 5 and 7 brokers (without replication):

    >>> [round(network_out_per_broker(0, 1_500, 1, n), 1) for n in (3, 5, 7)]
    [500.0, 300.0, 214.3]
    """
    return (written * (replication_factor - 1) + read) / broker_count


def network_out_after_broker_loss(
    written: float, read: float, replication_factor: int, broker_count: int, lost_count: int = 1
) -> float:
    """Return bytes/s that each remaining broker sends before partitions are reassigned (F24a, F24b).

    Copies that were on the lost brokers are not fetched, but the rest lead all partitions.

    The golden case, 6 brokers, 4 readers, RF 3: a tenth more than before.

    >>> before, after = network_out_per_broker(60, 240, 3, 6), network_out_after_broker_loss(60, 240, 3, 6)
    >>> round(after / before, 2)
    1.1

    A zone of three, two of these brokers (F24b): published sheets multiply everything by 1.33; the truth depends on the
    readers: nothing more at one, a quarter more at four.

    >>> one, four = network_out_per_broker(60, 60, 3, 6), before
    >>> [round(network_out_after_broker_loss(60, read, 3, 6, 2) / usual, 2) for read, usual in ((60, one), (240, four))]
    [1.0, 1.25]
    """
    left = broker_count - lost_count
    copies_left = replication_factor * left / broker_count
    return (read + written * max(0.0, copies_left - 1)) / left


def cross_zone_rate(
    written: float, read: float, replication_factor: int, zone_count: int, *, rack_aware_fetch: bool = False
) -> float:
    """Return bytes/s between zones (F31), with replicas spread over the zones and clients everywhere.

    Args:
        written: Bytes/s into all topics.
        read: Bytes/s that all groups read.
        replication_factor: Copies; at most one in each zone counts as remote traffic.
        zone_count: Zones.
        rack_aware_fetch: Consumers read from a replica of their own zone (KIP-392).

    >>> cross_zone_rate(30, 60, 3, 3), cross_zone_rate(30, 60, 3, 3, rack_aware_fetch=True)
    (120.0, 80.0)
    """
    away = (zone_count - 1) / zone_count
    replicated = written * min(replication_factor - 1, zone_count - 1)
    return written * away + replicated + (0.0 if rack_aware_fetch else read * away)


def page_cache_bytes(disk_write: float, delayed: float = 0.0) -> float:
    """Return the page cache that keeps tailing readers off the disk (F26): 30 s of writes (Kafka's hardware page).

    Args:
        disk_write: Bytes/s that the broker writes.
        delayed: What readers read late: the sum of delay (s) times bytes/s; a read_committed reader is at least a
            commit interval late.

    >>> page_cache_bytes(20e6)
    600000000.0
    """
    return 30 * disk_write + delayed
