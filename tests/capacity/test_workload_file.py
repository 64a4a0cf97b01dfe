"""Workload files: everything stated is read, everything else is listed, and every mistake has a line and a reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.quantities import (
    QuantityError,
    parse_byte_rate,
    parse_bytes,
    parse_duration_ms,
    parse_rate,
    parse_ratio,
    parse_share,
)
from eosctl.capacity.template import write_template
from eosctl.capacity.workload_file import parse_workload
from eosctl.errors import ConfigFileError
from eosctl.model.workload import ApplicationKind
from tests.capacity.workloads import STREAMS


def refusal(text: str) -> str:
    with pytest.raises(ConfigFileError) as raised:
        parse_workload(text, "w.yaml")
    assert raised.value.exit_code == 2
    return str(raised.value)


def test_what_is_stated_is_read_in_base_units() -> None:
    workload = parse_workload(STREAMS, "w.yaml")
    assert (workload.cluster.network, workload.cluster.disk_bytes) == (1.25e9, 12e12)
    assert workload.topic("orders").rate_per_s == 10_000
    assert workload.applications[0].writes == (("enriched", None), ("changelog", 1.0))
    assert workload.growth_per_year == 0.3


def test_what_is_not_stated_is_listed() -> None:
    listed = {assumption.path: assumption.value for assumption in parse_workload(STREAMS, "w.yaml").assumptions}
    assert listed["cluster.replication_factor"] == "3"
    assert listed["topics.enriched.linger"] == "100 ms"  # written by Kafka Streams
    assert listed["topics.orders.linger"] == "5 ms"
    assert "cluster.brokers" not in listed
    assert "topics.enriched.writers" not in listed  # an application of the file writes it
    assert "topics.changelog.retention" not in listed  # compacted


def test_what_streams_does_by_itself_is_listed() -> None:
    text = STREAMS.replace("    commit_interval: 100 ms\n", "").replace("    transaction_timeout: 30 s\n", "")
    workload = parse_workload(text, "w.yaml")
    listed = {assumption.path: assumption.value for assumption in workload.assumptions}
    assert listed["applications.enrich.commit_interval"] == "100 ms"
    assert workload.applications[0].transaction_timeout_ms == 10_000


@pytest.mark.parametrize(
    ("old", "new", "where", "reason"),
    [
        ("brokers: 6", "broker: 6", "w.yaml:4:11", "no key 'broker'; did you mean brokers?"),
        ("10 Gb/s", "10 GB", "w.yaml:4:", "'GB' is not a unit of byte rate"),
        ("12 TB", "12", "w.yaml:4:", "'12' has no unit"),
        ("orders: {partitions: 32, ", "orders: {", "w.yaml:6:11", "topics.orders.partitions is missing"),
        ("brokers: 6", "brokers: -6", "w.yaml:4:", "-6 is negative"),
        ("brokers: 6", "brokers: 2.5", "w.yaml:4:", "2.5 is not a whole number"),
        ("producers: 32", "producers: 0", "w.yaml:12:", "0 is less than 1"),
        ("kind: streams", "kind: stream", "w.yaml:11:", "not one of streams"),
        ("reads: [orders]", "reads: [order]", "w.yaml:16:13", "did you mean orders?"),
        ("enriched: auto", "enrichd: auto", "w.yaml:17:14", "did you mean enriched?"),
        ("live: 50 GB", "readers: 0", "w.yaml:8:", "topics.changelog.live is missing"),
        ("growth_per_year: 30 %", "growth_per_year: 30", "w.yaml:19:18", "no percent sign"),
        ("kind: Workload", "kind: Pod", "w.yaml:2:7", "this program reads Workload"),
        ("reads: [orders]", "reads: orders", "w.yaml:16:12", "a list of topics"),
        ("name: orders", "name: [orders]", "w.yaml:3:7", "a single value"),
        ("zones: 3", "zones: 3, zones: 4", "w.yaml:4:", "zones twice"),
        ("    reads: [orders]\n", "", "w.yaml:11:5", "has input"),
        ("brokers: 6", 'brokers: 6, kafka_version: "0.10"', "w.yaml:4:", "transactions from 0.11 on"),
        ("brokers: 6", 'brokers: 6, kafka_version: "5.0"', "w.yaml:4:", "0.11 to 4.4 are known"),
        ("brokers: 6", 'brokers: 6, kafka_version: "4.3.9"', "w.yaml:4:", "releases of 4.3 are 4.3.0, 4.3.1"),
        ("brokers: 6", "brokers: 6, kafka_version: 4", "w.yaml:4:", "'4' is not a release"),
        ("brokers: 6", 'brokers: 6, kafka_version: "2.4"', "w.yaml:11:", "exactly_once_v2 needs brokers of 2.5"),
        ("live: 50 GB", "live: 50 GB, retention: 1 d", "w.yaml:8:", 'state cleanup: "compact,delete"'),
        ("live: 50 GB", "live: 50 GB, local_retention: 1 d", "w.yaml:8:", "does not take compacted topics"),
        ("orders: {", "orders: {local_retention: 30 d, ", "w.yaml:6:", "is more than retention 7 d: brokers refuse it"),
        ("instances: 4", "instances: 4\n    standbys: 4", "w.yaml:14:", "4 standbys of a task need as many other"),
        ("readers: 2", "readers: 2, live: 1 GB", "w.yaml:7:", "deleted by age alone"),
    ],
)
def test_each_mistake_has_its_place_and_reason(old: str, new: str, where: str, reason: str) -> None:
    assert old in STREAMS
    said = refusal(STREAMS.replace(old, new))
    assert where in said
    assert reason in said


def test_all_mistakes_are_reported_together() -> None:
    said = refusal(STREAMS.replace("brokers: 6", "broker: 6").replace("10 Gb/s", "fast"))
    assert "3 mistakes" in said  # the unknown key, the missing one, and the rate


@pytest.mark.parametrize("length", [0, 30, 100, 330, 400])
def test_half_a_file_is_refused(length: int) -> None:
    assert "w.yaml" in refusal(STREAMS[:length])


@pytest.mark.parametrize("text", ["[]", "5", "a: &x [*x]", "- {", "\x00", "a: !!python/object:os.system x"])
def test_other_yaml_is_refused(text: str) -> None:
    assert "w.yaml" in refusal(text)


@given(st.text(max_size=200))
def test_no_text_does_worse_than_being_refused(text: str) -> None:
    with pytest.raises(ConfigFileError):
        parse_workload(text, "w.yaml")


@given(st.integers(0, len(STREAMS) - 1), st.characters(codec="utf-8"))
def test_no_changed_character_does_worse_than_being_refused(at: int, character: str) -> None:
    try:
        parse_workload(STREAMS[:at] + character + STREAMS[at + 1 :], "w.yaml")
    except ConfigFileError as refused:
        assert refused.exit_code == 2


@pytest.mark.parametrize("kind", ApplicationKind)
def test_template_comments_are_the_workloads_assumptions(kind: ApplicationKind) -> None:
    answers = {
        "cluster.brokers": "3",
        "topic.partitions": "12",
        "topic.rate": "1000/s",
        "topic.value": "1 KiB",
        "application.producers": "4",
        "application.commit_interval": "1 s",
    }
    text = write_template("w", kind, answers)
    workload = parse_workload(text, "w.yaml")
    stated = parse_workload(re.sub(r"(?m)^( +)# (\w+: )", r"\1\2", text), "w.yaml")
    assert workload.applications[0].kind is kind
    assert len(stated.assumptions) < len(workload.assumptions)
    assert (stated.cluster, stated.topics) == (workload.cluster, workload.topics)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parse_bytes, "1.5 KiB", 1536),
        (parse_bytes, "1,000 B", 1000),
        (parse_byte_rate, "10 Gb/s", 1.25e9),
        (parse_byte_rate, "10 GB/s", 1e10),
        (parse_duration_ms, "7 d", 604_800_000),
        (parse_rate, "60/min", 1),
        (parse_share, "60 %", 0.6),
        (parse_ratio, "4", 4),
    ],
)
def test_quantities(parse: object, text: str, value: float) -> None:
    assert callable(parse)
    assert parse(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_bytes, "1"),
        (parse_bytes, "1 Gb"),
        (parse_rate, "10000"),
        (parse_duration_ms, "100"),
        (parse_share, "130 %"),
        (parse_ratio, "0.25"),
        (parse_bytes, "1e999 B"),
        (parse_bytes, "B"),
    ],
)
def test_quantities_that_are_none(parse: object, text: str) -> None:
    assert callable(parse)
    with pytest.raises(QuantityError):
        parse(text)


@pytest.mark.parametrize(
    ("old", "new", "where", "reason"),
    [
        ("brokers: 6", "brokers: 6, replication_factor: 7", "w.yaml:4:43", "needs more than 6 brokers"),
        ("brokers: 6", "brokers: 6, heap: 65 GiB", "w.yaml:4:29", "heap 69.8 GB is not less than memory"),
        ("disk: 12 TB", "disk: 0 B", "w.yaml:4:29", "can carry nothing"),
        ("commit_interval: 100 ms", "commit_interval: 40 s", "w.yaml:14:22", "above transaction_timeout"),
        ("commit_interval: 100 ms", "commit_interval: 2 ms", "w.yaml:14:22", "not possible"),
        ("instances: 4", "instances: 33", "w.yaml:13:16", "33 instances have 32 producers"),
        ("changelog: 1}", "changelog: 33}", "w.yaml:17:41", "cannot reach 33 of 32"),
        ("state: 50 GB", "partition_waves: 70", "w.yaml:18:22", "cannot each add a partition"),
        ("state: 50 GB", "offsets_per_transaction: 33", "w.yaml:18:30", "33 of 32 partitions of its input"),
        ("live: 50 GB", "live: 100 B", "w.yaml:8:83", "less than one record"),
        ("transaction_timeout: 30 s", "transaction_timeout: 16 min", "w.yaml:15:26", "INVALID_TRANSACTION_TIMEOUT"),
        # What is assumed has no place of its own: its section has.
        ("    transaction_timeout: 30 s\n", "    longest_pause: 1 s\n", "w.yaml:14:22", "transaction_timeout 10 s"),
    ],
)
def test_each_contradiction_has_its_place_and_arithmetic(old: str, new: str, where: str, reason: str) -> None:
    assert old in STREAMS
    text = STREAMS.replace("heap: 6 GiB, ", "") if "heap" in new else STREAMS
    if "longest_pause" in new:
        text = text.replace("commit_interval: 100 ms", "commit_interval: 11 s")
    said = refusal(text.replace(old, new))
    assert f"{where}: " in said
    assert reason in said


def test_all_contradictions_are_reported_in_file_order() -> None:
    said = refusal(STREAMS.replace("brokers: 6", "brokers: 2").replace("instances: 4", "instances: 99"))
    assert "3 contradictions" in said  # copies, zones, instances
    assert [int(line.split(":")[1]) for line in said.splitlines() if line.startswith("w.yaml:")] == [4, 4, 13]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("12 TB", "'12,5 TB'", "'12,5 TB' is not a size"),
        ("12 TB", "12.5.1 TB", "is not a size"),
        ("10000/s", "1e30/s", "is too large"),
        ("producers: 32", "producers: 1e9", "more than the 10,000,000"),
        ("value: 1000 B", "value: 3 GiB", "2 GiB at most"),
        ("transaction_timeout: 30 s", "transaction_timeout: 0 ms", "leaves no time"),
        ("  orders: {", "  orders: {partitions: 1, rate: 1/s, value: 1 B}\n  orders: {", "topics has orders twice"),
        ("  orders: {", "  or ders: {", "is not a topic name"),
        ("  orders: {", "  __transaction_state: {", "Kafka's own"),
        ("reads: [orders]", "reads: [orders, orders]", "orders is read twice"),
        ("{enriched: auto,", "{enriched: 1, enriched: 2,", "has enriched twice"),
        ("name: orders", "name:", "name is empty"),
        ("  enrich:\n", '  "":\n', "a name that is empty"),
    ],
)
def test_impossible_figures_and_names_are_refused(old: str, new: str, reason: str) -> None:
    assert old in STREAMS
    assert reason in refusal(STREAMS.replace(old, new))


@given(st.integers(0, len(STREAMS)))
def test_every_beginning_of_a_file_is_refused_or_plans(length: int) -> None:
    try:
        plan_capacity(parse_workload(STREAMS[:length], "w.yaml"))
    except ConfigFileError as refused:
        assert refused.exit_code == 2
