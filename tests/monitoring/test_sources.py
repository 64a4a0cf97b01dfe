"""Metrics are read from JMX, Jolokia, pages and Prometheus servers; a credential shows up only where it goes."""

from __future__ import annotations

import base64
import json
import logging
import math
import stat
import sys
import urllib.parse
from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_text import decode_snapshot, encode_snapshot
from eosctl.collect.metrics.endpoint_http import MAX_PAIRS, refuse_endless
from eosctl.collect.metrics.metric_source import SourceKind, resolve_metric_source
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.monitoring.evidence import collect_metric_evidence, with_metrics
from tests.commands.conftest import eosctl
from tests.monitoring.endpoints import Answer, Request, served
from tests.render.unhappy_cluster import unhappy_cluster

CANARY = 'canary "s3cret\\ #@'
MARKERS = "kafka.coordinator.transaction:type=TransactionMarkerChannelManager,name=UnknownDestinationQueueSize"
LAG = "kafka.cluster:name=LastStableOffsetLag,partition={},topic={},type=Partition"


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.properties"
    password = "password=" + CANARY.replace("\\", "\\\\") + "\n"
    path.write_text(
        f"username=monitor\n{password}ssl.keystore.location=key.p12\nssl.keystore.{password}"
        f"ssl.truststore.location=trust.p12\nssl.truststore.{password}", "latin-1",
    )  # fmt: skip
    return path


def now_ms() -> int:
    return 5


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://h:9404/metrics", SourceKind.PAGE),
        ("https://h/some/page", SourceKind.PAGE),
        ("http://h:8778/jolokia", SourceKind.JOLOKIA),
        ("http://h:8778/x/jolokia/", SourceKind.JOLOKIA),
        ("http://h:9090", SourceKind.SERVER),
        ("https://h/prometheus/api/v1", SourceKind.SERVER),
        ("jmx://h:9999", SourceKind.JMX),
        ("jmx://[::1]:9999", SourceKind.JMX),
    ],
)
def test_the_address_decides_how_to_read(url: str, kind: SourceKind) -> None:
    assert resolve_metric_source(url).kind is kind


@pytest.mark.parametrize(
    "url", ["jmx://h", "jmx://h:1/x", "service:jmx:rmi://h", "h:9999", "jmx://u:canary@h:1", "http://"]
)
def test_other_addresses_are_refused(url: str) -> None:
    done = eosctl("metrics", "show", url)
    assert done.code == 2
    assert "canary" not in done.err + done.out


def jolokia(request: Request) -> Answer:
    """Answer as a broker's Jolokia 2 does."""
    if request.headers.get("Authorization") != "Basic " + base64.b64encode(f"monitor:{CANARY}".encode()).decode():
        return Answer("401", 401)
    beans = {
        "kafka.cluster:type=Partition,name=LastStableOffsetLag,topic=*,partition=*": {
            LAG.format(0, "orders"): {"Value": 3}, LAG.format(1, '"a,b"'): {"Value": 9},
        },
        MARKERS: {"Value": 2},
        "kafka.server:type=transaction-coordinator-metrics": {"partition-load-time-max": None},
        "kafka.server:type=group-coordinator-metrics": {"event-queue-size": "java.lang.IllegalStateException"},
    }  # fmt: skip
    missing = {"error_type": "javax.management.InstanceNotFoundException", "error": "none", "status": 404}
    answers = []
    for query in json.loads(request.body):
        assert query["type"] == "read"
        found = beans.get(query["mbean"])
        answers.append(missing if found is None else {"value": found, "status": 200})
    return Answer(json.dumps(answers))


