"""What a person who watches transactions wants to see of one moment."""

from __future__ import annotations

from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.partitions import partitions_by_name
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction_life import Moment, WatchedTransaction


def observe(snapshot: ClusterSnapshot) -> Moment:
    """Boil a snapshot with transactions, producers and offsets down to what is watched.

    ``unowned_count`` counts open transactions on leaders whose producer id no coordinator listed; one that ends in this
    very moment is among them.
    """
    infos = partitions_by_name(snapshot)
    watched = [
        WatchedTransaction(
            transactional_id=verdict.transaction.transactional_id,
            state=verdict.transaction.state,
            producer_id=verdict.transaction.producer_id,
            producer_epoch=verdict.transaction.producer_epoch,
            age_ms=verdict.age_ms,
            timeout_ms=verdict.transaction.timeout_ms,
            partitions=verdict.transaction.partitions,
            hidden_offsets=sum(_hidden(infos.get(where)) for where in verdict.transaction.partitions),
            status=verdict.status.value,
        )
        for verdict in classify_transactions(snapshot)
    ]
    owned = {transaction.producer_id for transaction in snapshot.transactions}
    unowned = sum(
        state.current_txn_start_offset is not None and state.producer_id not in owned
        for where in snapshot.producers
        for state in where.producers
    )
    return Moment(
        at_ms=snapshot.captured_at_ms,
        id_count=len(snapshot.transactions),
        hidden_offsets=sum(_hidden(info) for topic in snapshot.topics for info in topic.partitions),
        transactions=tuple(sorted(watched, key=lambda w: (-(w.age_ms or 0), w.transactional_id))),
        unowned_count=unowned,
        gap_count=len(snapshot.gaps),
    )


def _hidden(info: PartitionInfo | None) -> int:
    if info is None or info.high_watermark is None or info.last_stable_offset is None:
        return 0
    return max(0, info.high_watermark - info.last_stable_offset)
