"""Commit, fetch, delete, and expire offsets, including those of transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.append_errors import classify_offset_error
from eosctl.sandbox.coordinator.group.classic_driver import ClassicDriver
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState
from eosctl.sandbox.coordinator.group.consumer.group import TopicIdPartition
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.offset_rules import (
    Committer,
    validate_commit,
    validate_fetch,
    validate_offset_delete,
    validate_transactional_commit,
)
from eosctl.sandbox.coordinator.group.offset_store import CommittedOffset
from eosctl.sandbox.coordinator.group.records import FIRST_SEQUENCE, NO_SEQUENCE, offset_record, offset_tombstone
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.wire.error_codes import ErrorCode

Errors = Mapping[TopicPartition, ErrorCode]
CommitDone = Callable[[Errors], None]


class Producer(NamedTuple):
    """The producer of a transaction that commits offsets."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class TransactionVersion(NamedTuple):
    """Properties of a TxnOffsetCommit version (KIP-890): 5+ adds the partition, 4+ knows TRANSACTION_ABORTABLE."""

    adds_partition: bool
    knows_abortable: bool


class FetchedOffset(NamedTuple):
    """A partition of an OffsetFetch response; `committed` is None without an offset (-1 on the wire)."""

    partition: TopicPartition
    committed: CommittedOffset | None
    error: ErrorCode = ErrorCode.NONE


FetchDone = Callable[[ErrorCode, Sequence[FetchedOffset]], None]