def test_jolokia_is_read_with_one_request(credentials: Path) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Answer:
        asked.append(request.path)
        return jolokia(request)

    with served(answer) as url:
        done = eosctl("metrics", "show", url + "/jolokia", "--credentials", credentials, "-o", "json")
        refused = eosctl("metrics", "show", url + "/jolokia")
    assert asked == ["/jolokia/", "/jolokia/"]
    found = {item["metric"]: item for item in done.json["items"]}
    assert done.code == 3
    assert found["UnknownDestinationQueueSize"]["status"] == "bad"
    assert found["LastStableOffsetLag"]["value"] == 9
    assert found["LastStableOffsetLag"]["where"] == {"topic": '"a,b"', "partition": "1"}
    assert found["partition-load-time-max"]["value"] is None
    assert "event-queue-size" not in found
    assert refused.code == 1
    assert "It wants credentials" in refused.err


@pytest.mark.parametrize("path", ["/jolokia", ""])
@pytest.mark.parametrize(
    "body",
    ["[" + "[]," * 3_000_000 + "[]]", '{"value":' * 200_000, '[{"value":' + "[" * 200_000, '{"data":{"a":1}}', "5"],
)
def test_answers_of_another_form_end_in_a_plain_error(body: str, path: str) -> None:
    with served(lambda _: Answer(body)) as url:
        done = eosctl("metrics", "show", url + path)
    assert done.code == 1
    assert " does not answer as " in done.err
    assert len(done.err) < 500


@pytest.mark.parametrize("name", ["token", "access_token", "password", "api_key", "sig", "X-Amz-Signature"])
@pytest.mark.parametrize("path", ["/metrics", "/jolokia"])
def test_a_token_in_the_query_of_an_address_is_never_shown(path: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("acks=all\ntransactional.id=a\n", "utf-8")
    taken = "kafka_server_BrokerTopicMetrics_Count 1\n" if path == "/metrics" else "[]"
    with served(lambda _: Answer(taken)) as url:
        for host in (url, "http://127.0.0.1:1"):
            address = f"{host}{path}?{name}={CANARY}"
            for output in ("json", "wide", "html", "sarif"):
                done = eosctl("doctor", tmp_path / "producer.properties", "--metrics", address, "-o", output)
                assert CANARY not in done.out + done.err


def test_an_answer_without_end_is_not_decoded() -> None:
    with pytest.raises(ValueError, match="more than 2,000,000 values"):
        refuse_endless(b'"a":{},' * (MAX_PAIRS + 1))


def prometheus(request: Request) -> Answer:
    """Answer as the API of Prometheus 2 does."""
    assert request.path == "/api/v1/query"
    query = dict(urllib.parse.parse_qsl(request.body.decode()))["query"]
    assert "kafka_cluster_Partition_Value" in query
    assert "eosctl_up" in query

    def vector(name: str, value: str, /, **labels: str) -> object:
        return {"metric": {"__name__": name, "job": "kafka", **labels}, "value": [1700000000.1, value]}

    lag = {"name": "LastStableOffsetLag", "topic": "orders", "partition": "0", "pod": "kafka-0"}
    result = [
        vector("kafka_cluster_Partition_Value", "7", instance="b1:9404", **lag),
        vector("kafka_cluster_Partition_Value", "8", instance="b2:9404", **lag),
        vector("kafka_server_transaction_coordinator_metrics_partition_load_time_max", "NaN", instance="b2:9404"),
        vector("eosctl_open_transaction_partitions", "1", instance="e:9308", status="hanging"),
    ]
    return Answer(json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}))


def test_a_prometheus_server_is_read_by_instance() -> None:
    with served(prometheus) as url:
        done = eosctl("metrics", "show", url, "-o", "json")
        several = collect_metric_evidence([url], now_ms, 60_000)
    found = {(item["endpoint"], item["metric"]): item for item in done.json["items"]}
    assert done.code == 3
    assert found["all", "hanging-partitions"]["status"] == "bad"
    assert found["b1:9404", "LastStableOffsetLag"]["where"] == {"topic": "orders", "partition": "0"}
    assert found["b2:9404", "LastStableOffsetLag"]["value"] == 8
    assert [page.source for page in several.pages] == ["b1:9404", "b2:9404", "e:9308"]


