"""A transactional producer with separately callable steps, which can be omitted or repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.client.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.ports import WallClock
from eosctl.client.transactions import (
    GroupIdentity,
    OffsetToCommit,
    ProducerIdentity,
    TransactionDialect,
    add_offsets_to_txn,
    add_partitions_to_txn,
    commit_offsets_in_txn,
    dialect_of,
    end_txn,
    init_producer_id,
    produce,
)
from eosctl.errors import UsageError
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record

_SEQUENCE_COUNT: Final = 2**31


class OutgoingRecord(NamedTuple):
    """A record without an offset."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class TransactionalProducer:
    """Tracks a transactional producer's state between its requests: identity, sequences, and added partitions.

    Supports one transaction at a time; calls must be sequential. A failed step raises
    `eosctl.client.producer_errors.TransactionFailed` and leaves the state unchanged, so that the caller can abort,
    initialize again, or stop.

    Args:
        client: The client.
        transactional_id: The transactional id.
        now_ms: Returns the timestamps of records.
        transaction_timeout_ms: `transaction.timeout.ms`.
        dialect: The protocol level; None for the finalized one of the cluster.
        codec: Compression of the batches.
    """

    def __init__(
        self,
        client: Client,
        transactional_id: str,
        *,
        now_ms: WallClock,
        transaction_timeout_ms: int = 60_000,
        dialect: TransactionDialect | None = None,
        codec: Compression = Compression.NONE,
    ) -> None:
        self.transactional_id = transactional_id
        self._client = client
        self._now_ms = now_ms
        self._timeout_ms = transaction_timeout_ms
        self._dialect = dialect
        self._codec = codec
        self._identity: ProducerIdentity | None = None
        self._sequences: dict[TopicPartition, int] = {}
        self._declared: set[TopicPartition | str] = set()
        self._has_begun = False

    @property
    def identity(self) -> ProducerIdentity:
        """Return producer id and epoch.

        Raises:
            UsageError: `init_transactions` was not called.
        """
        if self._identity is None:
            raise UsageError(
                f"The producer {self.transactional_id} is not initialized.",
                "It has no producer id and epoch yet.",
                "Await init_transactions() first.",
            )
        return self._identity

    async def init_transactions(self, *, keep_identity: bool = False) -> ProducerIdentity:
        """Register with the coordinator: fence earlier producers and abort their open transaction.

        Args:
            keep_identity: Continue with the current producer id and epoch (KIP-360) instead of requesting new ones.
        """
        known = self._identity if keep_identity else None
        identity = await init_producer_id(self._client, self.transactional_id, self._timeout_ms, known)
        self._become(identity)
        return identity

    async def declare(self, *partitions: TopicPartition) -> None:
        """Add partitions to the transaction; no effect under TV2, where a produce request adds them."""
        missing = set(partitions) - self._declared
        if missing and (await self._level()).declares_partitions:
            self._has_begun = True
            await add_partitions_to_txn(self._client, self.identity, missing)
            self._declared |= missing

    async def send(self, partition: TopicPartition, records: Sequence[OutgoingRecord]) -> int:
        """Add the partition if needed, write the records as one batch, and return the first one's offset."""
        await self.declare(partition)
        return await self.write(partition, records)

    async def write(self, partition: TopicPartition, records: Sequence[OutgoingRecord]) -> int:
        """Write a batch without adding its partition, and return the first record's offset."""
        batch = self.encode(partition, records)
        level = await self._level()
        self._has_begun = True
        base_offset = await produce(
            self._client, partition, batch, transactional_id=self.transactional_id, bounds=level.produce
        )
        self._sequences[partition] = (self._sequences.get(partition, 0) + len(records)) % _SEQUENCE_COUNT
        return base_offset

    def encode(self, partition: TopicPartition, records: Sequence[OutgoingRecord]) -> bytes:
        """Return the batch that `write` would send now, with this identity and the partition's next sequence."""
        now_ms = self._now_ms()
        return encode_batch(
            [Record(0, now_ms, *record) for record in records],
            codec=self._codec,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.producer_epoch,
            base_sequence=self._sequences.get(partition, 0),
            transactional=True,
        )

    def lose(self, partition: TopicPartition, record_count: int) -> None:
        """Skip sequences, as if a client had dropped batches; a gap follows."""
        self._sequences[partition] = (self._sequences.get(partition, 0) + record_count) % _SEQUENCE_COUNT

    async def send_offsets(self, group: GroupIdentity, offsets: Mapping[TopicPartition, OffsetToCommit]) -> None:
        """Commit a group's offsets within the transaction."""
        level = await self._level()
        self._has_begun = True
        if level.declares_partitions and group.group_id not in self._declared:
            await add_offsets_to_txn(self._client, self.identity, group.group_id)
            self._declared.add(group.group_id)
        await commit_offsets_in_txn(self._client, self.identity, group, offsets, level)

    async def commit(self) -> ProducerIdentity:
        """Commit the transaction if anything was sent; return the identity for the next one."""
        return await self.end(committed=True) if self._has_begun else self.identity

    async def abort(self) -> ProducerIdentity:
        """Abort the transaction if anything was sent; return the identity for the next one."""
        return await self.end(committed=False) if self._has_begun else self.identity

    async def end(self, *, committed: bool) -> ProducerIdentity:
        """Send EndTxn unconditionally; return the identity for the next transaction."""
        level = await self._level()
        identity = await end_txn(self._client, self.identity, committed=committed, dialect=level)
        self._declared.clear()
        self._has_begun = False
        if identity != self._identity:
            self._become(identity)
        return identity

    def _become(self, identity: ProducerIdentity) -> None:
        self._identity = identity
        self._sequences.clear()
        self._declared.clear()
        self._has_begun = False

    async def _level(self) -> TransactionDialect:
        if self._dialect is None:
            node_id = await self._client.node_id(transaction_coordinator(self.transactional_id))
            self._dialect = dialect_of(await self._client.versions(node_id))
        return self._dialect
