"""The sandbox's authorizer gives the same responses as a real one, for the same ACLs and requests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.errors import EosctlError
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import Acl, AclFilter, Permission, ResourceType
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.metadata import MetadataRequest
from tests.sandbox.security.authorization_cases import (
    ACL_SETS,
    collect_answers,
    known_acls,
    replace_acls,
    rule,
)
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.wire_client import WireClient

RECORDED = Path(__file__).parents[2] / "fixtures" / "protocol" / "authorization-4.3.json.gz"
SETTINGS = {
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:admin",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
READ = AclOperation.READ


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS) as running:
        yield running


def test_every_answer_is_the_one_of_a_real_broker(guarded: SandboxThread) -> None:
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    answers = collect_answers(guarded.bootstrap, {user: password_of(guarded, user) for user in USERS})
    assert len(answers) == len(recorded) > 2000
    different = {name: (answers[name], answer) for name, answer in recorded.items() if answers[name] != answer}
    assert different == {}


def _whole(topic: str) -> FetchTopic:
    return FetchTopic(topic, partitions=[FetchPartition(0, -1, 0, -1, -1, 1 << 20)])


def test_a_fetch_session_obeys_changes_of_the_entries() -> None:
    with (
        SandboxThread(sasl=("PLAIN",), users=USERS, config=SETTINGS) as guarded,
        WireClient(guarded.bootstrap) as admin,
        WireClient(guarded.bootstrap) as alice,
    ):
        admin.log_in("admin", password_of(guarded))
        alice.log_in("alice", password_of(guarded, "alice"))
        replace_acls(admin.ask, [])
        created = admin.ask(ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([CreatableTopic("fetched", 1, 1)], 30_000))
        assert created is not None
        while (known := admin.ask(ApiKey.FETCH, 12, FetchRequest(topics=[_whole("fetched")]))) is None or (
            known.responses[0].partitions[0].error_code
        ):
            pass  # the broker follows the controller
        opened = alice.ask(ApiKey.FETCH, 12, FetchRequest(session_epoch=0, topics=[_whole("fetched")]))
        assert opened is not None
        assert opened.responses[0].partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        for epoch, (acls, error) in enumerate(
            [([rule(ResourceType.TOPIC, "fetched", READ)], 0), ([], ErrorCode.TOPIC_AUTHORIZATION_FAILED)], 1
        ):
            replace_acls(admin.ask, acls)
            request = FetchRequest(session_id=opened.session_id, session_epoch=epoch)
            answer = alice.ask(ApiKey.FETCH, 12, request)
            assert answer is not None
            assert answer.responses[0].partitions[0].error_code == error


def test_entries_survive_a_restart_and_bind_every_client(tmp_path: Path) -> None:
    entry = rule(ResourceType.TOPIC, "orders", READ)
    for first in (True, False):
        with SandboxThread(
            brokers=2, data_dir=tmp_path, fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS
        ) as running:
            for bootstrap in running.bootstrap.split(","):
                with WireClient(bootstrap) as admin:
                    admin.log_in("admin", password_of(running))
                    if first:
                        replace_acls(admin.ask, [entry])
                    while known_acls(admin.ask) != [entry]:
                        pass  # this broker may not know it yet


def test_without_a_login_every_client_is_anonymous() -> None:
    settings = {**SETTINGS, "super.users": "User:ANONYMOUS"}
    with SandboxThread(config=settings) as running, WireClient(running.bootstrap) as client:
        replace_acls(client.ask, ACL_SETS["nothing"])
        answer = client.ask(ApiKey.METADATA, 8, MetadataRequest([], False, True))
        assert answer is not None
        assert answer.cluster_authorized_operations > 0
    del settings["super.users"]
    with SandboxThread(config=settings) as running, WireClient(running.bootstrap) as client:
        answer = client.ask(ApiKey.METADATA, 8, MetadataRequest([], False, True))
        assert answer is not None
        assert answer.cluster_authorized_operations == 0


def test_another_authorizer_is_refused_by_name() -> None:
    with (
        pytest.raises(EosctlError, match=r"com\.example\.Authorizer"),
        SandboxThread(config={"authorizer.class.name": "com.example.Authorizer"}),
    ):
        pass


@pytest.mark.parametrize(
    ("changes", "selected"),
    [
        ({}, True),
        ({"resource_type": 3}, False),
        ({"resource_name": "orders"}, False),
        ({"resource_name": "ord"}, True),
        ({"pattern_type": 2, "resource_name": "orders"}, True),
        ({"pattern_type": 2, "resource_name": "or"}, False),
        ({"pattern_type": 3}, False),
        ({"principal": "User:alice"}, True),
        ({"principal": "User:*"}, False),
        ({"host": "127.0.0.1"}, False),
        ({"operation": AclOperation.READ}, True),
        ({"operation": AclOperation.ALL}, False),
        ({"permission": Permission.DENY}, False),
    ],
)
def test_filters_select_entries_as_they_are_written(changes: dict[str, object], selected: bool) -> None:
    acl = Acl(ResourceType.TOPIC, "ord", 4, "User:alice", "*", AclOperation.READ, Permission.ALLOW)
    everything = AclFilter(1, None, 1, None, None, 1, 1)
    assert everything._replace(**changes).selects(acl) is selected  # type: ignore[arg-type]
