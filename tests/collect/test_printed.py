"""What the tools of Kafka 3.9.2 and 4.3.1 printed about a sandbox with a hanging transaction, read as evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.collect.printed.evidence import is_tool_output, read_printed
from eosctl.collect.printed.sections import rows_of, sections_of
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT
from eosctl.services.diagnose import DiagnoseRequest, diagnose
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.services.tool_output import judge_text

PRINTED = Path(__file__).parents[1] / "fixtures" / "tool-output"
RELEASES = ("3.9.2", "4.3.1")
TOOLS = {
    "configs-broker-all": "kafka-configs.sh --describe",
    "configs-brokers-default": "kafka-configs.sh --describe",
    "configs-topic": "kafka-configs.sh --describe",
    "configs-topic-all": "kafka-configs.sh --describe",
    "features": "kafka-features.sh describe",
    "groups": "kafka-consumer-groups.sh --describe",
    "groups-members": "kafka-consumer-groups.sh --describe --members",
    "groups-state": "kafka-consumer-groups.sh --describe --state",
    "log-dirs": "kafka-log-dirs.sh --describe",
    "quorum-replication": "kafka-metadata-quorum.sh describe --replication",
    "quorum-status": "kafka-metadata-quorum.sh describe --status",
    "topics-describe": "kafka-topics.sh --describe",
    "transactions-describe": "kafka-transactions.sh describe",
    "transactions-describe-producers": "kafka-transactions.sh describe-producers",
    "transactions-find-hanging": "kafka-transactions.sh find-hanging",
    "transactions-list": "kafka-transactions.sh list",
}
ACLS = """Current ACLs for resource `ResourcePattern(resourceType=TRANSACTIONAL_ID, name=pay-, patternType=PREFIXED)`:
 \t(principal=User:pay, host=*, operation=DESCRIBE, permissionType=ALLOW)
 \t(principal=User:pay, host=*, operation=IDEMPOTENT_WRITE, permissionType=DENY)
