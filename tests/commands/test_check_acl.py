"""check acl: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.model.snapshot import ApiRange
from eosctl.wire.api_keys import ApiKey
from tests.analysis.scenes import broker, snapshot
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]
PRODUCER = ("check", "acl", "producer", "--principal", "User:a", "--transactional-id", "t-*", "--write", "orders")

CONNECT = (
    *("check", "acl", "connect-source", "--principal", "User:a", "--group", "workers", "--write", "out"),
    *("--connector", "orders", "--config-topic", "c", "--offset-topic", "o", "--status-topic", "s"),
)


def test_rules_proof_and_commands() -> None:
    done = eosctl(*PRODUCER)
    assert done.code == 0
    assert "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" in done.out
    assert (
        "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:a --operation Write "
        "--transactional-id t- --resource-pattern-type prefixed" in done.out
    )


@pytest.mark.parametrize(("version", "operation"), [("3.7", "ClusterAction"), ("3.8", "Alter"), (None, "Alter")])
def test_markers_need_the_right_of_their_release(version: str | None, operation: str) -> None:
    release = () if version is None else ("--kafka-version", version)
    for kind in ("txn-abort", "txn-complete", "repair"):
        done = eosctl("check", "acl", kind, *release, "-o", "json")
        (writes,) = [
            one for one in done.json["items"] if "WriteTxnMarkers of txn abort and complete" in one["requests"]
        ]
        assert (writes["resource_type"], writes["operation"]) == ("Cluster", operation)


def test_the_release_is_that_of_the_brokers(tmp_path: Path) -> None:
    older = broker(2, api_ranges=(ApiRange(ApiKey.PRODUCE, 0, 10),))  # as of 3.7
    save_snapshot(snapshot(brokers=(broker(), older)), tmp_path / "mixed.json")
    done = eosctl("check", "acl", "txn-abort", "--snapshot", tmp_path / "mixed.json")
    assert "--operation ClusterAction --cluster" in done.out


def test_json_follows_its_schema() -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "access-rules.json").read_text("utf-8"))
    jsonschema.validate(eosctl(*PRODUCER, "-o", "json").json, schema)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("producer", "--principal", "a", "--transactional-id", "t", "--write", "x"), "User:a"),
        (("producer", "--principal", "User:a", "--write", "x"), "--transactional-id is required"),
        (("producer", "--principal", "User:a", "--transactional-id", "t"), "--write is required"),
        (
            ("producer", "--principal", "User:a", "--transactional-id", "t", "--write", "x", "--group", "g"),
            "does not apply",
        ),
        (("consumer", "--principal", "User:a", "--read", "x"), "--group is required"),
        (("consumer", "--principal", "User:a", "--read", "x y", "--group", "g"), "is not a name"),
        (("stream", "--principal", "User:a"), "stream"),
        (("streams", "--principal", "User:a", "--read", "x", "--write", "y"), "--application-id is required"),
        (
            (
                "streams",
                "--principal",
                "User:a",
                "--application-id",
                "a",
                "--read",
                "x",
                "--write",
                "y",
                "--group",
                "a",
            ),
            "does not apply to",
        ),
        (
            ("streams", "--principal", "User:a", "--application-id", "a*", "--read", "x", "--write", "y"),
            "not one name",
        ),
        (("producer", "--principal", "User:a", "--application-id", "a"), "--transactional-id is required"),
        (("connect-source", "--principal", "User:a", "--group", "g", "--write", "x"), "--connector is required"),
        ((*CONNECT[2:], "--read", "x"), "does not apply"),
        ((*CONNECT[2:-1], "s*"), "not one name"),
        (
            ("producer", "--principal", "User:a", "--transactional-id", "t", "--write", "x", *CONNECT[-6:]),
            "does not apply",
        ),
    ],
)
def test_half_an_application_is_refused(arguments: tuple[str, ...], told: str) -> None:
    done = eosctl("check", "acl", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_streams_application_owns_what_begins_with_its_id() -> None:
    """``tests/apache/test_streams_rights.py`` shows on real Kafka that each of these is needed, and no other."""
    arguments = ("--principal", "User:a", "--application-id", "app", "--read", "in", "--write", "out")
    items = eosctl("check", "acl", "streams", *arguments, "-o", "json").json["items"]
    assert [(i["resource_type"], i["name"], i["pattern_type"], i["operation"]) for i in items] == [
        ("TransactionalId", "app-", "Prefixed", "Write"),
        ("Topic", "out", "Literal", "Write"),
        ("Topic", "in", "Literal", "Read"),
        ("Group", "app", "Literal", "Read"),
        ("Topic", "app-", "Prefixed", "Create"),
        ("Topic", "app-", "Prefixed", "Read"),
        ("Topic", "app-", "Prefixed", "Write"),
        ("Topic", "app-", "Prefixed", "Delete"),
    ]


def test_a_snapshot_without_access_rules_gives_no_verdict(snapshot_file: Path) -> None:
    assert eosctl(*PRODUCER, "--snapshot", snapshot_file).code == 4


def test_connect_ids_are_those_of_leader_and_tasks() -> None:
    items = eosctl(*CONNECT, "-o", "json").json["items"]
    ids = [(item["name"], item["pattern_type"]) for item in items if item["resource_type"] == "TransactionalId"]
    assert ids == [("connect-cluster-workers", "Literal"), ("workers-orders-", "Prefixed")]
    several = eosctl(*(part if part != "orders" else "orders*" for part in CONNECT), "-o", "json").json["items"]
    assert ("workers-orders", "Prefixed") in [(item["name"], item["pattern_type"]) for item in several]
