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
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash, partitions_of
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


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
    """Limits and intervals of consumer groups (`group.consumer.*`), and whether the rules before 4.4 apply."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    max_size: int
    assignors: tuple[str, ...]
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    classic_max_size: int = 2**31 - 1
    is_before_4_4: bool = False


def check_size(group: ConsumerGroup, member_id: str, instance_id: str | None, config: ConsumerConfig) -> None:
    """Check that a joining member still fits; from 4.4, a static member may always replace its predecessor.

    Raises:
        RefusedError: GROUP_MAX_SIZE_REACHED.
    """
    replaces = not config.is_before_4_4 and instance_id is not None and group.static_member(instance_id) is not None
    if len(group.members) >= config.max_size and member_id not in group.members and not replaces:
        message = f"The consumer group has reached its maximum capacity of {config.max_size} members."
        raise RefusedError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)


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
    group: ConsumerGroup,
    metadata: MetadataView,
    config: ConsumerConfig,
    assignor: str,
    now_ms: int,
    records: list[StoredRecord],
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
    subscriptions = {
        member.member_id: group.subscription_of(member) for member in sorted(group.members.values(), key=_range_order)
    }
    partitions = {topic: partitions_of(metadata, topic) for topic in group.subscribed_topics()}
    targets = ASSIGNORS[assignor](subscriptions, partitions, group.targets)
    records += [
        target_record(group.group_id, member_id, target) for member_id, target in _changed(targets, group.targets)
    ]
    group = replace(group, targets=targets, assignment_epoch=group.group_epoch, assignment_timestamp_ms=now_ms)
    records.append(target_epoch_record(group))
    return group


def _range_order(member: ConsumerMember) -> tuple[bool, str]:
    """Order static members by instance id before all others, as the assignor `range` of Kafka does."""
    is_dynamic = member.instance_id is None
    return is_dynamic, member.instance_id or member.member_id


def _changed(targets: Mapping[str, Assignment], former: Mapping[str, Assignment]) -> Iterable[tuple[str, Assignment]]:
    return ((member_id, target) for member_id, target in targets.items() if former.get(member_id) != target)


def preferred_assignor(group: ConsumerGroup, assignors: tuple[str, ...]) -> str:
    """Return the assignor that most members prefer, `uniform` on a tie; the first configured one by default."""
    return _first_of_most(_preferences(group), assignors)


def next_assignor(
    group: ConsumerGroup, former: ConsumerMember, member: ConsumerMember, assignors: tuple[str, ...]
) -> str:
    """Return the preferred assignor once `member` has replaced `former` in the group.

    Kafka takes the member's preference out of a hash map and puts it back in front. On a tie, the assignor that only
    this member prefers therefore wins, and 4.4.0 bumps the group epoch with each of its heartbeats.
    """
    counts = _preferences(group)
    if former.server_assignor:
        counts[former.server_assignor] -= 1
        if not counts[former.server_assignor]:
            del counts[former.server_assignor]
    if member.server_assignor in counts:
        counts[member.server_assignor] += 1
    elif member.server_assignor:
        counts = {member.server_assignor: 1, **counts}
    return _first_of_most(counts, assignors)


def _preferences(group: ConsumerGroup) -> dict[str, int]:
    """Return how many members prefer each assignor, in the order of Kafka's hash map: `uniform` first."""
    preferred = [member.server_assignor for member in group.members.values() if member.server_assignor]
    return {assignor: preferred.count(assignor) for assignor in sorted(set(preferred), reverse=True)}


def _first_of_most(counts: Mapping[str, int], assignors: tuple[str, ...]) -> str:
    return max(counts, key=lambda assignor: counts[assignor], default=assignors[0])


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
