"""The nodes of workers, and the description of a cluster from those of its workers."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.process.shape import assign_nodes
from eosctl.sandbox.workers.status import merge_status


@given(st.integers(2, 16), st.sampled_from([1, 3]), st.data())
def test_every_node_has_one_worker_and_every_worker_a_broker(
    brokers: int, controllers: int, data: st.DataObject
) -> None:
    shape = ClusterShape(broker_count=brokers, controller_count=controllers)
    shares = assign_nodes(shape, data.draw(st.integers(2, brokers)))
    nodes = sorted(node for share in shares.values() for node in share)
    assert nodes == sorted([*shape.broker_ids, *shape.controller_ids])
    counts = [sum(node in shape.broker_ids for node in share) for share in shares.values()]
    assert max(counts) - min(counts) <= 1 <= min(counts)


def report(offset: int | None, active: int | None, **offsets: int) -> dict[str, Any]:
    """Describe two brokers and a controller as a worker sees them that hosts all or some of them."""
    row = {"topic": "orders", "partition": 0, "leader": 2, "leader_epoch": 0, "replicas": [1, 2], "isr": [1, 2]}
    return {
        "cluster_id": "id",
        "transaction_version": 2,
        "metadata_offset": offset,
        "controllers": [{"id": 100, "running": active == 100, "active": active == 100, "epoch": 7}],
        "brokers": [{"id": node, "address": "wrong", "running": True, "ready": True} for node in (1, 2)],
        "partitions": [] if offset is None else [row | offsets],
        "transactions": [{"transactional_id": f"at-{offset}"}],
    }


SHAPE = ClusterShape(broker_count=2)
SHARES = {1: frozenset({1, 100}), 2: frozenset({2})}
ADDRESSES = {1: "localhost:1", 2: "localhost:2"}


def test_offsets_are_those_of_the_leader() -> None:
    reports = {1: report(9, 100, high_watermark=1), 2: report(8, None, high_watermark=5, log_end_offset=6)}
    merged = merge_status(SHAPE, SHARES, reports, ADDRESSES)
    assert merged["metadata_offset"] == 9
    assert merged["controller"] == 100
    assert merged["brokers"][1] == {"id": 2, "address": "localhost:2", "running": True, "ready": True}
    (row,) = merged["partitions"]
    assert (row["high_watermark"], row["log_end_offset"]) == (5, 6)
    assert merged["transactions"] == [{"transactional_id": "at-9"}, {"transactional_id": "at-8"}]


def test_a_partition_has_no_offsets_without_its_leader() -> None:
    merged = merge_status(SHAPE, SHARES, {1: report(9, 100, high_watermark=1)}, ADDRESSES)
    assert "high_watermark" not in merged["partitions"][0]
    assert merged["brokers"][1] == {"id": 2, "address": "localhost:2", "running": False, "ready": False}


def test_a_controller_of_an_ended_worker_is_down() -> None:
    merged = merge_status(SHAPE, SHARES, {2: report(None, None)}, ADDRESSES)
    assert merged["controllers"] == [{"id": 100, "running": False, "active": False, "epoch": None}]
    assert merged["controller"] is None
    assert merged["partitions"] == []


def test_no_worker_is_left() -> None:
    merged = merge_status(SHAPE, SHARES, {}, ADDRESSES)
    assert not any(node["running"] for node in (*merged["brokers"], *merged["controllers"]))
