"""Brokers with two log directories each, and what tests ask of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.metadata.image import directory_of
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResult
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

PARTITIONS = [TopicPartition("orders", index) for index in range(6)]


def shape(brokers: int) -> ClusterShape:
    return ClusterShape(brokers, Emulation("4.3"), fast=True, log_dir_count=2)


def three_brokers(tmp_path: Path) -> Iterator[EosClient]:
    """Run three brokers with a topic whose replicas are where the metadata has them."""
    harness = Harness(tmp_path / "data", shape(3))
    client = EosClient(harness, implicit=True)
    client.create_topic("orders", len(PARTITIONS), 3, min_insync_replicas="1")
    harness.run_until(lambda: all(has_all_directories(harness, node) for node in (1, 2, 3)))
    yield client
    harness.close()


def has_all_directories(harness: Harness, node: int) -> bool:
    """Return whether the metadata has the directory of every replica of a broker."""
    broker = harness.core.broker(node)
    return all(
        (home := broker.logs.directory_of_log(name)) is not None
        and (state := broker.metadata.partition(name)) is not None
        and directory_of(state, node) == home.directory_id
        for name in PARTITIONS
    )


def second(harness: Harness, node: int) -> LogDirectory:
    return harness.core.broker(node).logs.all[1]


def fail(harness: Harness, directory: LogDirectory) -> None:
    directory.fail(OSError(errno.EIO, os.strerror(errno.EIO)))
    harness.core.ticks.schedule()


def within(directory: LogDirectory) -> list[TopicPartition]:
    return [name for name, _ in directory.logs()]


def describe(harness: Harness, node: int) -> list[DescribeLogDirsResult]:
    found = harness.request(node, ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(None)).results
    assert isinstance(found, list)
    return found
