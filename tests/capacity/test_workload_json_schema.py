"""The JSON Schema of workload files accepts and refuses what the loader does, key by key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from eosctl.capacity.template import write_template
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_json_schema import describe_workload_files
from eosctl.capacity.workload_schema import APPLICATION_KEYS, CLUSTER_KEYS, STORE_KEYS, TOPIC_KEYS
from eosctl.errors import ConfigFileError
from eosctl.model.workload import ApplicationKind
from tests.capacity.workloads import STREAMS, schema_errors
from tests.commands.conftest import eosctl

PLANS = sorted((Path(__file__).parents[2] / "docs" / "capacity").glob("*.yaml"))
ANSWERS = ("--brokers", "3", "--rate", "1000/s", "--value", "1 KiB", "--partitions", "12", "--producers", "6")


def is_read(text: str) -> bool:
    try:
        parse_workload(text, "w.yaml")
    except ConfigFileError:
        return False
    return True


@pytest.mark.parametrize("kind", list(ApplicationKind))
def test_files_of_capacity_init_follow_the_schema_they_name(kind: ApplicationKind, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    done = eosctl("capacity", "init", path, "--kind", kind.value, *ANSWERS, "--commit-interval", "2 s")
    assert (done.code, done.err) == (0, "")
    text = path.read_text()
    assert text.splitlines()[0] == "# yaml-language-server: $schema=workload.schema.json"
    assert schema_errors(text) == []
    printed = eosctl("schema", "workload").json
    assert printed["$id"] == "urn:eosctl:schema:workload:1"
    assert list(Draft202012Validator(printed).iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize("kind", list(ApplicationKind))
def test_assumed_values_of_a_template_follow_it_too(kind: ApplicationKind) -> None:
    answers = {
        "cluster.brokers": "3",
        "topic.partitions": "12",
        "topic.rate": "1000/s",
        "topic.value": "1 KiB",
        "application.producers": "6",
        "application.commit_interval": "2 s",
    }
    lines = write_template("w", kind, answers).splitlines()
    stated = [re.sub(r"^( +)# (?=\w+: )", r"\1", line) for line in lines]
    assert len(yaml.safe_load("\n".join(stated))["cluster"]) == len(CLUSTER_KEYS)
    assert schema_errors("\n".join(stated)) == []


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_published_workloads_follow_the_schema(path: Path) -> None:
    assert schema_errors(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("brokers: 6", "broker: 6"),
        ("brokers: 6", "brokers: 0"),
        ("brokers: 6", "brokers: 2.5"),
        ("brokers: 6", "brokers: unknown"),
        ("zones: 3", "zone: 3"),
        ("disk: 12 TB", "disk: 12"),
        ("disk: 12 TB", "disk: 12 TX"),
        ("disk: 12 TB", "disk: -12 TB"),
        ("network: 10 Gb/s", "network: 10 GB"),
        ("partitions: 32, rate: 10000/s", "partition: 32, rate: 10000/s"),
        ("rate: 10000/s", "rate: 10,5/s"),
        ("rate: 10000/s", "rate: 10000"),
        ("cleanup: compact", "cleanup: compacted"),
        ("brokers: 6", 'brokers: 6, kafka_version: "0.10"'),
        ("brokers: 6", 'brokers: 6, kafka_version: "5.0"'),
        ("kind: streams", "kind: stream"),
        ("kind: streams", "kind: producer"),
        ("instances: 4", "naming: pooling"),
        ("instances: 4", "instance: 4"),
        ("    reads: [orders]\n", ""),
        ("reads: [orders]", "reads: orders"),
        ("reads: [orders]", "reads: [orders, orders]"),
        ("enriched: auto", "enriched: automatic"),
        ("enriched: auto", "enriched: 0"),
        ("state: 50 GB", "stores: {a: {keys: 1, key: 1 B, values: 1 B}}"),
        ("state: 50 GB", "stores: {a: {keys: 1, key: 1 B, value: 1 B, windowed: often}}"),
        ("growth_per_year: 30 %", "growth_per_year: 30"),
        ("growth_per_year", "growth_a_year"),
        ("apiVersion: eosctl/v1", "apiVersion: eosctl/v2"),
        ("kind: Workload", "kind: Workloads"),
        ("name: orders", "title: orders"),
        ("name: orders", "name: ''"),
        ("  orders: {", "  'or ders': {"),
        ("  orders: {", "  __consumer_offsets: {"),
    ],
)
def test_both_refuse_the_same_mistakes(old: str, new: str) -> None:
    assert (is_read(STREAMS), schema_errors(STREAMS)) == (True, [])
    text = STREAMS.replace(old, new)
    assert text != STREAMS
    assert not is_read(text)
    assert schema_errors(text) != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("brokers: 6", "brokers: '6'"),
        ("brokers: 6", "brokers: 6, kafka_version: 4.3"),
        ("brokers: 6", 'brokers: 6, kafka_version: "3.9.2"'),
        ("cleanup: compact", 'cleanup: "compact,delete"'),
        ("brokers: 6", "brokers: 6, kafka_version: '4.3', transaction_version: '2'"),
        ("brokers: 6", "brokers: 6, max_utilisation: 0.5, free_disk: 15 %"),
        ("disk: 12 TB", "disk: unknown"),
        ("disk: 12 TB", "disk: '12,000 GB'"),
        ("disk: 12 TB", "disk: 1.2e1 TB"),
        ("enriched: auto", "enriched: 7.5"),
        ("commit_interval: 100 ms", "transactions: 320/s"),
        ("state: 50 GB", "stores: {a: {keys: 1e6, key: 10 B, value: 100 B, windowed: yes}}"),
        ("apiVersion: eosctl/v1\n", ""),
        ("name: orders", "name: 2026"),
    ],
)
def test_both_accept_the_same_forms(old: str, new: str) -> None:
    text = STREAMS.replace(old, new)
    assert text != STREAMS
    assert (is_read(text), schema_errors(text)) == (True, [])


@given(st.from_regex(r"[0-9]{1,4}([,_.][0-9]{1,4}){0,2}(e[0-3])? ?(B|KiB|GB|Gb|)", fullmatch=True))
def test_a_size_matches_where_it_can_be_parsed(text: str) -> None:
    pattern: dict[str, Any] = describe_workload_files()["properties"]["cluster"]["properties"]["segment"]
    try:
        CLUSTER_KEYS["segment"].parse(text)
    except ValueError:
        read = False
    else:
        read = True
    assert Draft202012Validator(pattern).is_valid(text) is read


def test_every_key_has_a_description() -> None:
    properties = describe_workload_files()["properties"]
    application = properties["applications"]["additionalProperties"]["properties"]
    sections = (
        (CLUSTER_KEYS, properties["cluster"]["properties"]),
        (TOPIC_KEYS, properties["topics"]["additionalProperties"]["properties"]),
        (APPLICATION_KEYS, application),
        (STORE_KEYS, application["stores"]["additionalProperties"]["properties"]),
    )
    for keys, described in sections:
        assert {
            name: described[name]["description"].startswith(key.about) for name, key in keys.items()
        } == dict.fromkeys(keys, True)
    assert "Default of streams: 100 ms" in application["commit_interval"]["description"]
