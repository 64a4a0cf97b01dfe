"""Output of other tools than Kafka's, excerpts, and quoted output, read as evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.collect.printed.evidence import is_tool_output, read_printed
from eosctl.collect.printed.sections import sections_of
from eosctl.errors import ExitCode
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import SILENT
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.services.tool_output import judge_text
from tests.collect.test_printed import printed

KCAT = """Metadata for all topics (from broker 1: kafka-1:9092/1):
 3 brokers:
  broker 1 at kafka-1:9092 (controller)
 2 topics:
  topic "orders" with 2 partitions:
    partition 0, leader 1, replicas: 1,2,3, isrs: 1,3
    partition 1, leader -1, replicas: 2,3, isrs: , Broker: Leader not available
  topic "audit" with 1 partitions:
    partition 0, leader 1, replicas: 1, isrs: 1
"""
KAFKA_UI = {
    "name": "orders",
    "partitions": [
        {
            "partition": 0,
            "leader": 1,
            "replicas": [
                {"broker": 1, "leader": True, "inSync": True},
                {"broker": 2, "leader": False, "inSync": False},
            ],
        }
    ],
}
AKHQ = {
    "name": "orders",
    "partitions": [
        {
            "id": 0,
            "topic": "orders",
            "leader": {"id": 1, "leader": True, "inSyncs": True},
            "replicas": [{"id": 1, "leader": True, "inSyncs": True}, {"id": 2, "leader": False, "inSyncs": False}],
        }
    ],
}
KAFKACTL = {"Name": "orders", "Partitions": [{"ID": 0, "Leader": "kafka-1:9092", "Replicas": [1, 2], "ISRs": [1]}]}
KCAT_JSON = {
    "topics": [
        {
            "topic": "orders",
            "partitions": [{"partition": 0, "leader": 1, "replicas": [{"id": 1}, {"id": 2}], "isrs": [{"id": 1}]}],
        }
    ]
}
HEALTH = """CLUSTER HEALTH OVERVIEW
=======================
Healthy:                          false
All nodes:                        [0 1 2]
Nodes down:                       [2]
Leaderless partitions (1):        [kafka/payments/3]
Under-replicated partitions (1):  [kafka/payments/0]
"""
QUORUM = "\n".join(
    (
        "NodeId\tDirectoryId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\t",
        "2\tAAAAAAAAAAAAAAAAAAAAAA\t365\t0\t12 ms ago\t13 ms ago\tLeader\t",
        "1\tAAAAAAAAAAAAAAAAAAAAAA\t299\t66\t24749 ms ago\t25156 ms ago\tFollower\t",
        "3\tAAAAAAAAAAAAAAAAAAAAAA\t-1\t366\t-1\t-1\tFollower\t",
    )
)
STATUS = """ClusterId:              KmSOPnBxyipoV-3HrdhPhw
LeaderId:               1
LeaderEpoch:            1
HighWatermark:          372
MaxFollowerLag:         73
MaxFollowerLagTimeMs:   24036
CurrentVoters:          [1,2,3]
CurrentObservers:       []
"""


def snapshot(text: str) -> ClusterSnapshot:
    found = read_printed({"a.txt": text}, now_ms=5).snapshot
    assert found is not None
    return found


def test_kcat_lists_leaders_and_replicas() -> None:
    topics = {topic.name: topic.partitions for topic in snapshot(KCAT).topics}
    assert [(one.leader_id, one.replicas, one.isr) for one in topics["orders"]] == [
        (1, (1, 2, 3), (1, 3)),
        (None, (2, 3), ()),
    ]
    assert [one.check_id for one in judge_text(KCAT, 0)[0]][:2] == ["EOS-TOP-001", "EOS-OPS-006"]


@pytest.mark.parametrize("page", [KAFKA_UI, AKHQ, KAFKACTL, KCAT_JSON], ids=["ui", "akhq", "kafkactl", "kcat"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_page_as_json_shows_replicas_out_of_sync(page: object, indent: int | None) -> None:
    text = json.dumps(page, indent=indent)
    (topic,) = snapshot(text).topics
    (info,) = topic.partitions
    assert (info.partition, info.leader_id, info.replicas, info.isr) == (TopicPartition("orders", 0), 1, (1, 2), (1,))
    assert [one.check_id for one in judge_text(text, 0)[0]] == ["EOS-OPS-006"]


def test_rpk_names_partitions_without_a_leader() -> None:
    (topic,) = snapshot(HEALTH).topics
    assert [(one.partition, one.leader_id) for one in topic.partitions] == [(TopicPartition("payments", 3), None)]


def test_a_healthy_overview_is_not_evidence() -> None:
    found = read_printed({"a.txt": HEALTH.replace("[kafka/payments/3]", "[]")}, 0)
    assert (found.snapshot, [one.is_evidence for one in found.outputs]) == (None, [False])


def test_replicas_of_the_quorum_that_are_behind() -> None:
    messages = [one.message for one in judge_text(QUORUM, 0)[0]]
    assert messages == [
        "The metadata of voter 1 is 25 s behind.",
        "Voter 3 has not fetched metadata since the leader was elected.",
    ]
    assert [one.message for one in judge_text(QUORUM.expandtabs(1), 0)[0]] == messages


def test_the_status_shows_the_largest_lag() -> None:
    assert [one.message for one in judge_text(STATUS, 0)[0]] == ["The metadata of a voter is 24 s behind."]


@pytest.mark.parametrize("mark", ["    ", "> ", "\t", "  > "])
@pytest.mark.parametrize("name", ["transactions-find-hanging", "configs-topic", "groups", "log-dirs"])
def test_quoted_output_is_read_like_plain_output(mark: str, name: str) -> None:
    text = printed("4.3.1", name)
    (plain,) = sections_of(text)
    (quoted,) = sections_of("Please help:\n\n" + "".join(f"{mark}{line}\n" for line in text.splitlines()))
    assert (quoted.tool, quoted.header.strip()) == (plain.tool, plain.header)
    assert [line for line in quoted.lines if line.strip()] == [line for line in plain.lines if line.strip()]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Error completing leader election (PREFERRED) for partition: a-0: ...\n", "kafka-leader-election.sh"),
        ("Found log directories:\n  /d1\n\nFound problems:\n  /d1 is not formatted.\n", "kafka-storage.sh"),
        ("Status of partition reassignment:\n", "kafka-reassign-partitions.sh"),
        ("Quota configs for user-principal 'svc' are producer_byte_rate=1024.0\n", "kafka-configs.sh --describe"),
        (
            "Dynamic configs for broker-logger 1 are:\n  root=INFO sensitive=false\n",
            "kafka-configs.sh --describe of loggers",
        ),
        ("Dynamic configs for group app are:\n", "kafka-configs.sh --describe of loggers, groups"),
        ("b:9092 (id: 3 rack: null isFenced: false) -> (\n", "kafka-broker-api-versions.sh"),
        ("GROUP        billing\nCOORDINATOR  1\nSTATE        Empty\n", "rpk group describe"),
    ],
)
def test_output_that_no_check_judges_is_named(text: str, tool: str) -> None:
    ((output, *_), evidence) = (read_printed({"a.txt": text}, 0).outputs, read_printed({"a.txt": text}, 0).snapshot)
    assert (output.tool.startswith(tool), evidence) == (True, None)


@pytest.mark.parametrize(
    "text", ["SELECT a\nGROUP BY\n", "All configs for clients live in git.\n", '{"isrs": 3}\n', '{"inSync": true}\n']
)
def test_texts_that_resemble_output(text: str) -> None:
    found = read_printed({"a.txt": text}, 0)
    assert found.snapshot is None
    assert not is_tool_output(text) or text.startswith("{")


def test_levels_of_loggers_are_not_read_as_broker_settings(tmp_path: Path) -> None:
    path = tmp_path / "loggers.txt"
    path.write_text("Dynamic configs for broker-logger 1 are:\n  root=INFO sensitive=false synonyms={}\n")
    linted = lint_configuration(LintRequest((path,)))
    assert (linted.exit_code, linted.linted.read_as) == (ExitCode.INCOMPLETE, ())


def test_lint_names_the_command_for_what_no_check_judges(tmp_path: Path) -> None:
    path = tmp_path / "storage.txt"
    path.write_text("Found log directories:\n  /d1\n\nFound problems:\n  /d1 is not formatted.\n")
    remarks: list[str] = []
    lint_configuration(LintRequest((path,)), SILENT._replace(remark=remarks.append))
    assert [one for one in remarks if f"eosctl diagnose {path}" in one]


@pytest.mark.parametrize(
    ("header", "row", "state"),
    [
        ("GROUP  TOPIC  PARTITION  OFFSET-LAG", "parcels  a  0  12", ""),
        (
            "GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LEADER-EPOCH  LOG-END-OFFSET  OFFSET-LAG",
            "parcels a 0 1 - 3 2",
            "",
        ),
        ("GROUP  COORDINATOR (ID)  ASSIGNOR  STATE  #MEMBERS", "parcels  k:9092  (1)  sticky  NotReady  2", "NotReady"),
        ("GROUP  COORDINATOR (ID)  STATE  #MEMBERS", "parcels  k:9092  (1)  Stable  2", "Stable"),
    ],
)
def test_groups_of_streams_are_read_as_printed(header: str, row: str, state: str) -> None:
    found = read_printed({"groups.txt": f"\n{header}\n{row}\n"}, now_ms=5).snapshot
    assert found is not None
    (group,) = found.groups
    assert (group.group_id, group.state) == ("parcels", state)
