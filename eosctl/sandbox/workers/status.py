"""One description of a cluster from those of its workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eosctl.sandbox.core import ClusterShape

_OFFSETS: Final = ("high_watermark", "last_stable_offset", "log_end_offset", "open_transactions")
_NO_OFFSET: Final = -1

Report = Mapping[str, Any]


def merge_status(
    shape: ClusterShape,
    shares: Mapping[int, frozenset[int]],
    reports: Mapping[int, Report],
    addresses: Mapping[int, str],
) -> dict[str, Any]:
    """Return the description of the whole cluster, as `status.describe_cluster` does for one process.

    A node is described by its worker, metadata by the worker with the newest, and a partition's offsets by the worker
    of its leader. The workers are queried one after another.

    Args:
        shape: The cluster.
        shares: The nodes of each worker.
        reports: The descriptions of the running workers.
        addresses: The client address of each broker.
    """
    newest: Report = max(reports.values(), key=_metadata_offset, default={})
    by_node = {node: reports[worker] for worker in reports for node in shares[worker]}
    controllers = [_controller(node, by_node.get(node)) for node in shape.controller_ids]
    active = max((found for found in controllers if found["active"]), key=lambda found: found["epoch"], default=None)
    return {
        "cluster_id": newest.get("cluster_id"),
        "emulate": shape.emulation.release,
        "transaction_version": newest.get("transaction_version"),
        "metadata_offset": newest.get("metadata_offset"),
        "controller": active["id"] if active is not None else None,
        "controllers": controllers,
        "brokers": [_broker(node, by_node.get(node), addresses.get(node, "")) for node in shape.broker_ids],
        "partitions": list(_partitions(newest, by_node)),
        "transactions": [found for _, report in sorted(reports.items()) for found in report["transactions"]],
    }


def _metadata_offset(report: Report) -> int:
    offset = report["metadata_offset"]
    return _NO_OFFSET if offset is None else int(offset)


def _find(rows: Sequence[Report], node: int) -> Report:
    return next(row for row in rows if row["id"] == node)


def _controller(node: int, report: Report | None) -> Report:
    if report is None:
        return {"id": node, "running": False, "active": False, "epoch": None}
    return _find(report["controllers"], node)


def _broker(node: int, report: Report | None, address: str) -> Report:
    if report is None:
        return {"id": node, "address": address, "running": False, "ready": False}
    return {**_find(report["brokers"], node), "address": address}


def _partitions(newest: Report, by_node: Mapping[int, Report]) -> Iterator[Report]:
    led: dict[tuple[int, str, int], Report] = {}
    for node, report in by_node.items():
        led |= {(node, row["topic"], row["partition"]): row for row in report["partitions"] if row["leader"] == node}
    for row in newest.get("partitions", ()):
        of_leader = led.get((row["leader"], row["topic"], row["partition"]), {})
        offsets = {name: of_leader[name] for name in _OFFSETS if name in of_leader}
        yield {**{name: value for name, value in row.items() if name not in _OFFSETS}, **offsets}
