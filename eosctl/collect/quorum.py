"""The state of the controller quorum from the active controller, and the detection of a missing one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.cluster_state import QuorumReplica
from eosctl.model.evidence import ACTIVE_CONTROLLER, QUIET_CONTROLLER, EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import Broker, QuorumInfo
from eosctl.storage.names import METADATA_TOPIC
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import api_versions, describe_quorum

BROKERS_ASKED: Final = 3
#: Longer than an election (controller.quorum.election.timeout.ms and controller.quorum.fetch.timeout.ms: 1 s and 2 s).
CONVINCING_SILENCE_MS: Final = 6_000
#: A controller that runs answers within milliseconds.
NOTABLE_SILENCE_MS: Final = 1_500
ATTEMPTS: Final = 8
#: A voter fetches at least twice a second (KafkaRaftClient waits at most 500 ms for new records).
VOTER_SILENCE_MS: Final = 1_500
PAUSE_S: Final = 1.0
#: The least time for one request; less is a matter of the network.
PATIENCE_MS: Final = 1_000
_SILENT: Final = frozenset({GapReason.TIMED_OUT, GapReason.NO_LEADER})
_SILENT_ERRORS: Final = frozenset(
    {
        ErrorCode.NOT_CONTROLLER.name,
        ErrorCode.BROKER_NOT_AVAILABLE.name,
        ErrorCode.NETWORK_EXCEPTION.name,
        ErrorCode.COORDINATOR_NOT_AVAILABLE.name,
    }
)
_NO_MAJORITY: Final = EvidenceGap(
    EvidenceKind.QUORUM, "*", GapReason.TIMED_OUT, detail="no majority of the voters fetches from the controller"
)
_UNANSWERED: Final = EvidenceGap(
    EvidenceKind.QUORUM,
    "*",
    GapReason.TIMED_OUT,
    detail="no answer from a controller",
    next_step="Try again with a longer --timeout.",
)
_NEXT_STEPS: Final = {
    ACTIVE_CONTROLLER: "Start enough controllers for a majority of the voters.",
    QUIET_CONTROLLER: "Try again with a longer --timeout.",
}
_REQUEST: Final = describe_quorum.DescribeQuorumRequest(
    topics=[describe_quorum.RequestTopicData(METADATA_TOPIC, [describe_quorum.RequestPartitionData(partition_index=0)])]
)


async def collect_quorum(
    reader: ReadOnly, brokers: Sequence[Broker], now_ms: Callable[[], int]
) -> Probed[QuorumInfo | None]:
    """Return the state of the controller quorum (DescribeQuorum; needs DESCRIBE on the cluster).

    Brokers forward the request to the active controller. If responsive brokers get no response from it for longer than
    an election takes, the gap is that of the active controller (`ACTIVE_CONTROLLER`), or, where the time for the whole
    command ends before, `QUIET_CONTROLLER`. Kafka 4.3 returns REQUEST_TIMED_OUT after a minute.

    A controller that has lost the other voters responds until it resigns, 1.5 times
    `controller.quorum.fetch.timeout.ms` later. Therefore a response without a fetching majority is requested again for
    that long.
    """
    asked = [broker for broker in brokers if broker.reachable and not broker.fenced and broker.api_ranges]
    serving = [broker.node_id for broker in asked if has_quorum(broker)]
    if not serving:
        # ZooKeeper, a release before 3.3, or no broker that is reachable under its own address.
        return await _any_broker(reader)
    started_at_ms = now_ms()
    answers: list[Probed[QuorumInfo | None]] = []
    gaps: tuple[EvidenceGap, ...] = ()
    for number in range(ATTEMPTS):
        patience_ms = max(PATIENCE_MS, CONVINCING_SILENCE_MS - (now_ms() - started_at_ms))
        answers = await asyncio.gather(
            *(_one_broker(reader, node_id, patience_ms) for node_id in serving[:BROKERS_ASKED])
        )
        answered = next((answer for answer in answers if answer.value is not None and not answer.gaps), None)
        gaps = tuple(gap for answer in answers for gap in answer.gaps)
        if answered is not None:
            return await _after_an_election(reader, answered, serving[0])
        if not gaps or not all(map(_is_silence, gaps)):
            return Probed(None, tuple(gap for gap in gaps if not _is_silence(gap))[:1])
        silence_ms = now_ms() - started_at_ms
        if silence_ms >= CONVINCING_SILENCE_MS:
            if any(answer.value is not None for answer in answers):
                break
            alive = await _alive(reader, serving[:BROKERS_ASKED])
            return Probed(None, (_silent(ACTIVE_CONTROLLER, alive, gaps[0], silence_ms),) if alive else gaps[:1])
        if number == ATTEMPTS - 1 or not await reader.pause(PAUSE_S):
            break
    # A controller that has not resigned by now leads: the times in its response are wrong or old.
    leading = next((answer.value for answer in answers if answer.value is not None), None)
    if leading is not None:
        return Probed(leading)
    silence_ms = now_ms() - started_at_ms
    if silence_ms < NOTABLE_SILENCE_MS:
        return Probed(None, gaps[:1])
    return Probed(None, (_silent(QUIET_CONTROLLER, serving[:BROKERS_ASKED], gaps[0], silence_ms),))


def has_quorum(broker: Broker) -> bool:
    """Return whether a broker forwards questions to a quorum of controllers (KRaft, from 3.3 on).

    Metadata of such a broker names any live broker as the controller (``KafkaApis``, since KIP-590), and another one in
    each response.
    """
    return any(one.api_key == ApiKey.DESCRIBE_QUORUM for one in broker.api_ranges)


async def _after_an_election(
    reader: ReadOnly, answered: Probed[QuorumInfo | None], node_id: int
) -> Probed[QuorumInfo | None]:
    """Request again where a voter has not fetched since the election, which may have been a moment ago."""
    quorum = answered.value
    if quorum is None or all(one.log_end_offset >= 0 for one in quorum.replicas if one.replica_id in quorum.voters):
        return answered
    if not await reader.pause(PAUSE_S):
        return answered
    again = await _one_broker(reader, node_id, PATIENCE_MS)
    return answered if again.value is None or again.gaps else again


async def _any_broker(reader: ReadOnly) -> Probed[QuorumInfo | None]:
    answer, gaps = await attempt(EvidenceKind.QUORUM, "*", lambda: reader.request_any(ApiKey.DESCRIBE_QUORUM, _REQUEST))
    if answer is None:
        return Probed(None, gaps)
    read = _read(answer)
    return read if read.value is None else Probed(read.value)


async def _one_broker(reader: ReadOnly, node_id: int, patience_ms: int) -> Probed[QuorumInfo | None]:
    ask = partial(reader.request, node_id, ApiKey.DESCRIBE_QUORUM, _REQUEST)
    try:
        async with asyncio.timeout(patience_ms / 1000):
            answer, gaps = await attempt(EvidenceKind.QUORUM, "*", ask)
    except TimeoutError:
        return Probed(None, (_UNANSWERED,))
    return Probed(None, gaps) if answer is None else _read(answer)


async def _alive(reader: ReadOnly, node_ids: Sequence[int]) -> list[int]:
    """Return the brokers that respond to other requests; if none does, silence does not identify the controller."""
    request = api_versions.ApiVersionsRequest(client_software_name="eosctl", client_software_version="1")
    answers = await asyncio.gather(
        *(
            attempt(EvidenceKind.QUORUM, "*", partial(reader.request, node_id, ApiKey.API_VERSIONS, request))
            for node_id in node_ids
        )
    )
    return [node_id for node_id, (answer, _) in zip(node_ids, answers, strict=True) if answer is not None]


def _is_silence(gap: EvidenceGap) -> bool:
    return gap.reason in _SILENT or gap.error in _SILENT_ERRORS


def _silent(subject: str, node_ids: Sequence[int], gap: EvidenceGap, silence_ms: int) -> EvidenceGap:
    names = ", ".join(map(str, node_ids))
    return EvidenceGap(
        kind=EvidenceKind.QUORUM,
        subject=subject,
        reason=gap.reason,
        error=gap.error,
        detail=f"DescribeQuorum through broker {names}: no answer from a controller within {silence_ms / 1000:.0f} s",
        next_step=_NEXT_STEPS[subject],
    )


def frozen_metadata(gaps: Sequence[EvidenceGap]) -> tuple[EvidenceGap, ...]:
    """Return the evidence that is, or may be, frozen because no controller responded; empty if one did.

    A collection that ends before the silence is convincing has not shown that a controller stands behind the metadata.
    """
    silent = [gap for gap in gaps if gap.kind is EvidenceKind.QUORUM and _is_silence(gap)]
    if not silent:
        return ()
    is_sure = any(gap.subject == ACTIVE_CONTROLLER for gap in silent)
    detail = (
        "no controller answers, so brokers show what was true before"
        if is_sure
        else "no controller answered in the given time, so brokers may show what was true before"
    )
    return (
        EvidenceGap(EvidenceKind.TOPICS, "leaders and in-sync replicas", GapReason.FROZEN, detail=detail),
        EvidenceGap(EvidenceKind.CLUSTER, "which brokers are registered", GapReason.FROZEN, detail=detail),
    )


def _majority_fetches(partition: describe_quorum.ResponsePartitionData) -> bool:
    """Return whether enough voters fetch to elect the leader again; always True for version 0, which has no times."""
    voters = partition.current_voters
    newest_ms = max((voter.last_fetch_timestamp for voter in voters), default=0)
    fetching = [
        voter
        for voter in voters
        if voter.replica_id == partition.leader_id or newest_ms - voter.last_fetch_timestamp < VOTER_SILENCE_MS
    ]
    return len(fetching) > len(voters) // 2


def _read(answer: Any) -> Probed[QuorumInfo | None]:
    if answer.error_code != ErrorCode.NONE:
        return Probed(None, (gap_from_code(EvidenceKind.QUORUM, "*", answer.error_code),))
    for topic in answer.topics:
        for partition in topic.partitions:
            if partition.error_code != ErrorCode.NONE:
                return Probed(None, (gap_from_code(EvidenceKind.QUORUM, "*", partition.error_code),))
            quorum = QuorumInfo(
                leader_id=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                high_watermark=partition.high_watermark,
                voters=tuple(sorted(voter.replica_id for voter in partition.current_voters)),
                observers=tuple(sorted(observer.replica_id for observer in partition.observers)),
                replicas=tuple(
                    QuorumReplica(
                        state.replica_id,
                        state.log_end_offset,
                        state.last_caught_up_timestamp if state.last_caught_up_timestamp >= 0 else None,
                    )
                    for state in (*partition.current_voters, *partition.observers)
                ),
            )
            return Probed(quorum, () if _majority_fetches(partition) else (_NO_MAJORITY,))
    return Probed(None, (EvidenceGap(EvidenceKind.QUORUM, "*", GapReason.BROKER_ERROR, detail="the answer is empty"),))
