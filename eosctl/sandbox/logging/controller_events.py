"""Log lines of the active controller (`org.apache.kafka.controller`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from eosctl.sandbox.logging.event_log import EventLog
from eosctl.sandbox.metadata.image import NO_LEADER, ClusterImage, PartitionState
from eosctl.wire.messages.internal.metadata.partition_change_record import PartitionChangeRecord
from eosctl.wire.uuid import render_uuid

_PACKAGE: Final = "org.apache.kafka.controller"
QUORUM: Final = f"{_PACKAGE}.QuorumController"
REPLICATION: Final = f"{_PACKAGE}.ReplicationControlManager"
HEARTBEATS: Final = f"{_PACKAGE}.BrokerHeartbeatManager"
TOKENS: Final = f"{_PACKAGE}.DelegationTokenControlManager"
CHANGES: Final = f"{_PACKAGE}.PartitionChangeBuilder"
NO_ACTIVE_OFFSET: Final = 0x7FFF_FFFF_FFFF_FFFF


class ControllerEvents:
    """Log lines of a controller."""

    def __init__(self, log: EventLog, node_id: int, *, is_3_9: bool) -> None:
        self._log = log
        self._is_3_9 = is_3_9
        self._prefix = f"[QuorumController id={node_id}]"

    def becomes_active(self, epoch: int, next_offset: int) -> None:
        """Log that this controller has become active."""
        text = f"Becoming the active controller at epoch {epoch}, next write offset {next_offset}."
        self._write(QUORUM, text)

    def fences(self, broker_id: int, broker_epoch: int, changed_count: int) -> None:
        """Log that a broker is fenced because its heartbeats have stopped."""
        at = "" if self._is_3_9 else f" at epoch {broker_epoch}"
        self._write(REPLICATION, f"Fencing broker {broker_id}{at} because its session has timed out.")
        self._write(REPLICATION, f"handleBrokerFenced: changing {changed_count} partition(s)")

    def unfences(self, broker_id: int, broker_epoch: int) -> None:
        """Log that a registered broker has caught up with the metadata and is unfenced."""
        self._write(
            HEARTBEATS,
            f"The request from broker {broker_id} to unfence has been granted because it has caught up with the offset "
            f"of its register broker record {broker_epoch}.",
        )

    def allows_controlled_shutdown(self, broker_id: int) -> None:
        """Log that a broker enters controlled shutdown."""
        text = f"Unfenced broker {broker_id} has requested and been granted a controlled shutdown."
        self._write(HEARTBEATS, text)

    def allows_shutdown(self, broker_id: int, offset: int) -> None:
        """Log that a broker without leaderships may shut down."""
        self._write(
            HEARTBEATS,
            f"The request from broker {broker_id} to shut down has been granted since the lowest active offset "
            f"{NO_ACTIVE_OFFSET} is now greater than the broker's controlled shutdown offset {offset}.",
        )

    def expires_token(self, token_id: str, owner: str) -> None:
        """Log that a delegation token is removed because its time is over."""
        self._write(TOKENS, f"Delegation token expired for token: {token_id} for owner: {owner}")

    def changes(self, image: ClusterImage, records: Iterable[Any]) -> None:
        """Log unclean leader elections among records about to be written."""
        for record in records:
            if not isinstance(record, PartitionChangeRecord) or record.leader <= NO_LEADER:
                continue
            topic = image.topics_by_id.get(record.topic_id)
            state = topic.partitions.get(record.partition_id) if topic is not None else None
            if state is None or record.leader in state.isr or record.leader in state.eligible_leader_replicas:
                continue
            text = (
                f"Setting new leader for topicId {render_uuid(record.topic_id)}, partition {record.partition_id} to "
                f"{record.leader} using an unclean election"
            )
            if not self._is_3_9:
                text += f". Previous partition: {_registration(state)}, change record: {_empty_change(record)}"
            self._log.write(CHANGES, text)

    def _write(self, logger: str, text: str) -> None:
        self._log.write(logger, f"{self._prefix} {text}")


def _registration(state: PartitionState) -> str:
    """Render a partition as Kafka's `PartitionRegistration` does."""
    return (
        f"PartitionRegistration(replicas={list(state.replicas)}, "
        f"directories=[{', '.join(map(render_uuid, state.directories))}], isr={list(state.isr)}, "
        f"removingReplicas={list(state.removing_replicas)}, addingReplicas={list(state.adding_replicas)}, "
        f"elr={list(state.eligible_leader_replicas)}, lastKnownElr={list(state.last_known_elr)}, "
        f"leader={state.leader}, leaderRecoveryState={('RECOVERED', 'RECOVERING')[state.leader_recovery_state]}, "
        f"leaderEpoch={state.leader_epoch}, partitionEpoch={state.partition_epoch})"
    )


def _empty_change(record: PartitionChangeRecord) -> str:
    """Render the change without its values, as Kafka logs it before it sets them."""
    return (
        f"PartitionChangeRecord(partitionId={record.partition_id}, topicId={render_uuid(record.topic_id)}, isr=null, "
        "leader=-2, replicas=null, removingReplicas=null, addingReplicas=null, leaderRecoveryState=-1, "
        "directories=null, eligibleLeaderReplicas=null, lastKnownElr=null)"
    )