class OffsetManager:
    """The offset operations of the group coordinator.

    `refused_commit_drops_pending` is a bug of 3.9: the rejected commit of a fenced producer drops the pending offsets
    of its successor.
    """

    def __init__(self, host: GroupHost, classic: ClassicDriver) -> None:
        self._host = host
        self._classic = classic
        self.refused_commit_drops_pending = host.emulation.is_3_9
        # Called with a producer whose offsets are about to be appended,
        self.on_pending: Callable[[int], None] = _ignore
        self.on_appended: Callable[[int], None] = _ignore  # and after they are appended.

    def commit(
        self,
        shard: Shard,
        group_id: str,
        committer: Committer,
        offsets: Mapping[TopicPartition, CommittedOffset],
        done: CommitDone,
    ) -> None:
        """Handle OffsetCommit."""
        if group_id in shard.share_groups:
            done(dict.fromkeys(offsets, ErrorCode.GROUP_ID_NOT_FOUND))
            return
        group = shard.groups.get(group_id)
        error = validate_commit(group, committer, self._host.emulation.is_3_9, self._with_topic_ids(offsets))
        if error is not ErrorCode.NONE:
            done(dict.fromkeys(offsets, error))
            return
        self._make_group(shard, group_id)
        if isinstance(group, ClassicGroup) and not group.is_empty:
            self._classic.renew_session(shard, group, committer.member_id)
        accepted = self._within_metadata_limit(offsets)
        if not accepted:
            done(dict.fromkeys(offsets, ErrorCode.OFFSET_METADATA_TOO_LARGE))
            return

        def appended(append_error: ErrorCode, base_offset: int) -> None:
            if append_error is ErrorCode.NONE:
                for position, (partition, value) in enumerate(accepted.items()):
                    shard.offsets.commit(group_id, partition, value._replace(record_offset=base_offset + position))
            done(self._commit_errors(offsets, accepted, append_error))

        records = [
            offset_record(group_id, partition, value, self._host.emulation) for partition, value in accepted.items()
        ]
        shard.append(records, appended, base_sequence=FIRST_SEQUENCE)

    def commit_in_transaction(
        self,
        shard: Shard,
        group_id: str,
        committer: Committer,
        producer: Producer,
        version: TransactionVersion,
        offsets: Mapping[TopicPartition, CommittedOffset],
        done: CommitDone,
    ) -> None:
        """Handle TxnOffsetCommit: verify the partition, check the member, and append."""
        if self._host.emulation.is_3_9:
            self._make_group(shard, group_id)  # Checked first, as in `GroupCoordinator.handleTxnCommitOffsets`.
        _, producer_id, producer_epoch = producer

        def begin() -> object | ErrorCode | None:
            return self._host.replicas.begin_verification(
                shard.partition, producer_id, producer_epoch, adds_partition=version.adds_partition
            )

        guard = begin()

        def renew() -> ErrorCode | None:
            nonlocal guard
            guard = begin()
            return ErrorCode.NONE if guard is None else guard if isinstance(guard, ErrorCode) else None

        def verified(error: ErrorCode) -> None:
            if shard.is_closed:
                error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if error is ErrorCode.NONE:
                self._commit_verified(shard, group_id, committer, producer, guard, offsets, done)
            else:
                done(dict.fromkeys(offsets, classify_offset_error(error, self._host.emulation.is_3_9)))

        if guard is None:
            verified(ErrorCode.NONE)
        elif isinstance(guard, ErrorCode):
            verified(guard)
        else:
            self._host.verification.verify_partition(
                producer.transactional_id,
                producer_id,
                producer_epoch,
                shard.partition,
                add_partition=version.adds_partition,
                done=verified,
                renew=renew,
                knows_abortable=version.knows_abortable,
            )

    def fetch(
        self,
        shard: Shard,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        require_stable: bool,
        member_id: str | None,
        member_epoch: int,
        done: FetchDone,
    ) -> None:
        """Handle OffsetFetch of one group; `partitions` of None means all.

        A stable fetch also waits for commits in progress.
        """

        def answer() -> None:
            if shard.is_closed:
                done(ErrorCode.NOT_COORDINATOR, ())
                return
            error = validate_fetch(shard.groups.get(group_id), member_id, member_epoch)
            committed = shard.offsets.committed(group_id)
            wanted = committed if partitions is None else partitions
            if error is ErrorCode.NONE:
                done(error, [self._fetched(shard, group_id, partition, require_stable) for partition in wanted])
            else:
                done(error, ())

        if require_stable:
            shard.after_appends(answer)
        else:
            answer()

    def delete(
        self,
        shard: Shard,
        group_id: str,
        partitions: Sequence[TopicPartition],
        done: Callable[[ErrorCode, Errors], None],
    ) -> None:
        """Handle OffsetDelete; offsets of subscribed topics are kept."""
        group = shard.groups.get(group_id)
        error = validate_offset_delete(group)
        if group is None or error is not ErrorCode.NONE:
            done(error, {})
            return
        is_live = not group.is_empty
        subscribed = {partition for partition in partitions if is_live and group.is_subscribed_to(partition.topic)}
        errors = {
            partition: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if partition in subscribed else ErrorCode.NONE
            for partition in partitions
        }
        self.remove(
            shard,
            [(group_id, partition) for partition in partitions if partition not in subscribed],
            lambda append_error: done(append_error, errors if append_error is ErrorCode.NONE else {}),
        )

    def remove(
        self,
        shard: Shard,
        wanted: Sequence[tuple[str, TopicPartition]],
        done: Callable[[ErrorCode], None] = lambda error: None,
    ) -> None:
        """Delete the offsets that exist and write their tombstones.

        3.9 deletes first and does not wait for the tombstones. 4.x also writes one for an offset that is only pending.
        """
        is_3_9 = self._host.emulation.is_3_9
        known = [
            (group_id, partition)
            for group_id, partition in wanted
            if partition in shard.offsets.committed(group_id)
            or (not is_3_9 and shard.offsets.is_pending(group_id, partition))
        ]

        def forget(offsets: Sequence[tuple[str, TopicPartition]]) -> None:
            for group_id, partition in offsets:
                shard.offsets.remove(group_id, partition)

        def appended(error: ErrorCode, _offset: int) -> None:
            if is_3_9:
                return
            if error is ErrorCode.NONE:
                forget(known)
            done(classify_offset_error(error, is_3_9))

        if is_3_9:
            forget(wanted)
        tombstones = [offset_tombstone(group_id, partition) for group_id, partition in known]
        if tombstones:
            shard.append(tombstones, appended, base_sequence=NO_SEQUENCE if is_3_9 else FIRST_SEQUENCE)
        if is_3_9 or not tombstones:
            done(ErrorCode.NONE)

    def _commit_verified(
        self,
        shard: Shard,
        group_id: str,
        committer: Committer,
        producer: Producer,
        guard: object | None,
        offsets: Mapping[TopicPartition, CommittedOffset],
        done: CommitDone,
    ) -> None:
        if group_id in shard.share_groups:
            done(dict.fromkeys(offsets, ErrorCode.GROUP_ID_NOT_FOUND))
            return
        is_3_9 = self._host.emulation.is_3_9
        error = validate_transactional_commit(
            shard.groups.get(group_id), committer, is_3_9, self._with_topic_ids(offsets)
        )
        if error is ErrorCode.NONE:
            self._make_group(shard, group_id)
        if error is not ErrorCode.NONE:
            done(dict.fromkeys(offsets, error))
            return
        accepted = self._within_metadata_limit(offsets)
        if not accepted:
            done(dict.fromkeys(offsets, ErrorCode.OFFSET_METADATA_TOO_LARGE))
            return
        producer_id = producer.producer_id
        former = {
            partition: shard.offsets.put_pending(producer_id, group_id, partition, value)
            for partition, value in accepted.items()
        }
        self.on_pending(producer_id)

        def appended(append_error: ErrorCode, base_offset: int) -> None:
            if append_error is ErrorCode.NONE:
                self._note_appended(shard, producer_id, group_id, accepted, base_offset)
                self.on_appended(producer_id)
            else:
                self._undo_pending(shard, producer_id, group_id, accepted, former)
            done(self._commit_errors(offsets, accepted, append_error))

        records = [
            offset_record(group_id, partition, value, self._host.emulation) for partition, value in accepted.items()
        ]
        identity = (producer_id, producer.producer_epoch)
        shard.append(records, appended, base_sequence=FIRST_SEQUENCE, producer=identity, guard=guard)

    def _note_appended(
        self,
        shard: Shard,
        producer_id: int,
        group_id: str,
        appended: Mapping[TopicPartition, CommittedOffset],
        base_offset: int,
    ) -> None:
        for position, (partition, value) in enumerate(appended.items()):
            if shard.offsets.get_pending(producer_id, group_id, partition) == value:
                placed = value._replace(record_offset=base_offset + position)
                shard.offsets.put_pending(producer_id, group_id, partition, placed)

    def _undo_pending(
        self,
        shard: Shard,
        producer_id: int,
        group_id: str,
        refused: Mapping[TopicPartition, CommittedOffset],
        former: Mapping[TopicPartition, CommittedOffset | None],
    ) -> None:
        for partition, value in refused.items():
            current = shard.offsets.get_pending(producer_id, group_id, partition)
            previous = former[partition]
            if self.refused_commit_drops_pending or (current == value and previous is None):
                shard.offsets.drop_pending(producer_id, group_id, partition)
            elif current == value and previous is not None:
                shard.offsets.put_pending(producer_id, group_id, partition, previous)

    def _fetched(self, shard: Shard, group_id: str, partition: TopicPartition, require_stable: bool) -> FetchedOffset:
        if require_stable and shard.offsets.is_pending(group_id, partition):
            return FetchedOffset(partition, None, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        return FetchedOffset(partition, shard.offsets.committed(group_id).get(partition))

    def _make_group(self, shard: Shard, group_id: str) -> None:
        if group_id not in shard.groups:
            shard.groups[group_id] = ClassicGroup(group_id, ClassicState.EMPTY)

    def _with_topic_ids(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, TopicIdPartition]:
        topic_id = self._host.metadata.topic_id
        return {
            partition: TopicIdPartition(topic_id(partition.topic) or b"", partition.partition)
            for partition in partitions
        }

    def _within_metadata_limit(
        self, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> dict[TopicPartition, CommittedOffset]:
        limit = self._host.config.get_int("offset.metadata.max.bytes")
        return {partition: value for partition, value in offsets.items() if len(value.metadata) <= limit}

    def _commit_errors(
        self,
        offsets: Mapping[TopicPartition, CommittedOffset],
        accepted: Mapping[TopicPartition, CommittedOffset],
        error: ErrorCode,
    ) -> Errors:
        shown = classify_offset_error(error, self._host.emulation.is_3_9)
        return {
            partition: shown if partition in accepted else ErrorCode.OFFSET_METADATA_TOO_LARGE for partition in offsets
        }


def _ignore(_: int) -> None:
    """Ignore a notification without a receiver."""