JAVA = """#!{python}
import json, os, sys
record = {{"argv": sys.argv, "environment": dict(os.environ), "input": sys.stdin.read()}}
open({record!r}, "w").write(json.dumps(record))
sys.stderr.write({errors!r})
sys.stdout.write({output!r})
"""


def fake_java(folder: Path, monkeypatch: pytest.MonkeyPatch, output: str, errors: str = "") -> Path:
    """Put a program called java first in the path, that notes what it is given."""
    record, java = folder / "record.json", folder / "bin" / "java"
    java.parent.mkdir()
    # The interpreter of this test run: /usr/bin/env would look in the path that is replaced.
    java.write_text(JAVA.format(python=sys.executable, record=str(record), output=output, errors=errors), "utf-8")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(java.parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return record


BEANS = json.dumps(
    [
        {"mBeanName": MARKERS, "attribute": "Value", "attributeType": "Integer", "value": 4},
        {"mBeanName": 'kafka.log:type=LogCleanerManager,name=uncleanable-bytes,logDirectory="/a,b"',
         "attribute": "Value", "attributeType": "Long", "value": 1},
        {"mBeanName": "kafka.server:type=transaction-coordinator-metrics", "attribute": "partition-load-time-max",
         "attributeType": "Double", "value": math.nan},
    ]
)  # fmt: skip


def test_jmx_gets_its_password_through_a_pipe_alone(
    credentials: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    record = fake_java(tmp_path, monkeypatch, BEANS)
    with caplog.at_level(logging.DEBUG):
        done = eosctl("--debug", "metrics", "show", "jmx://127.0.0.1:9", "--credentials", credentials, "-o", "json")
    given = json.loads(record.read_text("utf-8"))
    assert given["argv"][1:] == ["@/dev/stdin"]
    # Every argument stands on a line of its own, quoted as the Java launcher reads it.
    arguments = [line[1:-1] for line in given["input"].splitlines()]
    assert arguments[arguments.index("-p") + 1] == CANARY.replace("\\", "\\\\").replace('"', '\\"')
    for store in ("trustStore", "keyStore"):
        assert f"-Djavax.net.ssl.{store}={store.lower().removesuffix('store')}.p12" in arguments
    assert "s3cret" not in json.dumps(given["environment"]) + done.out + done.err + caplog.text
    assert sum(line.startswith("-q") for line in arguments) == 1
    found = {item["metric"]: item for item in done.json["items"]}
    assert done.code == 3
    assert found["UnknownDestinationQueueSize"]["value"] == 4
    assert found["uncleanable-bytes"]["where"] == {"logDirectory": '"/a,b"'}
    assert found["partition-load-time-max"]["status"] == "-"


REFUSED = "java.lang.SecurityException: Authentication failed! Invalid username or password\n"
NO_ROUTE = json.dumps({"error": "connection-error", "message": "Failed: javax.naming.ServiceUnavailableException [Root "
                       "exception is java.rmi.ConnectException: Connection refused]"})  # fmt: skip


def failed(kind: str, message: str) -> str:
    """Return what the program prints when it fails: nothing of the message is escaped."""
    return f'{{ "error": "{kind}", "message":"{message}"}}\n'


@pytest.mark.parametrize(
    ("output", "errors", "said"),
    [
        ("", REFUSED, "It refuses this user name or password."),
        (NO_ROUTE, "", "java.rmi.ConnectException: Connection refused."),
        ("", "Error: could not open `/dev/stdin'\n", "could not open"),
        ("", "", "It said nothing."),
        (failed("connection-error", "x\n\tSSLHandshakeException: unable to find valid certification path"),
         "", "a certificate that is not trusted"),
        (failed("connection-error", "java.rmi.ConnectIOException: non-JRMP server at remote endpoint"),
         "", "registry.ssl=false"),
        (failed("connection-error", "java.net.SocketException: Broken pipe"), "", "ssl.keystore.location"),
        (failed("general-exception", 'access denied ("javax.management.MBeanPermission" "queryMBeans")'),
         "", "may not read its beans"),
        ("[]", "", "has none of the metrics"),
    ],
)  # fmt: skip
def test_jmx_that_does_not_answer_is_reported(
    output: str, errors: str, said: str, credentials: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, monkeypatch, output, errors)
    done = eosctl("metrics", "show", "jmx://127.0.0.1:9", "--credentials", credentials)
    assert done.code == 1
    assert said.rstrip(".") in done.err
    assert "next:" in done.err
    assert "s3cret" not in done.err
    assert "Traceback" not in done.err


def test_jmx_without_java_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = eosctl("metrics", "show", "jmx://127.0.0.1:9")
    assert done.code == 1
    assert "needs Java" in done.err


def test_a_redirect_is_not_followed(credentials: Path) -> None:
    stolen: list[str] = []

    def thief(request: Request) -> Answer:
        stolen.append(request.headers.get("Authorization", "none"))
        return Answer("up 1\n")

    with served(thief) as elsewhere, served(lambda _: Answer("", 302, (("Location", elsewhere + "/metrics"),))) as url:
        done = eosctl("metrics", "show", url + "/metrics", "--credentials", credentials)
    assert done.code == 1
    assert "302" in done.err
    assert stolen == []


def test_unreadable_values_are_gaps_among_the_others() -> None:
    page = (
        'kafka_server_ReplicaManager_Value{name="ProducerIdCount"} 3\n'
        "kafka_server_transaction_coordinator_metrics_partition_load_time_max NaN\n"
        "jvm_threads_current 9\n"
    )
    with served(lambda _: Answer(page)) as url, served(lambda _: Answer("", 403)) as refusing:
        evidence = collect_metric_evidence(
            [url + "/metrics", url + "/metrics", refusing + "/metrics", "http://127.0.0.1:1/metrics"], now_ms, 60_000
        )
    assert [gap.reason for gap in evidence.gaps] == [GapReason.NOT_AUTHORIZED, GapReason.UNREACHABLE]
    (read,) = evidence.pages
    assert [sample.name for sample in read.samples if "jvm" in sample.name] == []
    snapshot = with_metrics(unhappy_cluster(), evidence)
    assert EvidenceKind.METRICS in snapshot.collected
    again = decode_snapshot(encode_snapshot(snapshot))
    assert again == snapshot
    assert [(one.name, one.value) for one in again.metric_pages[0].samples] == [
        ("kafka_server_ReplicaManager_Value", 3)
    ]


@pytest.mark.parametrize(
    "text",
    ["", "username=a\n", "password=canary\n", "user=a\npassword=canary\n", "username=a\npassword=canary\ntoken=b\n"],
)
def test_credentials_that_make_no_sense_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "credentials"
    path.write_text(text, "utf-8")
    done = eosctl("metrics", "show", "http://127.0.0.1:1/metrics", "--credentials", path)
    assert done.code == 2
    assert "canary" not in done.err


def test_limits_of_ones_own_judge() -> None:
    page = 'kafka_cluster_Partition_Value{name="LastStableOffsetLag",topic="a",partition="0"} 50\n'
    with served(lambda _: Answer(page)) as url:
        codes = [
            eosctl("metrics", "show", url + "/metrics", *limit).code
            for limit in ((), ("--limit", "LastStableOffsetLag=49"), ("--limit", "LastStableOffsetLag=50"))
        ]
        wrong = [
            eosctl("metrics", "show", url + "/metrics", "--limit", one).code for one in ("a=1", "a", "NumGroups=x")
        ]
        absent = eosctl("metrics", "show", url + "/metrics", "--only", "event-queue-size", "--require-complete")
    assert codes == [0, 3, 0]
    assert wrong == [2, 2, 2]
    assert absent.code == 4
    assert "since 4.0" in absent.err
