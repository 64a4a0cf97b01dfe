"""Log lines about replicas: roles (`state.change.logger`) and ISRs (`kafka.cluster.Partition`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from eosctl.sandbox.logging.event_log import INFO, WARN, EventLog
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.uuid import render_uuid

STATE_CHANGE: Final = "state.change.logger"
PARTITION: Final = "kafka.cluster.Partition"
FETCHER: Final = "kafka.server.ReplicaFetcherThread"


class FormerRole(NamedTuple):
    """A partition's leader before a change, as this broker knew it; -1 for none."""

    leader_id: int
    leader_epoch: int


class ReplicaEvents:
    """Log lines of a broker about the partitions that it hosts."""

    def __init__(self, log: EventLog, broker_id: int) -> None:
        self._log = log
        self._broker_id = broker_id

    def hosted(self, partition: Partition) -> None:
        """Log that a partition's log was opened."""
        name = partition.partition
        self._log.write(
            PARTITION,
            f"[Partition {name} broker={self._broker_id}] Log loaded for partition {name} with initial high watermark "
            f"{partition.log.high_watermark}",
        )

    def changed_role(self, partition: Partition, former: FormerRole) -> None:
        """Log that this broker leads or follows a partition in a new leader epoch."""
        if partition.is_leader:
            self._leads(partition, former)
        elif partition.leader_id >= 0:
            self._follows(partition, former)

    def recovered(self, partition: Partition) -> None:
        """Log that this broker leads a partition although it may lack records, and finishes the recovery state."""
        self._log.write(
            STATE_CHANGE,
            f"[Broker id={self._broker_id}] The topic partition {partition.partition} was marked as RECOVERING. "
            "Marking the topic partition as RECOVERED.",
        )

    def _leads(self, partition: Partition, former: FormerRole) -> None:
        self._log.write(
            STATE_CHANGE,
            f"[Broker id={self._broker_id}] Leader {partition.partition} with topic id "
            f"Some({render_uuid(partition.topic_id)}) starts at leader epoch {partition.leader_epoch} from offset "
            f"{partition.leader_start_offset} with partition epoch {partition.partition_epoch}, high watermark "
            f"{partition.log.high_watermark}, ISR [{_ids(partition.isr)}], adding replicas [] and removing replicas [] "
            f". {_previous(former)}",
        )

    def _follows(self, partition: Partition, former: FormerRole) -> None:
        self._log.write(
            STATE_CHANGE,
            f"[Broker id={self._broker_id}] Follower {partition.partition} starts at leader epoch "
            f"{partition.leader_epoch} from offset {partition.log.end_offset} with partition epoch "
            f"{partition.partition_epoch} and high watermark {partition.log.high_watermark}. Current leader is "
            f"{partition.leader_id}. {_previous(former)}",
        )

    def truncates(self, partition: Partition, offset: int, leader_epoch: int) -> None:
        """Log that this follower truncates its log where it diverges from its leader's."""
        place = partition.partition
        self._fetcher(
            partition,
            f"Truncating partition {place} with TruncationState(offset={offset}, completed=true) due to leader epoch "
            f"and offset EpochEndOffset(errorCode=0, partition={place.partition}, leaderEpoch={leader_epoch}, "
            f"endOffset={offset})",
        )

    def resets(self, partition: Partition, offset: int) -> None:
        """Log that this follower drops records that its leader does not have."""
        self._fetcher(
            partition,
            f"Reset fetch offset for partition {partition.partition} from {partition.log.end_offset} to current "
            f"leader's latest offset {offset}",
            level=WARN,
        )

    def shrinks_isr(self, partition: Partition, isr: Sequence[int]) -> None:
        """Log that this leader requests to remove lagging followers from the ISR."""
        late = []
        for broker_id in partition.isr:
            follower = partition.followers.get(broker_id)
            if broker_id not in isr and follower is not None:
                late.append(
                    f"(brokerId: {broker_id}, endOffset: {follower.end_offset}, "
                    f"lastCaughtUpTimeMs: {follower.caught_up_ms})"
                )
        log = partition.log
        self._isr(
            partition,
            f"Shrinking ISR from {_ids(partition.isr)} to {_ids(isr)}. Leader: (highWatermark: {log.high_watermark}, "
            f"endOffset: {log.end_offset}). Out of sync replicas: {' '.join(late)}.",
        )

    def changed_isr(self, partition: Partition) -> None:
        """Log that the controller accepted a new ISR."""
        is_short = len(partition.isr) < partition.min_isr
        self._isr(
            partition,
            f"ISR updated to {_ids(partition.isr)} {'(under-min-isr)' if is_short else ''} and version updated to "
            f"{partition.partition_epoch}",
        )

    def _fetcher(self, partition: Partition, text: str, *, level: str = INFO) -> None:
        prefix = f"[ReplicaFetcher replicaId={self._broker_id}, leaderId={partition.leader_id}, fetcherId=0]"
        self._log.write(FETCHER, f"{prefix} {text}", level=level)

    def _isr(self, partition: Partition, text: str) -> None:
        self._log.write(PARTITION, f"[Partition {partition.partition} broker={self._broker_id}] {text}")


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _previous(former: FormerRole) -> str:
    leader = f"Some({former.leader_id})" if former.leader_epoch >= 0 else "None"
    return f"Previous leader {leader} and previous leader epoch was {former.leader_epoch}."
