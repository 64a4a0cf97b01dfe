"""Workload files from descriptions of clusters: every value has its source, and what is missing is marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from eosctl.capacity.msk_description import describe_msk
from eosctl.capacity.partial_workload import Given, PartialWorkload, merge, read_partial, write_partial
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.strimzi_description import describe_strimzi
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_schema import CLUSTER_KEYS
from eosctl.errors import ConfigFileError
from tests.capacity.workloads import ROOT, STREAMS
from tests.commands.conftest import eosctl

DESCRIPTIONS = ROOT / "tests" / "fixtures" / "capacity" / "descriptions"
STRIMZI, MSK = DESCRIPTIONS / "strimzi.yaml", DESCRIPTIONS / "msk.json"


def texts(part: PartialWorkload) -> dict[str, str]:
    return {key: given.text for key, given in part.cluster.items()}


def strimzi(*changes: tuple[str, str]) -> PartialWorkload:
    text = STRIMZI.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return describe_strimzi(list(yaml.safe_load_all(text)), "kafka.yaml")


def test_strimzi_describes_brokers_without_controllers() -> None:
    found = strimzi()
    assert texts(found) == {
        "brokers": "6",
        "disk": f"{2 * 2**40} B",
        "memory": "32 GiB",
        "heap": "6 GiB",
        "kafka_version": '"4.1"',
        "replication_factor": "3",
        "min_insync_replicas": "2",
        "io_threads": "16",
        "segment": "536870912 B",
        "transactional_id_expiration": "86400000 ms",
    }
    assert found.topics["orders"] == {
        "partitions": Given("32", "KafkaTopic orders"),
        "retention": Given("259200000 ms", "KafkaTopic orders: retention.ms"),
    }
    assert any("zones" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    ("setting", "retention"),
    [
        ("log.retention.hours: 24", "24 h"),
        ("log.retention.hours: 24\n      log.retention.minutes: '90'", "90 min"),
        ("log.retention.hours: 24\n      log.retention.ms: -1", "-1 ms"),
    ],
)
def test_topics_without_a_retention_have_that_of_the_brokers(setting: str, retention: str) -> None:
    found = strimzi(("num.io.threads: 16", setting), ("{retention.ms: 259200000}", "{}"))
    assert found.topics["orders"]["retention"].text == retention
    own = strimzi(("num.io.threads: 16", setting)).topics["orders"]["retention"]
    assert own == Given("259200000 ms", "KafkaTopic orders: retention.ms")


def test_a_retention_without_limit_is_refused() -> None:
    found = strimzi(("retention.ms: 259200000", "retention.ms: -1"))
    orders = {**found.topics["orders"], "rate": Given("5/s", "test"), "value": Given("1 KiB", "test")}
    text = write_partial("w", found._replace(topics={"orders": orders}, applications={}))
    with pytest.raises(ConfigFileError) as refused:
        parse_workload(text.replace("applications:", "applications: {}"), "w.yaml")
    assert "-1 ms is not a limit of time" in refused.value.why


def test_topics_that_differ_from_the_cluster_are_named() -> None:
    assert not [remark for remark in strimzi().remarks if "KafkaTopic" in remark]
    changed = ("retention.ms: 259200000", "min.insync.replicas: 1, segment.bytes: 104857600")
    (remark,) = [
        r for r in strimzi(("replicas: 3\n  config", "replicas: 2\n  config"), changed).remarks if "KafkaTopic" in r
    ]
    assert remark.startswith("KafkaTopic orders has replicas 2, min.insync.replicas 1, segment.bytes 104857600;")


def test_copies_are_those_of_topics_where_brokers_state_none() -> None:
    found = strimzi(("      default.replication.factor: 3\n", ""))
    assert found.cluster["replication_factor"] == Given("3", "KafkaTopics: replicas")


@pytest.mark.parametrize(
    ("policy", "cleanup", "is_read"),
    [
        ("compact", "compact", False),
        ("compact,delete", "compact,delete", True),
        ("delete, compact", "compact,delete", True),
        ("delete", "delete", True),
    ],
)
def test_a_limit_that_a_policy_does_not_read_is_a_comment(policy: str, cleanup: str, is_read: bool) -> None:
    limit = "retention.ms: 259200000"
    described = strimzi((limit, f'{limit}, cleanup.policy: "{policy}"'))
    topic = yaml.safe_load(write_partial("w", described))["topics"]["orders"]
    assert (topic["cleanup"], "retention" in topic) == (cleanup, is_read)
    assert ("# retention: 259200000 ms" in write_partial("w", described)) != is_read


def test_the_smallest_pool_of_brokers_counts() -> None:
    second = STRIMZI.read_text().split("---\n")[1].replace("name: broker", "name: small").replace("6g}", "4096m}")
    documents = [*yaml.safe_load_all(STRIMZI.read_text()), yaml.safe_load(second.replace("replicas: 6", "replicas: 2"))]
    found = describe_strimzi(documents, "kafka.yaml")
    assert (texts(found)["brokers"], texts(found)["heap"]) == ("8", "4096 MiB")
    assert any("2 node pools" in remark for remark in found.remarks)


def test_a_pool_has_resources_of_its_cluster_but_not_its_disk() -> None:
    found = strimzi(
        ("  jvmOptions: {-Xms: 6g, -Xmx: 6g}\n", ""),
        ("      - {id: 1, type: persistent-claim, size: 1Ti}\n", "      - {id: 1, type: ephemeral}\n"),
        ("    version: 4.1.0\n", "    version: 4.1.0\n    jvmOptions: {-Xmx: 5g}\n    storage: {size: 9Ti}\n"),
    )
    assert texts(found)["heap"] == "5 GiB"
    assert "disk" not in found.cluster


@pytest.mark.parametrize("change", [("kind: Kafka\n", "kind: KafkaUser\n"), ("kind: KafkaTopic\n", "kind: Kafka\n")])
def test_one_cluster_is_described(change: tuple[str, str]) -> None:
    with pytest.raises(ConfigFileError, match="Kafka resources"):
        strimzi(change)


def test_msk_describes_both_forms_of_its_output() -> None:
    document = json.loads(MSK.read_text())
    found = describe_msk(document, "msk.json")
    assert texts(found) == {
        "brokers": "6",
        "kafka_version": '"3.9"',
        "zones": "3",
        "disk": "2000 GiB",
        "disk_write": "250 MiB/s",
        "memory": "32 GiB",
    }
    info = document["ClusterInfo"]
    second = {"ClusterName": info.pop("ClusterName"), "ClusterType": "PROVISIONED", "Provisioned": info}
    assert describe_msk({"ClusterInfo": second}, "msk.json") == found


def test_msk_without_provisioned_throughput_has_no_disk_rate() -> None:
    document = json.loads(MSK.read_text().replace("true", "false").replace("kafka.m5.2xlarge", "kafka.x9.huge"))
    assert {"disk_write", "memory"}.isdisjoint(describe_msk(document, "msk.json").cluster)


def test_a_serverless_cluster_is_refused() -> None:
    with pytest.raises(ConfigFileError, match="serverless"):
        describe_msk({"ClusterInfo": {"ClusterType": "SERVERLESS", "Serverless": {}}}, "msk.json")


def test_every_key_is_there_with_its_source_or_its_mark() -> None:
    lines = write_partial("w", strimzi()).splitlines()
    for key in CLUSTER_KEYS:
        (line,) = (line for line in lines if line.lstrip(" #").startswith(f"{key}:") and line.startswith("  "))
        assert "not observed" in line if line.startswith("  # ") else "Kafka" in line
    assert any(line.startswith("    # rate:") and "not observed, needed" in line for line in lines)


def test_a_complete_workload_keeps_its_plan() -> None:
    part = read_partial(STREAMS.replace("growth_per_year: 30 %\n", ""), "observed")
    text = write_partial("orders", part)
    before, after = (plan_capacity(parse_workload(each, "w.yaml")) for each in (STREAMS, text))
    assert after.figures == before.figures


def test_sources_that_differ_are_named() -> None:
    observed = read_partial(STREAMS, "observed")
    both = merge([observed, strimzi(("replicas: 6", "replicas: 5"))])
    assert both.cluster["brokers"] == Given("6", "observed")
    assert both.cluster["io_threads"].text == "16"
    assert "cluster.brokers is 6 (observed); KafkaNodePool broker: replicas has 5." in both.remarks


def test_hostile_names_stay_names() -> None:
    part = PartialWorkload({}, {"a: b\n# c": {"partitions": Given("1", "x\ny")}}, {}, ["one\ntwo"])
    document = yaml.safe_load(write_partial("w", part))
    assert document["topics"] == {"a: b\n# c": {"partitions": 1}}


def test_a_description_alone_names_what_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    done = eosctl("capacity", "observe", path, "--description", STRIMZI)
    assert done.code == 0
    assert "not enough for a plan yet" in done.err
    assert eosctl("capacity", "plan", path).code == 2
    completed = path.read_text().replace("# rate:  ", "rate: 100/s").replace("# value:  ", "value: 1 kB  ")
    application = "applications: {a: {kind: producer, producers: 2, commit_interval: 1 s, writes: {orders: auto}}}"
    path.write_text(completed)
    assert eosctl("capacity", "plan", path).code == 2
    path.write_text(completed.replace("applications:", application))
    assert eosctl("capacity", "plan", path).code == 0


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.yaml", "kind: Deployment", "describes no cluster"),
        ("a.yaml", "{", "neither YAML nor JSON"),
        ("a.json", "[]", "describes no cluster"),
        ("a.json", '{"ClusterInfo": 3}', "describes no cluster"),
        ("a.yaml", "kind: List\nitems: [{apiVersion: kafka.strimzi.io/v1, kind: KafkaTopic}]", "0 Kafka resources"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)
    done = eosctl("capacity", "observe", tmp_path / "w.yaml", "--description", tmp_path / name)
    assert done.code == 2
    assert reason in done.err
