"""Denials of a topic to an application, and resources that are hidden from an observing principal."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

WRITE = ("User:app", "WRITE", "Topic:LITERAL:orders", "Produce")
WATCH = ("User:mon", "DESCRIBE", "TransactionalId:LITERAL:app-2", "ListTransactions")


def denials(folder: Path, *denied: tuple[str, str, str, str]) -> list[Incident]:
    lines = [
        f"[2026-11-26 10:03:{second:02},542] INFO Principal = {principal} is Denied operation = {operation} from host "
        f"= 127.0.0.1 on resource = {resource} for request = {request} with resourceRefCount = 1 based on rule "
        "DefaultDeny (kafka.authorizer.logger)\n"
        for second, (principal, operation, resource, request) in enumerate(denied)
    ]
    return judge(folder, {"kafka-authorizer.log": "".join(lines)})


@pytest.mark.parametrize("operation", ["WRITE", "Write"])
@pytest.mark.parametrize("request_name", ["Produce", "AddPartitionsToTxn"])
def test_a_denied_write_names_topic_principal_and_operation(tmp_path: Path, operation: str, request_name: str) -> None:
    (found,) = denials(tmp_path, ("User:app", operation, "Topic:LITERAL:orders.v2", request_name))
    assert (found.kind, found.root_cause) == ("topic_authorization", "missing-topic-acl")
    assert found.severity is Severity.ERROR
    assert found.subject == {"topic": "orders.v2", "principal": "User:app"}
    assert found.explanation == f"User:app was denied WRITE on topic orders.v2 ({request_name})."
    assert found.next_step == "Add the ACL: Write on Topic orders.v2."


def test_a_denied_topic_is_found_in_the_clients_log(tmp_path: Path) -> None:
    text = (
        "2026-11-26 10:03:28.542 ERROR [main] com.example.Orders - send failed\n"
        "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [orders]\n"
    )
    (found,) = judge(tmp_path, {"app.log": text})
    assert (found.kind, found.subject) == ("topic_authorization", {"topic": "orders"})


def test_resources_hidden_from_an_observer_are_information(tmp_path: Path) -> None:
    group = ("User:mon", "DESCRIBE", "Group:LITERAL:billing", "OffsetFetch")
    topic = ("User:mon", "DESCRIBE", "Topic:LITERAL:orders", "ListOffsets")
    log = ("User:mon", "READ", "Topic:LITERAL:__transaction_state", "Fetch")
    (found,) = denials(tmp_path, WATCH, group, topic, log)
    assert (found.kind, found.severity) == ("observation_denied", Severity.INFO)
    assert found.subject["principal"] == "User:mon"
    assert "transactional.id app-2, group billing, topic orders, and 1 more" in found.explanation


def test_the_same_lookup_by_an_application_is_a_denial(tmp_path: Path) -> None:
    found = denials(tmp_path, WATCH, WRITE, ("User:app", "DESCRIBE", "Topic:LITERAL:bills", "Metadata"))
    severities = {str(one.subject.get("topic", one.subject["principal"])): one.severity for one in found}
    assert severities == {"User:mon": Severity.INFO, "orders": Severity.ERROR, "bills": Severity.WARNING}


def test_a_producer_that_cannot_find_its_coordinator_is_an_error(tmp_path: Path) -> None:
    (found,) = denials(tmp_path, ("User:app", "DESCRIBE", "TransactionalId:LITERAL:app-2", "FindCoordinator"))
    assert (found.kind, found.severity) == ("transactional_id_authorization", Severity.ERROR)


def refusal(request: str, key: str, principal: str, operation: str) -> str:
    """Return how a controller records a request that a broker forwarded, and that it refuses."""
    header = "header=RequestHeader(apiKey=ENVELOPE, apiVersion=0, clientId=1, correlationId=12, headerVersion=2)"
    return (
        "[2026-11-26 10:03:28,946] ERROR [ControllerApis nodeId=1] Unexpected error handling request Forwarded "
        f"request: RequestContext({header}, connectionId='127.0.0.1:1-127.0.0.1:2-2-0', principal=User:ANONYMOUS, "
        f"listenerName=ListenerName(CONTROLLER)) RequestHeader(apiKey={key}, apiVersion=2, clientId=eosctl, "
        f"correlationId=4, headerVersion=2) -- {request}RequestData(topics=[]) with context RequestContext({header}, "
        f"connectionId='127.0.0.1:1-127.0.0.1:2-2-0', principal={principal}, listenerName=ListenerName(CONTROLLER), "
        "securityProtocol=PLAINTEXT) (kafka.server.ControllerApis)\n"
        "org.apache.kafka.common.errors.ClusterAuthorizationException: Request Request(processor=2) needs "
        f"{operation} permission.\n"
    )


@pytest.mark.parametrize(
    ("request_name", "key", "operation", "kind"),
    [
        ("DescribeQuorum", "DESCRIBE_QUORUM", "DESCRIBE", "observation_denied"),
        ("ListPartitionReassignments", "LIST_PARTITION_REASSIGNMENTS", "DESCRIBE", "observation_denied"),
        ("AlterPartitionReassignments", "ALTER_PARTITION_REASSIGNMENTS", "ALTER", "cluster_authorization"),
    ],
)
def test_a_controllers_record_names_request_and_principal(
    tmp_path: Path, request_name: str, key: str, operation: str, kind: str
) -> None:
    (found,) = judge(tmp_path, {"controller.log": refusal(request_name, key, "User:CN=mon,O=ops", operation)})
    assert found.kind == kind
    assert found.subject["principal"] == "User:CN=mon,O=ops"
    assert found.severity is (Severity.INFO if kind == "observation_denied" else Severity.ERROR)
