"""A checklist from the first reading to the signature."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.collect.bundles.snapshot_file import save_snapshot
from tests.checks.cases import build
from tests.commands.conftest import Done, eosctl

ROOT = Path(__file__).parents[3]
OWN = """
id: own
title: <b>Ours</b> | own
purpose: To try.
version: 1
items:
- {id: hangs, kind: automatic, title: Nothing hangs, why: w, fix: f, checks: [EOS-TXN-001]}
- {id: time, kind: measured, title: Fast enough, why: w, fix: f, limit: {unit: ms, at_most: 10}}
- {id: asked, kind: manual, title: 'Was it tried?', why: w, fix: f}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, "utf-8")
    return path


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    path = tmp_path / "healthy.json"
    save_snapshot(build({}), path)
    return path


def states(done: Done) -> dict[str, str]:
    return {item["id"]: item["state"] for item in done.json["items"]}


def test_from_open_to_signed(own: Path, healthy: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    run = ("checklist", "run", own, "--record", record, "-o", "json")
    assert eosctl(*run).code == 4
    done = eosctl(*run, "--snapshot", healthy)
    assert (done.code, states(done)) == (4, {"hangs": "done", "time": "open", "asked": "open"})
    assert done.json["cluster"]
    assert eosctl("checklist", "sign", record, "--checklist", own, "--who", "Ada").code == 2
    done = eosctl(*run, "--measure", "time=11", "--who", "Ada")
    assert (done.code, states(done)["time"], states(done)["hangs"]) == (3, "failed", "done")
    done = eosctl(*run, "--measure", "time=10", "--answer", "asked=yes: on staging", "--who", "Ada")
    assert done.code == 0
    asked = done.json["items"][2]
    assert (asked["state"], asked["evidence"], asked["who"]) == ("done", "on staging", "Ada")
    assert eosctl("checklist", "sign", record, "--checklist", own, "--who", "Ada").code == 0
    done = eosctl("checklist", "sign", record, "--checklist", own, "--who", "Grace", "--note", "seen", "-o", "json")
    assert [one["who"] for one in done.json["signatures"]] == ["Ada", "Grace"]
    assert eosctl(*run).code == 0
    refused = eosctl(*run, "--measure", "time=9")
    assert (refused.code, "is signed" in refused.err) == (2, True)


def test_what_was_changed_after_the_signature_is_refused(own: Path, healthy: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    answers = ("--measure", "time=10", "--answer", "asked=n/a: no staging")
    assert eosctl("checklist", "run", own, "--record", record, "--snapshot", healthy, *answers).code == 0
    assert eosctl("checklist", "sign", record, "--checklist", own).code == 0
    body = json.loads(record.read_text("utf-8"))
    body["answers"][2]["evidence"] = "everything is fine"
    record.write_text(json.dumps(body), "utf-8")
    for command in (("run", own, "--record", record), ("sign", record, "--checklist", own)):
        done = eosctl("checklist", *command)
        assert (done.code, "changed after it was signed" in done.err) == (2, True)


def test_a_hanging_transaction_fails_the_item(own: Path, snapshot_file: Path) -> None:
    done = eosctl("checklist", "run", own, "--snapshot", snapshot_file, "-o", "json")
    assert (done.code, states(done)["hangs"]) == (3, "failed")
    assert "EOS-TXN-001" in done.json["items"][0]["evidence"]


def test_configuration_files_answer_too(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    text = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=%d\n"
    found = []
    for interval_ms in (100, 30_000):
        path.write_text(text % interval_ms, "utf-8")
        found.append(states(eosctl("checklist", "run", "client-upgrade-eos-v2", path, "-o", "json"))["timeouts"])
    assert found == ["done", "failed"]


STREAMS = "application.id=a\nbootstrap.servers=k:9092\nprocessing.guarantee=exactly_once_v2\n"
BROKER = (
    "services:\n  k:\n    image: apache/kafka:%s\n    environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: broker}\n"
)
READER = "group.id=g\nbootstrap.servers=k:9092\nisolation.level=read_committed\nenable.auto.commit=false\n"
WRITER = "bootstrap.servers=k:9092\nacks=all\nkey.serializer=s\ntransactional.id=pay-1\n"
WORKER = "bootstrap.servers=k\ngroup.id=w\noffset.storage.topic=a\nconfig.storage.topic=b\nstatus.storage.topic=c\n"
SINK = "name=s\nconnector.class=io.confluent.connect.s3.S3SinkConnector\ntopics=a\n"
OVERRIDDEN = f"{SINK}consumer.override.isolation.level=read_committed\n"
DEBEZIUM = "name=s\nconnector.class=io.debezium.connector.mysql.MySqlConnector\n"
COPIES = DEBEZIUM.replace(
    "io.debezium.connector.mysql.MySqlConnector", "org.apache.kafka.connect.mirror.MirrorSourceConnector"
)
MIRRORED = "source.cluster.alias=a\ntarget.cluster.alias=b\n"
COMMITTED = f"{MIRRORED}source.consumer.isolation.level=read_committed\n"


@pytest.mark.parametrize(
    ("checklist", "item", "lacking", "added"),
    [
        ("client-upgrade-eos-v2", "brokers", {"s.properties": STREAMS}, {"compose.yaml": BROKER % "3.9.0"}),
        ("eos-diagnosis", "broker-release", {"s.properties": STREAMS}, {"compose.yaml": BROKER % "3.9.0"}),
        ("application-design", "offsets", {"r.properties": READER}, {"w.properties": WRITER}),
        (
            "security-review",
            "transport",
            {"r.properties": READER},
            {"r.properties": f"{READER}security.protocol=SSL\n"},
        ),
        ("eos-go-live", "readers", {"w.properties": WORKER, "sink.properties": SINK}, {"sink.properties": OVERRIDDEN}),
        ("eos-go-live", "readers", {"r.properties": READER, "sink.properties": SINK}, {"sink.properties": OVERRIDDEN}),
        (
            "eos-go-live",
            "readers",
            {"w.properties": WORKER},
            {"w.properties": f"{WORKER}consumer.isolation.level=read_committed\n"},
        ),
        (
            "eos-go-live",
            "producers",
            {"w.properties": WRITER, "o.yaml": "kafka_own: {a: b}\n"},
            {"o.yaml": "own: {a: b}\n"},
        ),
        ("dr-drill", "mirror-settings", {"c.properties": COPIES + MIRRORED}, {"c.properties": COPIES + COMMITTED}),
        ("dr-drill", "mirror-settings", {"c.properties": DEBEZIUM}, {"c.properties": COPIES + COMMITTED}),
    ],
)
def test_what_is_not_in_the_files_leaves_an_item_open(
    checklist: str, item: str, lacking: dict[str, str], added: dict[str, str], tmp_path: Path
) -> None:
    found = []
    for files in (lacking, added):
        for name, text in files.items():
            (tmp_path / name).write_text(text, "utf-8")
        found.append(states(eosctl("checklist", "run", checklist, tmp_path, "-o", "json"))[item])
    assert found == ["open", "done"]


def test_records_of_others_are_refused(own: Path, healthy: Path, snapshot_file: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    eosctl("checklist", "run", own, "--record", record, "--snapshot", healthy)
    assert eosctl("checklist", "run", "dr-drill", "--record", record).code == 2
    other = eosctl("checklist", "run", own, "--record", record, "--snapshot", snapshot_file)
    assert (other.code, "of cluster" in other.err) == (2, True)
    own.write_text(OWN.replace("version: 1", "version: 2"), "utf-8")
    assert eosctl("checklist", "run", own, "--record", record).code == 2


@pytest.mark.parametrize("output", ["table", "markdown", "html", "tsv", "yaml"])
def test_formats_show_every_item_and_carry_no_markup(output: str, own: Path, healthy: Path) -> None:
    done = eosctl("checklist", "run", own, "--snapshot", healthy, "-o", output)
    for shown in ("Nothing hangs", "Fast enough", "Was it tried?", "EOS-TXN-001"):
        assert shown in done.out
    if output == "html":
        assert "<b>Ours" not in done.out
    if output == "markdown":
        assert "<b>" not in done.out.replace("\\<b\\>", "")


CHAIN = {
    "wallet.properties": "application.id=wallet\nprocessing.guarantee=exactly_once_v2\n",
    "bills.properties": "group.id=bills\nisolation.level=read_committed\nenable.auto.commit=false\n",
}


@pytest.mark.parametrize("output", ["table", "json", "markdown", "html", "tsv", "yaml"])
def test_all_formats_and_the_record_name_the_same_evidence(output: str, tmp_path: Path) -> None:
    files, record = tmp_path / "in", tmp_path / "record.json"
    files.mkdir()
    for count, (name, text) in enumerate(CHAIN.items()):
        (files / name).write_text(text, "utf-8")
        record.unlink(missing_ok=True)
        done = eosctl("checklist", "run", "eos-go-live", files, "--record", record, "-o", output)
        assert done.code == 4
        kept = json.loads(record.read_text("utf-8"))["answers"]
        (answer,) = [one for one in kept if one["item"] == "readers"]
        assert answer["state"] == ("open", "done")[count]
        wanted = ("no consumer was in the input", f"consumer: {files}/bills.properties")[count]
        assert wanted in answer["evidence"]
        shown = " ".join(done.out.replace("\\", "").split())
        assert answer["evidence"] in shown or wanted in shown


def test_items_on_ids_and_timeouts_need_what_they_compare(healthy: Path, tmp_path: Path) -> None:
    files = tmp_path / "in"
    files.mkdir()
    producer = "bootstrap.servers=b:9092\ntransactional.id=%s\ntransaction.timeout.ms=%s\n"
    (files / "a.properties").write_text(producer % ("a", "60000"), "utf-8")
    run = ("checklist", "run", "eos-go-live", "-o", "json")

    def states_of(*arguments: object) -> tuple[str, str]:
        found = states(eosctl(*run, *arguments))
        return found["ids"], found["timeouts"]

    assert states_of(files) == ("open", "open")
    assert states_of(files, "--snapshot", healthy) == ("done", "done")
    (files / "b.properties").write_text(producer % ("b", "60000"), "utf-8")
    assert states_of(files) == ("open", "open")  # Each may be the file of many processes.
    services = "".join(
        f"  {name}:\n    image: app:1\n    volumes: ['./{name}.properties:/etc/{name}.properties']\n" for name in "ab"
    )
    (files / "compose.yaml").write_text(f"services:\n{services}", "utf-8")
    assert states_of(files) == ("done", "open")
    (files / "server.properties").write_text(
        "process.roles=broker\nnode.id=1\ntransaction.max.timeout.ms=900000\n", "utf-8"
    )
    assert states_of(files) == ("done", "done")
    for name in "ab":
        (files / f"{name}.properties").write_text(producer % (name, "${TIMEOUT}"), "utf-8")
    assert states_of(files) == ("done", "open")


def test_files_alone_take_nothing_from_the_answers_of_a_cluster(healthy: Path, tmp_path: Path) -> None:
    record, broker = tmp_path / "record.json", tmp_path / "server.properties"
    broker.write_text("node.id=1\nprocess.roles=broker\ntransaction.partition.verification.enable=true\n", "utf-8")
    run = ("checklist", "run", "eos-go-live", "--record", record, "-o", "json")
    assert states(eosctl(*run, "--snapshot", healthy))["verification"] == "done"
    assert states(eosctl(*run, broker))["verification"] == "done"
    assert states(eosctl("checklist", "run", "eos-go-live", broker, "-o", "json"))["verification"] == "open"


def test_json_follows_its_schemas(own: Path, healthy: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    run = eosctl("checklist", "run", own, "--record", record, "--snapshot", healthy, "-o", "json").json
    listed = eosctl("checklist", "list", "-o", "json").json
    kept = json.loads(record.read_text("utf-8"))
    for name, value in (("checklist-run", run), ("checklists", listed), ("checklist-record", kept)):
        jsonschema.validate(value, json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing",), "Unknown checklist"),
        (("eos-go-live", "--answer", "kill-test=maybe: x"), "is not an answer"),
        (("eos-go-live", "--answer", "kill-test=yes"), "is not an answer"),
        (("eos-go-live", "--answer", "brokers=yes: x"), "names no manual item"),
        (("eos-go-live", "--measure", "latency=fast"), "whole number"),
        (("eos-go-live", "--measure", "kill-test=1"), "names no measured item"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], told: str) -> None:
    done = eosctl("checklist", "run", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_list_that_names_what_there_is_not(own: Path) -> None:
    own.write_text(OWN.replace("EOS-TXN-001", "EOS-TXN-999"), "utf-8")
    done = eosctl("checklist", "run", own)
    assert (done.code, "EOS-TXN-999" in done.err) == (2, True)


def test_files_without_settings_answer_no_item(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"service": 1}', "utf-8")
    done = eosctl("checklist", "run", "eos-go-live", tmp_path / "other.json")
    assert (done.code, done.out, "no settings of Kafka were recognized" in done.err) == (2, "", True)
