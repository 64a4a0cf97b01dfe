"""Logs in the topics of a cluster: scanned, watched, refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.cli import main
from eosctl.testing import SandboxThread
from spark_log_analytics.topics.address import parse_topics, read_settings
from spark_log_analytics.topics.plan import scan_topics
from tests.logs.partitions import SHIPPERS, expected, lines_of, shipped, without_place


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with SandboxThread() as running:
        yield running


def create(cluster: SandboxThread, topic: str, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for made in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        made.result(30)


def produce(
    cluster: SandboxThread, topic: str, lines: list[str], shipper: str = "Filebeat", partition: int = 0
) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for record in shipped(lines, SHIPPERS[shipper]):
        producer.produce(topic, record.value, headers=list(record.headers), partition=partition)
    assert producer.flush(30) == 0


def test_a_topic_gives_the_rows_of_the_file(cluster: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    create(cluster, "lines", 2)
    produce(cluster, "lines", lines_of())
    produce(cluster, "lines", lines_of(), "plain", 1)
    url = f"kafka://{cluster.bootstrap}/lines"
    scan = scan_topics(parse_topics(url))
    assert [source.file for source in scan.sources] == ["lines-0", "lines-1"]
    for name in ("lines-0", "lines-1"):
        events = [event for event in scan.events if event.file == name]
        assert without_place(events) == without_place(expected())
        assert [event.offset for event in events] == [event.line - 1 for event in expected()]
    assert main(["logs", "report", url, "-o", "json"]) == 0
    incidents = json.loads(capsys.readouterr().out)["incidents"]
    assert "poison-record" in {one["root_cause"] for one in incidents}


def test_what_was_aborted_is_no_log(cluster: SandboxThread) -> None:
    create(cluster, "aborted")
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "shipper", "log_level": 0})
    producer.init_transactions(30)
    fenced = "2026-11-21 09:31:18.670 ERROR [main] a.Relay - {}"
    for text, ends in (("kept", producer.commit_transaction), ("dropped", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce("aborted", fenced.format(text).encode())
        producer.flush(30)
        ends(30)
    url = f"kafka://{cluster.bootstrap}/aborted"
    assert [event.message for event in scan_topics(parse_topics(url)).events] == ["kept"]
    every = scan_topics(parse_topics(f"{url}?isolation.level=read_uncommitted")).events
    assert [event.message for event in every] == ["kept", "dropped"]


def test_what_retention_took_is_told(cluster: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    create(cluster, "short")
    produce(cluster, "short", lines_of())
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for deleted in admin.delete_records([TopicPartition("short", 0, 200)]).values():
        deleted.result(30)
    url = f"kafka://{cluster.bootstrap}/short"
    assert main(["logs", "scan", url, "-o", "json"]) == 0
    assert main(["logs", "scan", f'{url}?start={{"short":{{"0":150}}}}']) == 4
    assert "50 offsets (150 to 199) are not there any more" in capsys.readouterr().out


def test_watch_shows_what_comes_and_what_was_there_on_request(
    cluster: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    create(cluster, "watched")
    produce(cluster, "watched", lines_of()[:400])
    url = f"kafka://{cluster.bootstrap}/watched"
    assert main(["logs", "watch", url, "--for", "0", "--all", "--jsonl"]) == 0
    assert capsys.readouterr().out == ""
    for begin in (["--from-start"], []):
        place = [url] if begin else [f"{url}?start=earliest"]
        assert main(["logs", "watch", *place, *begin, "--for", "0", "--all", "--jsonl"]) == 0
        shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        wanted = [event for event in expected() if event.line <= 400]
        assert [(one["category"], one["offset"]) for one in shown] == [(one.category, one.line - 1) for one in wanted]


def test_settings_of_a_file_log_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SandboxThread(sasl=("PLAIN",), users=("admin",)) as secured:
        found = re.search(r'username="([^"]*)" password="([^"]*)"', secured.client_properties("admin").read_text())
        assert found is not None
        config = tmp_path / "client.conf"
        config.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f"sasl.username={found[1]}\nsasl.password={found[2]}\n"
        )
        given = read_settings(config) | {"bootstrap.servers": secured.bootstrap, "log_level": "0"}
        admin = AdminClient(given)
        for made in admin.create_topics([NewTopic("private", 1, 1)]).values():
            made.result(30)
        producer = Producer(given)
        for line in lines_of():
            producer.produce("private", line.encode())
        assert producer.flush(30) == 0
        url = f"kafka://{secured.bootstrap}/private"
        assert len(scan_topics(parse_topics(f"{url}?config={config}")).events) == len(expected())
        config.write_text(config.read_text().replace(found[2], "not this one"))
        assert main(["logs", "scan", f"{url}?config={config}"]) == 1
        told_wrong = capsys.readouterr().err
        assert "uthentication" in told_wrong
        assert "not this one" not in told_wrong


@pytest.mark.parametrize(
    ("topic", "status", "words"),
    [
        ("missing", 1, "Unknown topic or partition"),
        ("lines?no.such=1", 1, "No such configuration property"),
        ("lines?from=1", 2, "no option of a topic"),
        ("lines?end=2026-11-21", 2, "no zone"),
    ],
)
def test_what_cannot_be_read_is_told(
    topic: str, status: int, words: str, cluster: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "scan", f"kafka://{cluster.bootstrap}/{topic}"]) == status
    assert words in capsys.readouterr().err


def test_commands_that_read_files_alone_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "exceptions", "kafka://127.0.0.1:1/t?sasl.password=sesame"]) == 2
    told = capsys.readouterr().err
    assert "kafka://127.0.0.1:1/t is no file" in told
    assert "sesame" not in told


def test_without_the_client_library_the_python_that_lacks_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    assert main(["logs", "scan", "kafka://127.0.0.1:1/t"]) == 1
    assert "confluent-kafka is not installed for" in capsys.readouterr().err


def test_a_submitted_topic_is_shown_without_its_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "kafka://127.0.0.1:1/t?sasl.password=sesame&client.id=me"
    assert main(["logs", "submit", url, "--out", str(tmp_path), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "sesame" not in told
    assert "kafka://127.0.0.1:1/t?sasl.password=[hidden]" in told
    assert main(["logs", "submit", "kafka://127.0.0.1:1/t?x=1", "--out", str(tmp_path), "--dry-run"]) == 2
