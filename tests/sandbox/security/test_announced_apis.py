"""A broker responds to every API that it announces."""

from __future__ import annotations

import pytest

from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from eosctl.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from eosctl.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.messages.streams_group_describe import StreamsGroupDescribeRequest
from eosctl.wire.messages.unregister_broker import UnregisterBrokerRequest
from tests.sandbox.security.conftest import password_of
from tests.sandbox.security.minimal_requests import announced, collect_minimal_answers, is_never_answered
from tests.sandbox.security.wire_client import WireClient


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
def test_every_announced_version_of_every_api_is_answered(release: str) -> None:
    with SandboxThread(emulate=release, fast=False) as sandbox:
        answers = collect_minimal_answers(sandbox.bootstrap)
        wanted = [one for one in announced(sandbox.bootstrap) if not is_never_answered(*one)]
    assert len(answers) == len(wanted) > 250
    # Kafka 4 names the oldest versions of Produce for the sake of old clients, and serves none of them (KAFKA-18659).
    only_named = ["PRODUCE 0", "PRODUCE 1", "PRODUCE 2"] if release != "3.9" else []
    assert [name for name, answer in answers.items() if answer == ["closed"]] == only_named


def test_replicas_move_nowhere_but_to_the_one_directory(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        client.log_in("admin", password_of(login_only))
        asked = MetadataRequest([MetadataRequestTopic(name="moved")], True)
        while True:
            found = client.ask(ApiKey.METADATA, 9, asked)
            assert found is not None
            if not found.topics[0].error_code and found.topics[0].partitions[0].leader_id == 1:
                break
        listed = client.ask(ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(None))
        assert listed is not None
        own = listed.results[0].log_dir
        for path, codes in (
            (own, [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION]),
            (
                "/elsewhere",
                [ErrorCode.LOG_DIR_NOT_FOUND, ErrorCode.LOG_DIR_NOT_FOUND, ErrorCode.INVALID_TOPIC_EXCEPTION],
            ),
        ):
            topics = [AlterReplicaLogDirTopic(name, [0]) for name in ("moved", "ghost", "b" * 249)]
            request = AlterReplicaLogDirsRequest([AlterReplicaLogDir(path, topics)])
            answer = client.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, 2, request)
            assert answer is not None
            assert [topic.partitions[0].error_code for topic in answer.results] == codes


def test_tokens_are_refused_differently_with_and_without_a_login(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        client.log_in("alice", password_of(login_only, "alice"))
        answer = client.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, CreateDelegationTokenRequest())
        assert answer is not None
        assert (answer.error_code, answer.principal_name) == (ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, "alice")
        described = client.ask(ApiKey.STREAMS_GROUP_DESCRIBE, 0, StreamsGroupDescribeRequest(["app"]))
        assert described is not None
        assert [group.error_code for group in described.groups] == [ErrorCode.NOT_COORDINATOR]  # no offsets topic yet
    with SandboxThread() as open_to_all, WireClient(open_to_all.bootstrap) as client:
        answer = client.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, CreateDelegationTokenRequest())
        assert answer is not None
        assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_a_dead_broker_is_unregistered_and_a_live_one_comes_back() -> None:
    with SandboxThread(brokers=3, fast=False) as sandbox, WireClient(sandbox.bootstrap) as client:
        sandbox.kill_broker(3)
        for broker_id, code in ((3, 0), (3, ErrorCode.BROKER_ID_NOT_REGISTERED), (2, 0)):
            answer = client.ask(ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id))
            assert answer is not None
            assert answer.error_code == code
        known: set[int] = set()
        while known != {1, 2}:
            found = client.ask(ApiKey.METADATA, 9, MetadataRequest([], False))
            assert found is not None
            known = {broker.node_id for broker in found.brokers}
        sandbox.start_broker(3)
        while known != {1, 2, 3}:
            found = client.ask(ApiKey.METADATA, 9, MetadataRequest([], False))
            assert found is not None
            known = {broker.node_id for broker in found.brokers}
