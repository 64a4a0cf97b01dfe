"""Followers of the same process get what they lack while their fetch waits, without an answer and another fetch.

A leader and a follower whose messages nobody could see or change agree on everything that these would say: the end of
both logs, epochs, the high watermark. What happens to both is what a round of messages would have done, and in the same
order: the follower appends the leader's bytes and takes the high watermark of before, then the leader notes how far it
is and raises its own. The fetch goes on waiting; the follower's next one tells its session where it stands.

Whatever differs from the course of every day (leader epochs, a log start that rose, replicas out of sync) is left to
messages.

A turn of the event loop is one moment, in which no real follower fetches twice. A high watermark that rises in it
reaches the follower with later records of the same partition, or else with the first records of a later turn.
"""

from __future__ import annotations

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.replication.fetch_sessions import FetchSession
from eosctl.sandbox.replication.follower import ReplicaFetcher
from eosctl.sandbox.replication.partition import Partition

MAX_BYTES = 1 << 20
"""A follower that lacks more of a partition asks for it."""


def feed(session: FetchSession, fetcher: ReplicaFetcher, replica_id: int, turn: int, now_ms: int) -> bool:
    """Bring the unsettled partitions of a session to the end of the leader's log.

    Args:
        session: The follower's, at the leader.
        fetcher: The follower's side of it, whose fetch waits.
        replica_id: The follower.
        turn: The number of this turn of the event loop.
        now_ms: When, in ms since the epoch.

    Returns:
        Whether that was all; otherwise the rest has to be answered.
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
            or followed.sent is None  # the session does not know it
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
            if replica.watchers:  # consumers that read from this follower
                replica.poke_watchers()
        cached.high_watermark, cached.log_start_offset = high_watermark, start_offset
        del unsettled[cached]
        if offset != end_offset:
            follower.fed(end_offset, start_offset, now_ms)
            partition.maybe_advance_high_watermark()
    return is_all


def _append(partition: Partition, own: PartitionLog, offset: int, now_ms: int) -> None:
    """Append to a follower's log, which ends at `offset`, what the leader's has more."""
    recent = partition.recent
    if recent and recent[0][1].base_offset <= offset:
        for batch, header in recent:
            if header.base_offset >= offset:
                own.append_placed(batch, header, now_ms)
    else:
        log = partition.log
        own.append_as_follower(log.read(offset, MAX_BYTES, log.store.log_end_offset), now_ms)
