"""What exactly a fencing aborted, found by time and read with read_committed."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace

from eosctl.collect.aborted_ranges import collect_aborted_ranges
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.fencing import AbortedRange
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import fetch, list_offsets
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.analysis.scenes import NOW_MS, ORDERS_0, entry, snapshot
from tests.collect.conftest import ScriptedCluster

FENCED = tuple(
    replace(record, written_at_ms=NOW_MS - 5_000 + record.offset, updated_at_ms=NOW_MS - 5_000 + record.offset,
            start_time_ms=None if record.state == "Empty" else NOW_MS - 6_000)
    for record in (
        entry("Ongoing", 1), entry("PrepareAbort", 2, epoch=1), entry("CompleteAbort", 3, epoch=1),
        entry("Empty", 4, epoch=2),
    )
)  # fmt: skip


def data(base_offset: int, count: int, *, epoch: int = 0) -> bytes:
    records = [Record(0, NOW_MS, b"k", b"v") for _ in range(count)]
    return encode_batch(
        records, base_offset=base_offset, producer_id=7, producer_epoch=epoch, base_sequence=0, transactional=True
    )


def marker(offset: int, *, epoch: int, producer_id: int = 7) -> bytes:
    return encode_marker_batch(
        EndTxnMarker(False, 0),
        producer_id=producer_id,
        producer_epoch=epoch,
        timestamp=NOW_MS,
        base_offset=offset,
    )


def serve(cluster: ScriptedCluster, records: bytes, aborted: list[tuple[int, int]], start: int = 10) -> None:
    def offsets(request: Any) -> list_offsets.ListOffsetsResponse:
        found = list_offsets.ListOffsetsPartitionResponse(partition_index=0, offset=start)
        return list_offsets.ListOffsetsResponse(topics=[list_offsets.ListOffsetsTopicResponse("orders", [found])])

    part = fetch.PartitionData(
        partition_index=0,
        aborted_transactions=[fetch.AbortedTransaction(*pair) for pair in aborted],
        records=records,
    )
    cluster.on(1, ApiKey.LIST_OFFSETS, offsets)
    cluster.on(
        1,
        ApiKey.FETCH,
        fetch.FetchResponse(responses=[fetch.FetchableTopicResponse(topic="orders", partitions=[part])]),
    )


def collect(cluster: ScriptedCluster, **fields: Any) -> Probed[tuple[AbortedRange, ...]]:
    evidence = snapshot(**{"transaction_history": FENCED, **fields})
    return asyncio.run(collect_aborted_ranges(ReadOnly(cluster), evidence))


def test_marker_and_first_offset(cluster: ScriptedCluster) -> None:
    serve(cluster, data(12, 3) + marker(15, epoch=1), aborted=[(7, 8), (7, 2), (9, 14)])
    assert collect(cluster) == Probed((AbortedRange(ORDERS_0, 7, 8, 15, 1),), ())
    asked = {key: request for _, key, request in cluster.asked}
    assert asked[ApiKey.LIST_OFFSETS].topics[0].partitions[0].timestamp == NOW_MS - 5_000 + 2 - 5_000
    assert asked[ApiKey.FETCH].isolation_level == 1


def test_markers_of_others_and_of_other_aborts_are_passed_over(cluster: ScriptedCluster) -> None:
    serve(cluster, marker(12, epoch=1, producer_id=8) + marker(13, epoch=0) + marker(14, epoch=1), aborted=[(7, 8)])
    assert [found.marker_offset for found in collect(cluster).value] == [14]


def test_a_marker_out_of_reach_is_left_out(cluster: ScriptedCluster) -> None:
    serve(cluster, data(12, 3), aborted=[])
    assert collect(cluster).value == ()
    assert sum(1 for _, key, _ in cluster.asked if key == ApiKey.FETCH) == 4


def test_no_recent_fencing_reads_nothing(cluster: ScriptedCluster) -> None:
    assert collect(cluster, transaction_history=()) == Probed((), ())
    assert collect(cluster, captured_at_ms=NOW_MS + 10**8) == Probed((), ())
    assert cluster.asked == []


def test_refusals_are_gaps(cluster: ScriptedCluster) -> None:
    denied = fetch.PartitionData(partition_index=0, error_code=int(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    serve(cluster, b"", [])
    cluster.on(
        1,
        ApiKey.FETCH,
        fetch.FetchResponse(responses=[fetch.FetchableTopicResponse(topic="orders", partitions=[denied])]),
    )
    (gap,) = collect(cluster).gaps
    assert (gap.subject, gap.error) == ("orders-0", "TOPIC_AUTHORIZATION_FAILED")


def test_garbage_is_a_gap(cluster: ScriptedCluster) -> None:
    serve(cluster, b"\xff" * 200, aborted=[])
    probed = collect(cluster)
    assert probed.value == ()
    assert probed.gaps
