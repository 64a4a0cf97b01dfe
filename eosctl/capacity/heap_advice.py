"""Recommend remedies for a heap that does not hold the state of producers and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

from msgspec.structs import replace

from eosctl.capacity.resources import LASTING_HEAP_SHARE
from eosctl.model.capacity_plan import Advice, ResourceUse
from eosctl.model.workload import ClusterSpec
from eosctl.text import bytes_text, milliseconds_text

HOUR_MS = 3_600_000.0
#: Expirations to try, the longest first. A shorter one forgets producers that pause between two bursts of records.
PRODUCER_ID_EXPIRATIONS_MS = tuple(hours * HOUR_MS for hours in (168, 72, 24, 12, 6, 3, 2, 1))
TRANSACTIONAL_ID_EXPIRATIONS_MS = tuple(hours * HOUR_MS for hours in (168, 72, 24, 12))
#: Above this a JVM no longer compresses its object pointers.
LARGEST_HEAP_BYTES = 31 * 2**30


def relieve_heap(cluster: ClusterSpec, heap: ResourceUse, use_heap: Callable[[ClusterSpec], float]) -> Iterator[Advice]:
    """Recommend remedies, the cheapest first; each is enough by itself.

    Args:
        cluster: The brokers.
        heap: The use of the heap, above its planned limit.
        use_heap: Plans the workload on other brokers, and returns the share of the planned heap that it uses.
    """
    used = f"heap for EOS state is {heap.utilisation:.0%} of what is planned"
    if (shorter := _shorten(cluster, use_heap)) is not None:
        producer_ms, transactional_ms = shorter
        yield Advice(
            "producer.id.expiration.ms",
            str(int(producer_ms)),
            f"{used}; partitions forget idle producers after {milliseconds_text(producer_ms)} instead of "
            f"{milliseconds_text(cluster.producer_id_expiration_ms)}",
            True,
        )
        if transactional_ms < cluster.transactional_id_expiration_ms:
            yield Advice(
                "transactional.id.expiration.ms",
                str(int(transactional_ms)),
                f"together with producer.id.expiration.ms: coordinators forget idle ids after "
                f"{milliseconds_text(transactional_ms)}. An application that pauses for longer gets a new producer id",
                True,
            )
    needed = heap.used_after_loss / LASTING_HEAP_SHARE
    if needed <= min(LARGEST_HEAP_BYTES, cluster.memory_bytes or LARGEST_HEAP_BYTES):
        yield Advice(
            "heap of each broker",
            f"{ceil(needed / 2**30)} GiB",
            f"{used}; {bytes_text(heap.used_after_loss)} of long-lived objects may take half of it",
            True,
        )


def _shorten(cluster: ClusterSpec, use_heap: Callable[[ClusterSpec], float]) -> tuple[float, float] | None:
    """Return the longest expirations with which the heap is enough: of producer ids, and of transactional ids."""
    producer, transactional = cluster.producer_id_expiration_ms, cluster.transactional_id_expiration_ms
    for ids_ms in (transactional, *(ms for ms in TRANSACTIONAL_ID_EXPIRATIONS_MS if ms < transactional)):
        for expiration_ms in (ms for ms in PRODUCER_ID_EXPIRATIONS_MS if ms < producer):
            tried = replace(cluster, producer_id_expiration_ms=expiration_ms, transactional_id_expiration_ms=ids_ms)
            if use_heap(tried) <= 1:
                return expiration_ms, ids_ms
    return None
