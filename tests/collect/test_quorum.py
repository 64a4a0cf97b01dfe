"""The controller quorum: its replicas, a refusal, an API that is missing, and a controller that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from eosctl.client.deadline import Deadline
from eosctl.collect.quorum import collect_quorum, frozen_metadata
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.errors import ClusterUnreachable, RequestTimedOut, UnsupportedByBroker
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.cluster_state import QuorumReplica
from eosctl.model.evidence import ACTIVE_CONTROLLER, QUIET_CONTROLLER, EvidenceKind, GapReason
from eosctl.model.snapshot import ApiRange, Broker, QuorumInfo
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import api_versions, describe_quorum
from tests.collect.conftest import ScriptedCluster

SERVES = (ApiRange(ApiKey.DESCRIBE_QUORUM, 0, 2),)
TIMED_OUT = describe_quorum.DescribeQuorumResponse(ErrorCode.REQUEST_TIMED_OUT)
ALIVE = api_versions.ApiVersionsResponse()


def answer(error: ErrorCode = ErrorCode.NONE) -> describe_quorum.DescribeQuorumResponse:
    replica = describe_quorum.ReplicaState(replica_id=1, log_end_offset=9, last_caught_up_timestamp=5)
    old = describe_quorum.ReplicaState(replica_id=2, log_end_offset=8, last_caught_up_timestamp=-1)
    partition = describe_quorum.ResponsePartitionData(
        error_code=error, leader_id=1, leader_epoch=1, high_watermark=8, current_voters=[replica], observers=[old]
    )
    return describe_quorum.DescribeQuorumResponse(
        topics=[describe_quorum.ResponseTopicData("__cluster_metadata", [partition])]
    )


def ask(cluster: ScriptedCluster, *brokers: Broker) -> Probed[QuorumInfo | None]:
    async def collect() -> Probed[QuorumInfo | None]:
        loop = asyncio.get_running_loop()
        return await collect_quorum(ReadOnly(cluster), brokers, lambda: int(loop.time() * 1000))

    return run_virtual(collect())


def broker(node_id: int, *, reachable: bool = True, serves: tuple[ApiRange, ...] = SERVES) -> Broker:
    return Broker(node_id, "h", node_id, reachable=reachable, api_ranges=serves if reachable else ())


def test_the_replicas_are_kept(cluster: ScriptedCluster) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, answer())
    found = ask(cluster, broker(1))
    assert found.value is not None
    assert found.value.replicas == (QuorumReplica(1, 9, 5), QuorumReplica(2, 8, None))
    assert found.gaps == ()


def test_one_broker_that_hears_the_controller_is_enough(cluster: ScriptedCluster) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, TIMED_OUT)
    cluster.on(2, ApiKey.DESCRIBE_QUORUM, answer())
    found = ask(cluster, broker(1), broker(2))
    assert found.value is not None
    assert found.gaps == ()


@pytest.mark.parametrize(
    "silence",
    [
        TIMED_OUT,
        RequestTimedOut("no answer"),
        answer(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        answer(ErrorCode.BROKER_NOT_AVAILABLE),
        describe_quorum.DescribeQuorumResponse(ErrorCode.NOT_CONTROLLER),
    ],
    ids=str,
)
def test_silence_beyond_an_election_is_the_controllers(cluster: ScriptedCluster, silence: object) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, silence)
    cluster.on(1, ApiKey.API_VERSIONS, ALIVE)
    found = ask(cluster, broker(1), broker(2, reachable=False))
    assert found.value is None
    assert [gap.subject for gap in found.gaps] == [ACTIVE_CONTROLLER]
    assert "broker 1:" in found.gaps[0].detail
    assert {gap.kind for gap in frozen_metadata(found.gaps)} == {EvidenceKind.TOPICS, EvidenceKind.CLUSTER}


class Waiting:
    """A broker that answers everything, but never what it forwards to the controller."""

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        if api_key is not ApiKey.API_VERSIONS:
            await asyncio.sleep(3_600)
        return ALIVE

    async def request_any(self, api_key: ApiKey, message: Any) -> Any:
        raise AssertionError(api_key)


@pytest.mark.parametrize(
    ("timeout_ms", "subject"),
    [(8_000, ACTIVE_CONTROLLER), (4_000, QUIET_CONTROLLER), (1_000, "*")],
    ids=["long", "short", "no time"],
)
def test_a_request_without_an_answer_leaves_time_for_the_proof(timeout_ms: int, subject: str) -> None:
    async def collect() -> Probed[QuorumInfo | None]:
        loop = asyncio.get_running_loop()
        reader = ReadOnly(Waiting(), Deadline.after(timeout_ms))
        return await collect_quorum(reader, [broker(1)], lambda: int(loop.time() * 1000))

    found = run_virtual(collect())
    assert [gap.subject for gap in found.gaps] == [subject]
    assert {gap.kind for gap in frozen_metadata(found.gaps)} == {EvidenceKind.TOPICS, EvidenceKind.CLUSTER}


def test_an_election_is_waited_for(cluster: ScriptedCluster) -> None:
    answers = iter([answer(ErrorCode.NOT_LEADER_OR_FOLLOWER), TIMED_OUT, answer()])
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, lambda request: next(answers))
    assert ask(cluster, broker(1)).value is not None


def fetched(*at_ms: int) -> describe_quorum.DescribeQuorumResponse:
    voters = [describe_quorum.ReplicaState(replica_id=n, last_fetch_timestamp=ms) for n, ms in enumerate(at_ms, 1)]
    partition = describe_quorum.ResponsePartitionData(leader_id=1, current_voters=voters)
    return describe_quorum.DescribeQuorumResponse(
        topics=[describe_quorum.ResponseTopicData("__cluster_metadata", [partition])]
    )


@pytest.mark.parametrize("later", [7, -1])
def test_a_voter_gets_time_for_its_first_fetch(cluster: ScriptedCluster, later: int) -> None:
    def with_second_voter(log_end_offset: int) -> describe_quorum.DescribeQuorumResponse:
        found = answer()
        voter = describe_quorum.ReplicaState(replica_id=3, log_end_offset=log_end_offset, last_caught_up_timestamp=5)
        found.topics[0].partitions[0].current_voters.append(voter)
        return found

    answers = iter([with_second_voter(-1), with_second_voter(later)])
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, lambda _: next(answers))
    found = ask(cluster, broker(1)).value
    assert found is not None
    assert next(one.log_end_offset for one in found.replicas if one.replica_id == 3) == later


def test_a_controller_without_voters_is_queried_until_it_resigns(cluster: ScriptedCluster) -> None:
    answers = iter([fetched(9_000, 5_000, 5_000), fetched(10_000, 5_000, 5_000)])
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, lambda request: next(answers, TIMED_OUT))
    cluster.on(1, ApiKey.API_VERSIONS, ALIVE)
    found = ask(cluster, broker(1))
    assert (found.value, [gap.subject for gap in found.gaps]) == (None, [ACTIVE_CONTROLLER])


@pytest.mark.parametrize(
    "at_ms",
    [(9_000, 8_000, 5_000), (-1, -1, -1), (9_000,), (9_000, 5_000, 5_000)],
    ids=["one voter is down", "no times", "one voter", "old times, but it does not resign"],
)
def test_a_controller_that_keeps_leading_is_believed(cluster: ScriptedCluster, at_ms: tuple[int, ...]) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, fetched(*at_ms))
    found = ask(cluster, broker(1))
    assert found.value is not None
    assert found.gaps == ()


def _unsupported(request: Any) -> Exception:
    return UnsupportedByBroker("DESCRIBE_QUORUM is not served")


@pytest.mark.parametrize(
    ("reply", "serves", "reason"),
    [
        (lambda request: answer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), SERVES, GapReason.NOT_AUTHORIZED),
        (
            lambda request: describe_quorum.DescribeQuorumResponse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
            SERVES,
            GapReason.NOT_AUTHORIZED,
        ),
        (_unsupported, (ApiRange(ApiKey.METADATA, 0, 12),), GapReason.UNSUPPORTED),
    ],
    ids=["refused within", "refused", "no such API"],
)
def test_any_error_but_silence_is_a_gap_of_all_of_it(
    cluster: ScriptedCluster, reply: Callable[[Any], Any], serves: tuple[ApiRange, ...], reason: GapReason
) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, reply)
    found = ask(cluster, broker(1, serves=serves))
    assert [(gap.subject, gap.reason) for gap in found.gaps] == [("*", reason)]
    assert frozen_metadata(found.gaps) == ()


def test_a_stopped_broker_proves_nothing_about_the_controller(cluster: ScriptedCluster) -> None:
    cluster.on(1, ApiKey.DESCRIBE_QUORUM, RequestTimedOut("no answer"))
    cluster.on(1, ApiKey.API_VERSIONS, ClusterUnreachable("gone"))
    found = ask(cluster, broker(1))
    assert [gap.subject for gap in found.gaps] == ["*"]
