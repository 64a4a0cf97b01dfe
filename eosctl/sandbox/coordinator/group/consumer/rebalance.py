"""Changes of a consumer group's membership: new epochs, new targets, and replaced static members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.assignors import ASSIGNORS
from eosctl.sandbox.coordinator.group.consumer.consumer_records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    regex_tombstone,
    target_epoch_record,
    target_record,
)
from eosctl.sandbox.coordinator.group.consumer.group import (
    FIRST_GROUP_EPOCH,
    NO_PARTITIONS,
    Assignment,
    ConsumerGroup,
    ConsumerMember,
)
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash, partitions_of
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.ports import MetadataView


class MigrationPolicy(StrEnum):
    """The allowed online migrations of a broker (`group.consumer.migration.policy`)."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def allows_upgrade(self) -> bool:
        """Return whether a classic group may become a consumer group."""
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def allows_downgrade(self) -> bool:
        """Return whether a consumer group may become a classic group."""
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


class ConsumerConfig(NamedTuple):
    """Limits and intervals of consumer groups (`group.consumer.*`)."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    max_size: int
    assignors: tuple[str, ...]
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    classic_max_size: int = 2**31 - 1


def drop_unused_regex(group: ConsumerGroup, pattern: str, records: list[StoredRecord]) -> ConsumerGroup:
    """Remove a pattern that no member uses."""
    used = any(member.subscribed_topic_regex == pattern for member in group.members.values())
    if not pattern or used or pattern not in group.regexes:
        return group
    records.append(regex_tombstone(group.group_id, pattern))
    return replace(group, regexes={key: value for key, value in group.regexes.items() if key != pattern})


def refresh_epoch(
    group: ConsumerGroup, metadata: MetadataView, bump: bool, is_first: bool, records: list[StoredRecord]
) -> ConsumerGroup:
    """Bump the group epoch when its members (`bump`) or its topics have changed."""
    topics = metadata_hash(metadata, group.subscribed_topics())
    if bump or topics != group.metadata_hash:
        group = replace(group, group_epoch=group.group_epoch + 1, metadata_hash=topics)
    elif not is_first:
        return group
    records.append(epoch_record(group))
    return group


def refresh_target(
    group: ConsumerGroup, metadata: MetadataView, config: ConsumerConfig, now_ms: int, records: list[StoredRecord]
) -> ConsumerGroup:
    """Compute a new target if the group has a new epoch, at most once per assignment interval (KIP-1263).

    The target of a group's first epoch is empty and does not delay the next one.
    """
    waits = (
        group.assignment_epoch > FIRST_GROUP_EPOCH
        and now_ms < group.assignment_timestamp_ms + config.assignment_interval_ms
    )
    if group.group_epoch <= group.assignment_epoch or waits:
        return group
    subscriptions = {key: group.subscription_of(member) for key, member in group.members.items()}
    partitions = {topic: partitions_of(metadata, topic) for topic in group.subscribed_topics()}
    targets = ASSIGNORS[preferred_assignor(group, config.assignors)](subscriptions, partitions, group.targets)
    records += [
        target_record(group.group_id, member_id, target) for member_id, target in _changed(targets, group.targets)
    ]
    group = replace(group, targets=targets, assignment_epoch=group.group_epoch, assignment_timestamp_ms=now_ms)
    records.append(target_epoch_record(group))
    return group


def _changed(targets: Mapping[str, Assignment], former: Mapping[str, Assignment]) -> Iterable[tuple[str, Assignment]]:
    return ((member_id, target) for member_id, target in targets.items() if former.get(member_id) != target)


def preferred_assignor(group: ConsumerGroup, assignors: tuple[str, ...]) -> str:
    """Return the assignor that most members prefer; the first configured one by default."""
    preferred = [member.server_assignor for member in group.members.values() if member.server_assignor]
    return max(preferred, key=lambda assignor: (preferred.count(assignor), assignor)) if preferred else assignors[0]


def replace_static(
    group: ConsumerGroup, former: ConsumerMember, member_id: str, records: list[StoredRecord]
) -> tuple[ConsumerGroup, ConsumerMember]:
    """Replace a static member's id; keep its subscription and its target."""
    member = replace(former, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    target = group.targets.get(former.member_id, NO_PARTITIONS)
    records += member_tombstones(group.group_id, former.member_id)
    records.append(member_record(group.group_id, member))
    records.append(target_record(group.group_id, member_id, target))
    records.append(current_record(group.group_id, member))
    regexes = group.regexes
    group = replace(group.without_member(former.member_id).with_member(member), regexes=regexes)
    return replace(group, targets={**group.targets, member_id: target}), member
