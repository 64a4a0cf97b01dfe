"""The line of a tool's output that a finding names."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.collect.printed.evidence import ToolOutput
from eosctl.collect.printed.lines import line_about
from eosctl.services.lint_configuration import LintRequest, lint_configuration

HEAD = "Topic: pay\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
ROWS = "".join(
    f"\tTopic: pay\tPartition: {n}\tLeader: 1\tReplicas: 1,2,3\tIsr: {isr}\n"
    for n, isr in enumerate(("1,2,3", "1", "1,2,3"))
)


def test_a_partition_is_found_at_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(HEAD + ROWS, "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    lines = {one.check_id: dict(one.facts)["line"] for one in found}
    assert lines["EOS-TOP-002"] == 3


ACLS = """\
Current ACLs for resource `ResourcePattern(resourceType=GROUP, name=cdc, patternType=LITERAL)`:
 \t(principal=User:c, host=*, operation=READ, permissionType=ALLOW)

Current ACLs for resource `ResourcePattern(resourceType=TRANSACTIONAL_ID, name=%s, patternType=PREFIXED)`:
 \t(principal=User:c, host=*, operation=WRITE, permissionType=ALLOW)
"""
WORKER = "group.id=cdc\nexactly.once.source.support=enabled\nconfig.storage.topic=c\noffset.storage.topic=o\n"


@pytest.mark.parametrize(("prefix", "expected"), [("cdc-", ["EOS-CFG-175"]), ("connect-", [])])
def test_printed_rules_are_those_of_clients_nearby(prefix: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "acls.txt").write_text(ACLS % prefix, "utf-8")
    (tmp_path / "worker.properties").write_text(WORKER, "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    assert [one.check_id for one in found if one.severity.value == "error"] == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Producer id 7, epoch 2, has an open transaction on pay-3.", ("hanging", 2)),
        ("Group g waits on pay-3.", ("group", 2)),
        ("Nothing of it is printed.", None),
    ],
)
def test_the_line_that_prints_most_is_chosen(message: str, expected: tuple[str, int] | None) -> None:
    texts = {"group": "GROUP TOPIC PARTITION\ng pay 3 10", "hanging": "Topic Partition ProducerId\npay 3 7 2"}
    outputs = [ToolOutput(file, 1, "a tool", is_evidence=True) for file in texts]
    assert line_about("", message, outputs, texts) == expected


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("The metadata of voter 3 is 1 h behind.", 3),
        ("ledger* is compared literally: no TransactionalId is called that.", 4),
        ("g reads pay.out slowly.", 5),
    ],
)
def test_a_line_is_found_by_a_node_or_a_name(message: str, line: int) -> None:
    text = "NodeId LogEndOffset\n13 9\n3 7\nname=ledger*, x\nTopic: pay.out"
    assert line_about("", message, [ToolOutput("a", 1, "a tool", is_evidence=True)], {"a": text}) == ("a", line)


OPEN = """\
$ kafka-transactions.sh --bootstrap-server b:9092 describe --transactional-id till-0
CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t\
CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions
1\ttill-0\t7\t1\tOngoing\t60000\t1764409382117\t412\tpay-1,gone-17
"""
GROUPS = """\
GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
till pay 0 10 12 2 till-0-c1f0 /10.0.0.1 till-0
"""


@pytest.mark.parametrize(
    ("options", "expected"), [("", ["described.txt:6"]), (" --topic pay", []), (" --under-min-isr-partitions", [])]
)
def test_only_a_whole_list_shows_a_deleted_topic(options: str, expected: list[str], tmp_path: Path) -> None:
    called = f"$ kafka-topics.sh --bootstrap-server b:9092 --describe{options}\n"
    (tmp_path / "described.txt").write_text(called + HEAD + ROWS[: ROWS.index("\n") + 1] + OPEN, "utf-8")
    (tmp_path / "a-groups.txt").write_text(GROUPS, "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    deleted = [dict(one.facts) for one in found if one.check_id == "EOS-TXN-016"]
    assert [f"{Path(str(one['file'])).name}:{one['line']}" for one in deleted] == expected


@pytest.mark.parametrize(("leader", "isr", "absent"), [(3, "3", ""), ("none", "", "broker 3")])
def test_a_broker_in_sync_is_not_to_be_brought_back(leader: object, isr: str, absent: str, tmp_path: Path) -> None:
    head = "Topic: __transaction_state\tPartitionCount: 3\tReplicationFactor: 1\tConfigs: min.insync.replicas=1\n"
    rows = [(0, 1, "1"), (1, 2, "2"), (2, leader, isr)]
    text = "".join(
        f"\tTopic: __transaction_state\tPartition: {n}\tLeader: {at}\tReplicas: {n + 1}\tIsr: {held}\n"
        for n, at, held in rows
    )
    (tmp_path / "topics.txt").write_text(head + text, "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    finding = next(one for one in found if one.check_id == "EOS-BRK-001")
    plans = [one.line for one in finding.commands if "reassign" in one.line]
    assert (f"First bring back {absent}:" in finding.remedy[0], bool(plans)) == (bool(absent), not absent)
