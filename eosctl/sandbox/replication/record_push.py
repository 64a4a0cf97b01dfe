"""Push records to followers of the same process while their fetch waits, without a response and another fetch.

When no fault can observe or change the messages between a leader and a follower, both already know their content: the
end offsets of both logs, epochs, and the high watermark. A push has the effect of one round of messages, in the same
order: the follower appends the leader's bytes and sets the previous high watermark; then the leader records the
follower's offset and raises its own. The fetch keeps waiting. The follower's next fetch updates its session.

Unusual cases (new leader epochs, a risen log start offset, replicas out of sync) are handled by messages.

A turn of the event loop is one instant, in which a real follower fetches at most once. If the high watermark rises
during the turn, the follower receives it with later records of the same partition, or with the first records of a later
turn.
"""

from __future__ import annotations

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.replication.fetch_sessions import FetchSession
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.replica_fetcher import ReplicaFetcher

MAX_BYTES = 1 << 20
"""A follower that is further behind in a partition fetches instead."""


def push_records(session: FetchSession, fetcher: ReplicaFetcher, replica_id: int, turn: int, now_ms: int) -> bool:
    """Push records until the unsettled partitions of a session reach the leader's log end.

    Args:
        session: The follower's session at the leader.
        fetcher: The follower's fetcher with a waiting fetch.
        replica_id: The follower.
        turn: The number of this turn of the event loop.
        now_ms: Now, in milliseconds since the epoch.

    Returns:
        Whether that was everything; otherwise the rest needs a response.
    """
    is_all, followed_at, changed, unsettled = True, fetcher.followed, fetcher.changed, session.unsettled
    session.used_ms = now_ms
    if turn != session.turn:
        session.turn = turn
        session.unsettle_risen()
    for cached in list(unsettled):
        partition, follower, followed = cached.watched, cached.follower, followed_at.get(cached.place)
        if (
            followed is None
            or followed.sent is None  # The session does not have the partition.
            or partition is None
            or follower is None
            or replica_id not in partition.isr
        ):
            is_all = False
            continue
        replica, log, high_watermark = followed.partition, partition.log, partition.log.high_watermark
        own, store = replica.log, log.store
        own_store, start_offset, end_offset = own.store, store.log_start_offset, store.log_end_offset
        offset = own_store.log_end_offset
        if (
            replica.leader_epoch != partition.leader_epoch
            or partition.leader_id != partition.broker_id
            or own.epochs.latest != log.epochs.latest
            or own_store.log_start_offset != start_offset
            or offset > end_offset
            or own.closed
        ):
            is_all = False
            continue
        if offset != end_offset:
            _append(partition, own, offset, now_ms)
            changed[followed] = None
            if own_store.log_end_offset != end_offset:
                is_all = False
                continue
        if high_watermark > own.high_watermark:
            own.advance_high_watermark(high_watermark)
            if replica.watchers:  # Consumers that read from this follower.
                replica.notify_watchers()
        cached.high_watermark, cached.log_start_offset = high_watermark, start_offset
        del unsettled[cached]
        if offset != end_offset:
            follower.record_push(end_offset, start_offset, now_ms)
            partition.maybe_advance_high_watermark()
    return is_all


def _append(partition: Partition, own: PartitionLog, offset: int, now_ms: int) -> None:
    """Append the leader's records from `offset`, the follower's log end, to the follower's log."""
    recent = partition.recent
    if recent and recent[0][1].base_offset <= offset:
        for batch, header in recent:
            if header.base_offset >= offset:
                own.append_placed(batch, header, now_ms)
    else:
        log = partition.log
        own.append_as_follower(log.read(offset, MAX_BYTES, log.store.log_end_offset), now_ms)
