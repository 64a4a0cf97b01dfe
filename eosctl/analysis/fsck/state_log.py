"""The state of each transactional id in `__transaction_state`, collected while its partitions are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.analysis.fsck.notes import Notes
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.internal.transaction_log import TRANSACTION_STATES, TransactionValue, decode_key, decode_value
from eosctl.wire.internal.versioned import UnknownRecordError


class IdState(NamedTuple):
    """The newest record of a transactional id.

    Attributes:
        transactional_id: The id.
        state: Its state.
        producer_ids: The producer id, and those before and after a rotation.
        producer_id: The current producer id.
        producer_epoch: Its epoch.
        partitions: Partitions of the transaction whose marker the coordinator does not know to be written.
        file: The log, relative to the data directory.
        offset: Offset of the record.
        log_partition: Partition of the state log.
    """

    transactional_id: str
    state: TransactionState
    producer_ids: frozenset[int]
    producer_id: int
    producer_epoch: int
    partitions: frozenset[TopicPartition]
    file: str
    offset: int
    log_partition: int


@dataclass(slots=True)
class StateLog:
    """The state log of one data directory.

    Attributes:
        partitions: The partitions that were read.
        states: The newest state by transactional id, of those that have not expired.
        damaged: The partitions with a record that could not be read: what is not found may have been in it.
        ids: Every transactional id, expired ones too, with the partition that holds it.
    """

    partitions: set[int] = field(default_factory=set)
    states: dict[str, IdState] = field(default_factory=dict)
    damaged: set[int] = field(default_factory=set)
    ids: set[tuple[str, int]] = field(default_factory=set)

    def follow(self, batch: LogBatch, log: str, partition: int, notes: Notes) -> None:
        """Take in the records of a batch."""
        if batch.header.is_control:
            return
        try:
            records = batch.records()
        except WireError as error:
            notes.add(
                "records-malformed",
                f"the batch at position {batch.position}: {error.what}",
                log,
                position=batch.position,
                offset=batch.header.base_offset,
            )
            self.damaged.add(partition)
            return
        for record in records:
            try:
                transactional_id = decode_key(record.key or b"").transactional_id
                self.ids.add((transactional_id, partition))
                if record.value is None:
                    self.states.pop(transactional_id, None)
                    continue
                value = decode_value(record.value)
                if not 0 <= value.transaction_status < len(TRANSACTION_STATES):
                    raise WireError(f"transaction status {value.transaction_status} is unknown", "status", 0)
            except UnknownRecordError:
                self.damaged.add(partition)  # of a newer release; brokers skip it, and so do we
            except WireError as error:
                notes.add(
                    "state-value-invalid",
                    f"the record at offset {record.offset}: {error.what}",
                    log,
                    position=batch.position,
                    offset=record.offset,
                )
                self.damaged.add(partition)
            else:
                file = f"__transaction_state-{partition}/{log}"
                self.states[transactional_id] = _state_of(transactional_id, value, file, record.offset, partition)

    def absorb(self, other: StateLog) -> None:
        """Take in what another partition of the log holds."""
        self.partitions |= other.partitions
        self.states |= other.states
        self.damaged |= other.damaged
        self.ids |= other.ids

    def is_complete(self) -> bool:
        """Return whether all partitions of the topic seem to be here.

        Their number is not in the files; but if partitions are missing, the ids lie elsewhere than the hash of as many
        partitions as there are would put them, or the numbers have holes.
        """
        count = len(self.partitions)
        if not count or self.damaged or self.partitions != set(range(count)):
            return False
        return all(partition_for(transactional_id, count) == partition for transactional_id, partition in self.ids)


def _state_of(transactional_id: str, value: TransactionValue, file: str, offset: int, log_partition: int) -> IdState:
    producer_ids = {value.producer_id, value.previous_producer_id, value.next_producer_id} - {-1}
    return IdState(
        transactional_id=transactional_id,
        state=TRANSACTION_STATES[value.transaction_status],
        producer_ids=frozenset(producer_ids),
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        partitions=frozenset(
            TopicPartition(entry.topic, partition)
            for entry in value.transaction_partitions or ()
            for partition in entry.partition_ids
        ),
        file=file,
        offset=offset,
        log_partition=log_partition,
    )
