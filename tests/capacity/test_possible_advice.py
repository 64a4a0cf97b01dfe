"""What a plan recommends can be done: with it the file is a workload, and the recommendation is gone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_plan import Advice, CapacityPlan

SERVICE = {"kind": "consume-process-produce", "producers": 4, "commit_interval": "1 s"}
SINK = {"kind": "flink", "producers": 4, "commit_interval": "1 min", "transaction_timeout": "15 min"}
STREAMS = {"kind": "streams", "producers": 4, "commit_interval": "1 s", "transaction_timeout": "30 s"}


def workload(application: Mapping[str, object], **cluster: object) -> str:
    topic = {"partitions": 4, "rate": "100/s", "key": "16 B", "value": "1 KiB"}
    return yaml.safe_dump(
        {
            "apiVersion": "eosctl/v1",
            "kind": "Workload",
            "name": "w",
            "cluster": {"brokers": 3, "disk": "1 TB", **cluster},
            "topics": {"in": dict(topic), "out": dict(topic)},
            "applications": {"app": {"reads": ["in"], "writes": {"out": "auto"}, **application}},
        }
    )


def plan(text: str) -> CapacityPlan:
    return plan_capacity(parse_workload(text, "w.yaml"))


def apply(text: str, advice: Advice) -> str:
    """Return the file with the recommended settings, and with the brokers that the reason names."""
    document = yaml.safe_load(text)
    cluster, application = document["cluster"], document["applications"]["app"]
    names = advice.setting.removeprefix("app: ").replace(" / ", ", ").split(", ")
    for name, value in zip(names, advice.value.replace(" / ", ", ").split(", "), strict=True):
        match name.removeprefix("producer."):
            case "replication.factor" | "min.insync.replicas":
                cluster[name.replace("min.insync", "min_insync").replace(".", "_")] = int(value)
            case "transaction.max.timeout.ms":
                cluster["transaction_max_timeout"] = f"{value} ms"
            case "transaction.timeout.ms":
                application["transaction_timeout"] = f"{value} ms"
            case "num.standby.replicas":
                application["standbys"] = int(value)
            case "instances" | "producers":
                application[name] = int(value)
    if "It takes" in advice.reason:
        cluster["brokers"] = int(advice.reason.split("It takes ")[1].split()[0])
    return yaml.safe_dump(document)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (workload(SERVICE, min_insync_replicas=3), {"min.insync.replicas": "2"}),
        (
            workload(SERVICE, brokers=5, replication_factor=5, min_insync_replicas=4, brokers_lost=2),
            {"min.insync.replicas": "3"},
        ),
        (workload(SERVICE, brokers=2, replication_factor=2), {"replication.factor": "3"}),
        (workload(SERVICE, brokers=2, replication_factor=2, brokers_lost=0), {"replication.factor": "3"}),
        (
            workload(SERVICE, brokers=1, replication_factor=1, min_insync_replicas=1, brokers_lost=0),
            {"replication.factor / min.insync.replicas": "3 / 2"},
        ),
        (
            workload(SERVICE | {"commit_interval": "6 min", "transaction_timeout": "10 min"}),
            {"transaction.max.timeout.ms": "1080000", "app: transaction.timeout.ms": "1080000"},
        ),
        (
            workload(SINK | {"commit_interval": "12 min"}),
            {"transaction.max.timeout.ms": "1021000", "app: transaction.timeout.ms": "1021000"},
        ),
        (workload(STREAMS | {"state": "100 GB"}), {"app: instances, num.standby.replicas": "2, 1"}),
        (workload(STREAMS | {"producers": 9, "instances": 3}), {"app: producers": "4"}),
        (workload(STREAMS | {"producers": 9, "instances": 9}), {"app: instances, producers": "4, 4"}),
        (workload(STREAMS | {"state": "100 GB", "instances": 4}), {"app: num.standby.replicas": "1"}),
    ],
)
def test_recommended_settings_are_accepted_and_enough(text: str, settings: Mapping[str, str]) -> None:
    first = plan(text)
    found = {one.setting: one for one in first.advice}
    assert {name: found[name].value for name in settings} == settings
    assert sum("replicas" in name or "replication" in name for name in found if "standby" not in name) <= 1
    for name in settings:
        text = apply(text, found[name])
    after = plan(text)
    assert not {one.setting for one in after.advice} & set(settings)
    assert after.failures == ()


def test_an_output_needs_an_input() -> None:
    text = workload(SERVICE).replace("100/s", "0/s", 1)
    with pytest.raises(ConfigFileError, match="contradiction") as refused:
        parse_workload(text, "w.yaml")
    assert "reads no record from in, and writes out" in refused.value.why
    assert "assumed" not in refused.value.why
    counted = yaml.safe_load(text)
    counted["applications"]["app"] = {**counted["applications"]["app"], "transactions": "5/s"}
    del counted["applications"]["app"]["commit_interval"]
    assert plan(yaml.safe_dump(counted)).transactions_per_s == 5


@pytest.mark.parametrize(("release", "is_possible"), [("3.5", False), ("3.6", True)])
def test_tiered_storage_begins_with_3_6(release: str, is_possible: bool) -> None:
    text = workload(SERVICE, kafka_version=release, transaction_version=0)
    text = text.replace("  in:\n    key:", "  in:\n    local_retention: 1 h\n    key:", 1)
    if is_possible:
        assert sum(topic.remote_bytes for topic in plan(text).topics)
    else:
        with pytest.raises(ConfigFileError) as refused:
            parse_workload(text, "w.yaml")
        assert "tiered storage needs brokers of 3.6" in refused.value.why