"""


def printed(release: str, name: str) -> str:
    return (PRINTED / release / f"{name}.txt").read_text("utf-8")


def snapshot(*texts: str) -> ClusterSnapshot:
    found = read_printed(dict(zip("abcdef", texts, strict=False)), now_ms=5).snapshot
    assert found is not None
    return found


def test_each_output_has_its_tool() -> None:
    assert {path.stem for path in PRINTED.rglob("*.txt")} == TOOLS.keys()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", TOOLS)
def test_an_output_is_recognized(release: str, name: str) -> None:
    text = printed(release, name)
    assert [section.tool for section in sections_of(f"$ some-tool.sh\n{text}")] == [TOOLS[name]]
    assert {one.tool for one in read_printed({"a.txt": text}, 0).outputs} == {TOOLS[name]}


@pytest.mark.parametrize(
    "text", ["", "acks=all\n", "ssh 22/tcp\n", "Topic: a\n", "ProducerId Epoch\n", '{"brokers": []}\n']
)
def test_other_texts_are_not_output(text: str) -> None:
    assert not is_tool_output(text)


@pytest.mark.parametrize("release", RELEASES)
def test_what_find_hanging_lists_is_a_critical_finding(tmp_path: Path, release: str) -> None:
    path = tmp_path / "ticket.log"
    path.write_text(printed(release, "transactions-find-hanging"), "utf-8")
    done = diagnose(DiagnoseRequest(paths=(path,)), SILENT)
    assert [(f.check_id, f.severity.value) for f in done.findings] == [("EOS-TXN-001", "critical")]
    assert "orders-2 (first offset 2)" in done.findings[0].message
    assert "kafka-transactions.sh find-hanging" in done.report.printed_reading
    assert done.grade.letter == "D"


def test_a_pasted_table_may_have_blanks_for_tabs() -> None:
    text = printed("4.3.1", "transactions-find-hanging").expandtabs(1)
    (section,) = sections_of(text)
    assert [(row["Topic"], row["StartOffset"]) for row in rows_of(section)] == [("orders", "2")]
    findings, outputs = judge_text(f"Our tool says:\n{text}", 0)
    assert ([one.check_id for one in findings], len(outputs)) == (["EOS-TXN-001"], 1)


def test_a_description_shows_a_transaction_past_its_timeout() -> None:
    head = printed("4.3.1", "transactions-describe").splitlines()[0]
    row = "2\tpay-1\t17\t4\tOngoing\t60000\t1795711531878\t900000\torders-1,orders-2\t"
    findings, _ = judge_text(f"{head}\n{row}\n", 0)
    assert "EOS-TXN-003" in [one.check_id for one in findings]
    (one,) = snapshot(f"{head}\n{row}\n").transactions
    assert (one.transactional_id, one.timeout_ms, [str(part) for part in one.partitions]) == (
        "pay-1",
        60000,
        ["orders-1", "orders-2"],
    )


@pytest.mark.parametrize("release", RELEASES)
def test_parts_of_one_cluster_come_together(release: str) -> None:
    whole = snapshot(
        *(printed(release, name) for name in ("topics-describe", "configs-broker-all", "groups", "quorum-status"))
    )
    assert whole.cluster_id == "IoeaXJ8k5JOR860WzGZFkQ"
    assert [(topic.name, len(topic.partitions)) for topic in whole.topics if topic.name == "orders"] == [("orders", 3)]
    assert [broker.node_id for broker in whole.brokers] == [1]
    assert whole.quorum is not None
    assert whole.quorum.voters == (100,)
    assert [(group.group_id, group.state, len(group.offsets)) for group in whole.groups] == [("billing", "Empty", 3)]
    assert EvidenceKind.TRANSACTIONS not in whole.collected


def test_quorums_of_older_releases_print_numbers() -> None:
    lines = ("ClusterId:              x", "LeaderId:               0", "CurrentVoters:          [0,1,2]")
    quorum = snapshot("\n".join((*lines, "CurrentObservers:       []"))).quorum
    assert quorum is not None
    assert (quorum.leader_id, quorum.voters) == (0, (0, 1, 2))


def test_access_rules_have_the_words_of_the_protocol() -> None:
    rules = snapshot(ACLS).access_rules
    assert rules is not None
    assert [(r.resource_type, r.pattern_type, r.operation, r.permission) for r in rules.rules] == [
        ("TransactionalId", "Prefixed", "Describe", "Allow"),
        ("TransactionalId", "Prefixed", "IdempotentWrite", "Deny"),
    ]


def test_what_was_not_printed_does_not_pass() -> None:
    statuses = {one.check_id: one.status.value for one in diagnose_text(printed("4.3.1", "transactions-find-hanging"))}
    assert statuses.pop("EOS-TXN-001") == "failed"
    assert set(statuses.values()) == {"skipped"}


def diagnose_text(text: str) -> tuple[object, ...]:
    from eosctl.checks.declaration import Case
    from eosctl.checks.registry import ALL_CHECKS
    from eosctl.checks.runner import diagnose as run_checks

    evidence = snapshot(text)
    known = [check for check in ALL_CHECKS if check.needs and check.needs <= evidence.collected]
    return run_checks(known, Case(evidence)).results


@pytest.mark.parametrize("name", ["groups-members"])
def test_output_that_no_check_judges_is_not_an_all_clear(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(printed("4.3.1", name), "utf-8")
    assert diagnose(DiagnoseRequest(paths=(path,)), SILENT).exit_code.value == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Topic: payments\tTopicId: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=1\n"
                "\tTopic: payments\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\n"
            ),
            ["EOS-CFG-158", "EOS-OPS-006", "EOS-OPS-006"],
        ),
        (
            (
                "Topic: __transaction_state\tTopicId: a\tPartitionCount: 50\tReplicationFactor: 3\tConfigs: \n"
                "\tTopic: __transaction_state\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
            ),
            [],
        ),
    ],
    ids=["topic", "excerpt"],
)
def test_printed_topics_are_linted(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(text)
    found = lint_configuration(LintRequest((tmp_path,)))
    assert [finding.check_id for finding in found.found] == expected
    assert [one.role for one in found.linted.read_as] == ["topic"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Topic: ledger\tTopicId: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
                "\tTopic: ledger\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
            ),
            [("EOS-CFG-166", 1)],
        ),
        (
            (
                "Topic: a\tTopicId: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
                "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
                "Topic: ledger\tTopicId: b\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
                "\tTopic: ledger\tPartition: 0\tLeader: none\tReplicas: 1,2,3\tIsr: 2\n"
            ),
            [("EOS-TOP-001", 4)],
        ),
        (
            (
                "Feature: transaction.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 2\t"
                "FinalizedVersionLevel: 0\tEpoch: 7\n"
            ),
            [("EOS-BRK-005", 1)],
        ),
    ],
    ids=["one replica", "no leader", "feature"],
)
def test_the_state_that_tools_print_is_linted(text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "printed.txt").write_text(text)
    found = lint_configuration(LintRequest((tmp_path,)))
    assert [(one.check_id, dict(one.facts)["line"]) for one in found.found] == expected
    assert found.linted.read_as
    assert found.linted.not_understood == ()


PREPARED = """CoordinatorId TransactionalId ProducerId ProducerEpoch TransactionState TransactionTimeoutMs \
CurrentTransactionStartTimeMs TransactionDurationMs TopicPartitions
3 pay-7 7011 2 PrepareCommit 60000 1741000000000 {lasts} pay.out-3
""".replace("\\\n", "")


@pytest.mark.parametrize(("lasts", "expected"), [(5_400_000, ["EOS-TXN-002"]), (61_000, [])])
def test_a_transaction_prepared_beyond_its_timeout_is_stalled(tmp_path: Path, lasts: int, expected: list[str]) -> None:
    (tmp_path / "a.txt").write_text(PREPARED.format(lasts=lasts), "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    assert [one.check_id for one in found] == expected


@pytest.mark.parametrize(
    ("header", "row", "tool"),
    [
        ("PARTITION LEADER-EPOCH CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID", "0 3 100 900 800 -", "--describe"),
        ("CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID #PARTITIONS", "c-1 i-1 /10.0.0.1 c 1", "--members"),
    ],
)
def test_verbose_descriptions_of_groups_are_read(header: str, row: str, tool: str) -> None:
    head = "GROUP TOPIC" if tool == "--describe" else "GROUP"
    text = f"\n{head} {header}\n{'parcels orders' if tool == '--describe' else 'parcels'} {row}\n"
    (output,) = read_printed({"a.txt": text}, 0).outputs
    assert tool in output.tool
    snapshot = read_printed({"a.txt": text}, 0).snapshot
    offsets = [one.offset for group in snapshot.groups for one in group.offsets] if snapshot else []
    assert offsets == ([100] if tool == "--describe" else [])
