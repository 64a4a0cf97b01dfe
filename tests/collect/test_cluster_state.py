"""Access rules and log directories: what brokers answer, and what their refusals become."""

from __future__ import annotations

import asyncio
from typing import Any

from eosctl.collect.access_rules import collect_access_rules
from eosctl.collect.log_directories import collect_log_directories
from eosctl.collect.reader import ReadOnly
from eosctl.errors import ClusterUnreachable
from eosctl.model.cluster_state import AccessRule, LogDirectory
from eosctl.model.evidence import GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_acls, describe_log_dirs


class Answers:
    """A client that answers from a list; an error in it is raised."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        answer = self.answers[f"broker_{node_id}"]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def request_any(self, api_key: ApiKey, message: Any) -> Any:
        return self.answers[api_key.name]


def acls(code: ErrorCode, *resources: Any) -> Any:
    return describe_acls.DescribeAclsResponse(0, code, None, list(resources))


def test_access_rules_are_named_as_kafka_names_them() -> None:
    entry = describe_acls.AclDescription("User:app", "*", 4, 3)
    resource = describe_acls.DescribeAclsResource(5, "app-", 4, [entry])
    found = asyncio.run(collect_access_rules(ReadOnly(Answers(DESCRIBE_ACLS=acls(ErrorCode.NONE, resource)))))
    rule = AccessRule("User:app", "*", "TransactionalId", "app-", "Prefixed", "Write", "Allow")
    assert found.value is not None
    assert (found.value.enabled, found.value.rules, found.gaps) == (True, (rule,), ())
    assert rule.covers("TransactionalId", "app-1")
    assert not rule.covers("TransactionalId", "ap")
    assert not rule.covers("Group", "app-1")


def test_without_authorizer_there_are_no_rules_and_no_gap() -> None:
    found = asyncio.run(collect_access_rules(ReadOnly(Answers(DESCRIBE_ACLS=acls(ErrorCode.SECURITY_DISABLED)))))
    assert found.value is not None
    assert (found.value.enabled, found.gaps) == (False, ())


def test_a_refusal_is_a_gap() -> None:
    refusal = acls(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    found = asyncio.run(collect_access_rules(ReadOnly(Answers(DESCRIBE_ACLS=refusal))))
    assert found.value is None
    assert [gap.reason for gap in found.gaps] == [GapReason.NOT_AUTHORIZED]


def test_a_failed_directory_is_reported_and_silence_is_a_gap() -> None:
    held = describe_log_dirs.DescribeLogDirsTopic(
        "t", [describe_log_dirs.DescribeLogDirsPartition(0, 70, 0, is_future_key=False)]
    )
    well = describe_log_dirs.DescribeLogDirsResult(0, "/a", [held], 100, 30)
    failed = describe_log_dirs.DescribeLogDirsResult(56, "/b", [], -1, -1)
    client = Answers(
        broker_1=describe_log_dirs.DescribeLogDirsResponse(0, 0, [well, failed]),
        broker_2=ClusterUnreachable("away", "", ""),
        broker_3=describe_log_dirs.DescribeLogDirsResponse(0, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, []),
    )
    found = asyncio.run(collect_log_directories(ReadOnly(client), [1, 2, 3]))
    assert found.value == (
        LogDirectory(1, "/a", "", 100, 30, 70),
        LogDirectory(1, "/b", "KAFKA_STORAGE_ERROR", -1, -1, 0),
    )
    assert [gap.subject for gap in found.gaps] == ["broker 2", "broker 3"]
