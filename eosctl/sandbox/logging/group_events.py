"""Log lines of a group coordinator: the Scala coordinator up to 3.9, the new coordinator from 4.0 on.

Lines about a classic group are derived from the group before and after a step, so the rules do not log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState, Member
from eosctl.sandbox.logging.event_log import ERROR, EventLog
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC

_SCALA: Final = "kafka.coordinator.group"
_JAVA: Final = "org.apache.kafka.coordinator"


class GroupEvents:
    """Log lines of a broker's group coordinator."""

    def __init__(self, log: EventLog, broker_id: int, *, is_3_9: bool) -> None:
        self._log = log
        self._broker_id = broker_id
        self._is_3_9 = is_3_9

    # --- partitions of __consumer_offsets -----------------------------------------------------------------------

    def elected(self, index: int, epoch: int) -> None:
        """Log that this broker has become the coordinator of a partition."""
        partition = f"{CONSUMER_OFFSETS_TOPIC}-{index}"
        if self._is_3_9:
            self._scala(f"Elected as the group coordinator for partition {index} in epoch {epoch}")
            self._manager(f"Scheduling loading of offsets and group metadata from {partition} for epoch {epoch}")
        else:
            self._runtime(f"Scheduling loading of metadata from {partition} with epoch {epoch}")

    def loaded(self, index: int, epoch: int, record_count: int, size_bytes: int, took_ms: int) -> None:
        """Log that a partition was loaded."""
        partition = f"{CONSUMER_OFFSETS_TOPIC}-{index}"
        if self._is_3_9:
            self._manager(
                f"Finished loading offsets and group metadata from {partition} in {took_ms} milliseconds for epoch "
                f"{epoch}, of which 0 milliseconds was spent in the scheduler."
            )
        else:
            self._runtime(
                f"Finished loading of metadata from {partition} with epoch {epoch} in {took_ms}ms where 0ms was spent "
                f"in the scheduler. Loaded {record_count} records which total to {size_bytes} bytes."
            )

    def resigned(self, index: int, epoch: int, offset_count: int, group_count: int) -> None:
        """Log that this broker no longer coordinates a partition."""
        partition = f"{CONSUMER_OFFSETS_TOPIC}-{index}"
        if self._is_3_9:
            self._scala(f"Resigned as the group coordinator for partition {index} in epoch OptionalInt[{epoch}]")
            self._manager(f"Scheduling unloading of offsets and group metadata from {partition}")
            self._manager(
                f"Finished unloading {partition} for coordinator epoch OptionalInt[{epoch}]. Removed {offset_count} "
                f"cached offsets and {group_count} cached groups."
            )
        else:
            self._runtime(f"Scheduling unloading of metadata for {partition} with epoch OptionalInt[{epoch}]")
            self._runtime(f"Started unloading metadata for {partition} with epoch OptionalInt[{epoch}].")
            self._runtime(f"Finished unloading metadata for {partition} with epoch OptionalInt[{epoch}].")

    def completion_failed(self, producer_id: int, group_id: str) -> None:
        """Log that offsets could not be committed because their record is not appended yet (KAFKA-17507)."""
        self._log.write(
            "org.apache.kafka.server.util.KafkaScheduler",
            f"Uncaught exception in scheduled task 'handleTxnCompletion-{producer_id}'",
            level=ERROR,
            throwable="java.lang.IllegalStateException: Trying to complete a transactional offset commit for "
            f"producerId {producer_id} and groupId {group_id} even though the offset commit record itself hasn't been "
            "appended to the log.",
        )

    # --- classic groups -----------------------------------------------------------------------------------------

    def member_failed(self, index: int, group_id: str, member_id: str) -> None:
        """Log that a member's session expired."""
        self._about(index, f"Member {member_id} in group {group_id} has failed, removing it from the group")

    def members_left(self, index: int, group_id: str, members: Sequence[Member]) -> None:
        """Log that members sent LeaveGroup."""
        for member in members:
            if self._is_3_9:
                text = f"Member {_metadata(member)} has left group {group_id} through explicit `LeaveGroup`"
            else:
                who = f"[Group {group_id}] Member {member.member_id}"
                text = f"{who} has left group through explicit `LeaveGroup` request"
            self._about(index, f"{text}; client reason: not provided", stop="")

    def changed(self, index: int, before: ClassicGroup, after: ClassicGroup) -> None:
        """Log the rebalance steps between two states of a group."""
        if not self._is_3_9:
            for member_id in sorted(before.pending_members & after.members.keys()):
                self._about(
                    index,
                    f"Pending dynamic member with id {member_id} joins group {after.group_id} in {before.state.value} "
                    "state. Adding to the group now",
                )
        if before.state is after.state and before.generation_id == after.generation_id:
            if before.pending_members != after.pending_members:
                self._pending(index, before, after)
            return
        for text in self._rebalance(index, before, after):
            self._about(index, text)

    def _pending(self, index: int, before: ClassicGroup, after: ClassicGroup) -> None:
        asks = "request" if self._is_3_9 else "requesting"
        for member_id in sorted(after.pending_members - before.pending_members):
            self._about(
                index,
                f"Dynamic member with unknown member id joins group {after.group_id} in {before.state.value} state. "
                f"Created a new member id {member_id} and {asks} the member to rejoin with this id.",
                stop="",
            )

    def _rebalance(self, index: int, before: ClassicGroup, after: ClassicGroup) -> Iterator[str]:
        group_id = after.group_id
        scala_partition = f" ({CONSUMER_OFFSETS_TOPIC}-{index})" if self._is_3_9 else ""
        begins = after.state is ClassicState.PREPARING_REBALANCE or after.generation_id > before.generation_id
        if begins and before.state is not ClassicState.PREPARING_REBALANCE:
            yield (
                f"Preparing to rebalance group {group_id} in state PreparingRebalance with old generation "
                f"{before.generation_id}{scala_partition} (reason: {self._reason(before, after)})"
            )
        if after.generation_id > before.generation_id:
            if after.state is ClassicState.EMPTY:
                yield f"Group {group_id} with generation {after.generation_id} is now empty{scala_partition}"
            else:
                yield (
                    f"Stabilized group {group_id} generation {after.generation_id}{scala_partition} with "
                    f"{len(after.members)} members"
                )
        if before.state is ClassicState.COMPLETING_REBALANCE and after.state is ClassicState.STABLE:
            static_count = sum(member.is_static for member in after.members.values())
            yield (
                f"Assignment received from leader {after.leader_id} for group {group_id} for generation "
                f"{after.generation_id}. The group has {len(after.members)} members, {static_count} of which are static"
            )

    def _reason(self, before: ClassicGroup, after: ClassicGroup) -> str:
        joined = [member for key, member in after.members.items() if key not in before.members]
        left = [key for key in before.members if key not in after.members]
        if joined:
            absent = "None" if self._is_3_9 else "null"
            instance = joined[0].group_instance_id or absent
            member_id = joined[0].member_id
            return f"Adding new member {member_id} with group instance id {instance}; client reason: not provided"
        if left and self._is_3_9:
            return f"Removing member {left[0]} on LeaveGroup; client reason: not provided"
        if left:
            return f"explicit `LeaveGroup` request for ({', '.join(left)}) members."
        member = next((m for m in after.members.values() if m.is_awaiting_join), None)
        named = member.member_id if member is not None else ""
        return f"Updating metadata for member {named} during {before.state.value}; client reason: not provided"

    # --- consumer groups (KIP-848) ------------------------------------------------------------------------------

    def member_fenced(self, index: int, group_id: str, member_id: str, reason: str) -> None:
        """Log that the coordinator removed a member of a consumer group."""
        self._about(index, f"[GroupId {group_id}] Member {member_id} fenced from the group because {reason}", stop="")

    def downgraded(self, index: int, group: ClassicGroup, rebalances: bool) -> None:
        """Log that a consumer group became classic after its last member of the consumer protocol left."""
        if rebalances:
            self._about(
                index,
                f"Preparing to rebalance group {group.group_id} in state PreparingRebalance with old generation "
                f"{group.generation_id} (reason: Downgrade group {group.group_id} from consumer to classic for member "
                "leaving.)",
            )
        self._about(index, f"[GroupId {group.group_id}] Converted the consumer group to a classic group.", stop="")

    def upgraded(self, index: int, group_id: str) -> None:
        """Log that a classic group became a consumer group when a member of the consumer protocol joined."""
        self._about(index, f"[GroupId {group_id}] Converted the classic group to a consumer group.", stop="")

    # --- loggers ------------------------------------------------------------------------------------------------

    def _about(self, index: int, text: str, stop: str = ".") -> None:
        if self._is_3_9:
            self._scala(text + ("." if text.endswith("static") else ""))
        else:
            prefix = f"[GroupCoordinator id={self._broker_id} topic={CONSUMER_OFFSETS_TOPIC} partition={index}]"
            self._log.write(f"{_JAVA}.group.GroupMetadataManager", f"{prefix} {text}{stop}")

    def _scala(self, text: str) -> None:
        self._log.write(f"{_SCALA}.GroupCoordinator", f"[GroupCoordinator {self._broker_id}]: {text}")

    def _manager(self, text: str) -> None:
        prefix = f"[GroupMetadataManager brokerId={self._broker_id}]"
        self._log.write(f"{_SCALA}.GroupMetadataManager", f"{prefix} {text}")

    def _runtime(self, text: str) -> None:
        prefix = f"[GroupCoordinator id={self._broker_id}]"
        self._log.write(f"{_JAVA}.common.runtime.CoordinatorRuntime", f"{prefix} {text}")


def _metadata(member: Member) -> str:
    """Render a member as Scala prints its `MemberMetadata`."""
    instance = "None" if member.group_instance_id is None else f"Some({member.group_instance_id})"
    protocols = ", ".join(protocol.name for protocol in member.protocols)
    return (
        f"MemberMetadata(memberId={member.member_id}, groupInstanceId={instance}, clientId={member.client_id}, "
        f"clientHost=/{member.client_host.removeprefix('/')}, sessionTimeoutMs={member.session_timeout_ms}, "
        f"rebalanceTimeoutMs={member.rebalance_timeout_ms}, supportedProtocols=List({protocols}))"
    )
