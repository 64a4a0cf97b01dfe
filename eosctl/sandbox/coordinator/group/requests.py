"""Helpers shared by the handlers of group requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode

Key = TypeVar("Key")
Result = TypeVar("Result")


def find_named_shard(groups: GroupCoordinator, group_id: str) -> Shard | ErrorCode:
    """Return the shard of a group, or an error; an empty name is invalid."""
    return groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID


def java_address(host: str) -> str:
    """Return a client's address as Java prints it and groups store it: with a leading slash."""
    return host if host.startswith("/") else f"/{host}"


def partition_exists(metadata: MetadataView, partition: TopicPartition) -> bool:
    """Return whether the cluster has this partition."""
    return 0 <= partition.partition < metadata.partition_count(partition.topic)


def gather(
    keys: Sequence[Key], ask: Callable[[Key, Callable[[Result], None]], None], done: Callable[[list[Result]], None]
) -> None:
    """Call `ask` for each key and pass all results to `done` in the order of the keys."""
    results: dict[int, Result] = {}

    def answered(position: int, result: Result) -> None:
        results[position] = result
        if len(results) == len(keys):
            done([results[index] for index in range(len(keys))])

    if not keys:
        done([])
    for position, key in enumerate(keys):
        ask(key, partial(answered, position))
