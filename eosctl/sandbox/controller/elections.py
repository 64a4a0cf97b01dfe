"""Leader election: pure decisions that result in PartitionChange records (`PartitionChangeBuilder`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from eosctl.sandbox.metadata.image import (
    NO_LEADER,
    RECOVERING,
    ClusterImage,
    PartitionState,
    TopicState,
    directory_of,
)
from eosctl.wire.messages.internal.metadata.partition_change_record import PartitionChangeRecord


class Election(NamedTuple):
    """The result of an election; `unclean` if data may be lost."""

    leader: int
    unclean: bool


def elect_leader(
    state: PartitionState, is_active: Callable[[int], bool], *, allow_unclean: bool, prefer_first: bool = False
) -> Election:
    """Elect a leader: the present one while it serves, else the first in-sync replica, else an eligible one.

    Without any of these, the last known leader is elected, or any replica if that is allowed. Both may have lost
    acknowledged records (KIP-966; `PartitionChangeBuilder.electAnyLeader`).
    """
    in_sync = [broker for broker in state.replicas if broker in state.isr and is_active(broker)]
    if prefer_first and state.replicas and state.replicas[0] in in_sync:
        return Election(state.replicas[0], False)
    if state.leader in in_sync:
        return Election(state.leader, False)
    if in_sync:
        return Election(in_sync[0], False)
    eligible = [broker for broker in state.replicas if broker in state.eligible_leader_replicas and is_active(broker)]
    if eligible:
        return Election(eligible[0], False)
    is_lost = not state.isr and not state.eligible_leader_replicas
    if is_lost and len(state.last_known_elr) == 1 and is_active(state.last_known_elr[0]):
        return Election(state.last_known_elr[0], True)
    if allow_unclean:
        alive = [broker for broker in state.replicas if is_active(broker)]
        if alive:
            return Election(alive[0], True)
    return Election(NO_LEADER, False)


def eligible_after(state: PartitionState, isr: tuple[int, ...], min_isr: int) -> tuple[int, ...]:
    """Return the eligible leader replicas for a new ISR (KIP-966; `PartitionChangeBuilder`).

    While the ISR is smaller than `min_isr`, the high watermark does not advance, so a replica that leaves has all
    records below it. Once the ISR is large enough, the high watermark advances and no replica outside the ISR is
    eligible.
    """
    if len(isr) >= min_isr:
        return ()
    candidates = dict.fromkeys((*state.eligible_leader_replicas, *state.isr))
    return tuple(broker for broker in candidates if broker not in isr)


def last_known_after(state: PartitionState, leader: int) -> tuple[int, ...]:
    """Return the last known leader of a partition that gets this leader (`maybeUpdateLastKnownLeader`)."""
    if leader == state.leader:
        return state.last_known_elr
    if leader != NO_LEADER:
        return ()
    return state.last_known_elr or (state.leader,)


def serving(image: ClusterImage, state: PartitionState, is_active: Callable[[int], bool]) -> Callable[[int], bool]:
    """Return a predicate: whether a broker is active and the directory of its replica is online."""

    def serves(broker_id: int) -> bool:
        broker = image.brokers.get(broker_id)
        return is_active(broker_id) and (broker is None or broker.has_directory(directory_of(state, broker_id)))

    return serves


def change_of(topic: TopicState, index: int, state: PartitionState, **changes: Any) -> PartitionChangeRecord:
    """Build the record of the changed fields."""
    kept = {
        name: value for name, value in changes.items() if name == "leader" or _has_changed(value, getattr(state, name))
    }
    return PartitionChangeRecord(index, topic.topic_id, **kept)


def _has_changed(value: Any, present: Any) -> bool:
    return bool(value != present if isinstance(value, int) else tuple(value) != present)


def partitions_with(image: ClusterImage, broker_id: int) -> Iterator[tuple[TopicState, int, PartitionState]]:
    """Yield the partitions with a replica on a broker."""
    for topic in image.topics.values():
        for index, state in topic.partitions.items():
            if broker_id in state.replicas:
                yield topic, index, state


def remove_broker(
    image: ClusterImage,
    broker_id: int,
    is_active: Callable[[int], bool],
    unclean_allowed: Callable[[str], bool],
    min_isr: Callable[[str], int],
    *,
    eligible_replicas: bool,
) -> list[PartitionChangeRecord]:
    """Remove a fenced or stopping broker from its ISRs and elect other leaders.

    The last in-sync replica stays in the ISR of a leaderless partition. With eligible leader replicas (KIP-966), it
    moves there once the ISR is smaller than `min.insync.replicas`.
    """
    return remove_replicas(
        image,
        broker_id,
        partitions_with(image, broker_id),
        is_active,
        unclean_allowed,
        min_isr,
        eligible_replicas=eligible_replicas,
    )


def remove_replicas(
    image: ClusterImage,
    broker_id: int,
    partitions: Iterable[tuple[TopicState, int, PartitionState]],
    is_active: Callable[[int], bool],
    unclean_allowed: Callable[[str], bool],
    min_isr: Callable[[str], int],
    *,
    eligible_replicas: bool,
    unclean: bool = False,
) -> list[PartitionChangeRecord]:
    """Remove a broker's replicas of some partitions from their ISRs, as `remove_broker` does.

    After an `unclean` shutdown the broker is not eligible either, since its disk content is unknown (KIP-966).
    """
    records = []
    for topic, index, state in partitions:
        was_eligible = unclean and broker_id in state.eligible_leader_replicas
        if broker_id not in state.isr and state.leader != broker_id and not was_eligible:
            continue
        isr = tuple(broker for broker in state.isr if broker != broker_id)
        elr = state.eligible_leader_replicas
        if eligible_replicas:
            elr = eligible_after(state, isr, min_isr(topic.name))
            if unclean:
                elr = tuple(broker for broker in elr if broker != broker_id)
        elif not isr:
            isr = state.isr
        without = state._replace(isr=isr, eligible_leader_replicas=elr)
        election = elect_leader(
            without,
            serving(image, state, lambda broker: broker != broker_id and is_active(broker)),
            allow_unclean=unclean_allowed(topic.name),
        )
        records.append(_apply_election(topic, index, state, without, election, remember=eligible_replicas))
    return records


def add_broker(
    image: ClusterImage, broker_id: int, is_active: Callable[[int], bool], unclean_allowed: Callable[[str], bool]
) -> list[PartitionChangeRecord]:
    """Elect an unfenced broker as leader of its leaderless partitions."""
    records = []
    for topic, index, state in partitions_with(image, broker_id):
        if state.leader == NO_LEADER:
            election = elect_leader(
                state,
                serving(image, state, lambda broker: broker == broker_id or is_active(broker)),
                allow_unclean=unclean_allowed(topic.name),
            )
            if election.leader != NO_LEADER:
                records.append(_apply_election(topic, index, state, state, election))
    return records


def elect(topic: TopicState, index: int, state: PartitionState, election: Election) -> PartitionChangeRecord | None:
    """Build the record of an explicit election; return None if nothing changes."""
    if election.leader in (state.leader, NO_LEADER):
        return None
    return _apply_election(topic, index, state, state, election)


def _apply_election(
    topic: TopicState,
    index: int,
    state: PartitionState,
    wanted: PartitionState,
    election: Election,
    *,
    remember: bool = True,
) -> PartitionChangeRecord:
    isr: Iterable[int] = wanted.isr
    elr: Iterable[int] = wanted.eligible_leader_replicas
    if election.leader != NO_LEADER and election.leader not in wanted.isr:
        isr = (election.leader,)  # It is the only replica with known content.
        elr = () if election.unclean else tuple(broker for broker in elr if broker != election.leader)
    changes: dict[str, Any] = {"isr": isr, "eligible_leader_replicas": elr}
    if remember:
        changes["last_known_elr"] = last_known_after(state, election.leader)
    if election.leader != state.leader:
        changes["leader"] = election.leader
        if election.unclean:
            changes["leader_recovery_state"] = RECOVERING  # Until its first AlterPartition request (KIP-704).
    return change_of(topic, index, state, **changes)
