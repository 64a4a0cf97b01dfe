"""Logs in the topics of a cluster: scanned, watched, refused."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from eosctl.cli import main
from eosctl.logs.topics import consumer
from eosctl.logs.topics.address import around, parse_topics
from eosctl.logs.topics.plan import scan_topics
from eosctl.model.period import Period
from eosctl.services.connection import Connection
from eosctl.services.log_places import handed_over
from eosctl.testing import SandboxThread
from tests.logs import shipping
from tests.logs.partitions import LOG, expected, lines_of, without_place


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with SandboxThread() as running:
        yield running


def create(cluster: SandboxThread, topic: str, partitions: int = 1) -> None:
    shipping.create({"bootstrap.servers": cluster.bootstrap}, topic, partitions)


def produce(
    cluster: SandboxThread, topic: str, lines: list[str], shipper: str = "Filebeat", partition: int = 0
) -> None:
    shipping.ship({"bootstrap.servers": cluster.bootstrap}, topic, lines, shipper, partition)


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


def test_aborted_records_are_not_read(cluster: SandboxThread) -> None:
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


def test_records_behind_an_open_transaction_are_reported(
    cluster: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    create(cluster, "held")
    url = f"kafka://{cluster.bootstrap}/held"
    line = b"2026-11-21 09:31:18.670 ERROR [main] a.Relay - one"
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "held", "log_level": 0})
    producer.init_transactions(30)
    reported = "held-0: records behind an open transaction are not read"

    def scan(*options: str) -> str:
        assert main(["logs", "scan", url + "".join(options)]) == 0
        return capsys.readouterr().out

    producer.begin_transaction()
    producer.produce("held", line)
    producer.commit_transaction(30)
    assert reported not in scan()
    producer.begin_transaction()
    producer.produce("held", line)
    assert producer.flush(30) == 0
    assert reported in scan()
    assert reported not in scan("?isolation.level=read_uncommitted")
    assert reported not in scan('?end={"held": {"0": 1}}')
    producer.abort_transaction(30)
    assert reported not in scan()


def test_records_deleted_by_retention_are_reported(cluster: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    create(cluster, "short")
    produce(cluster, "short", lines_of())
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for deleted in admin.delete_records([TopicPartition("short", 0, 200)]).values():
        deleted.result(30)
    url = f"kafka://{cluster.bootstrap}/short"
    assert main(["logs", "scan", url, "-o", "json"]) == 0
    assert main(["logs", "scan", f'{url}?start={{"short":{{"0":150}}}}']) == 4
    assert "50 offsets (150 to 199) no longer exist" in capsys.readouterr().out


NOON_MS = 1_761_998_400_000
"""2025-11-01T12:00:00Z; brokers reject timestamps in the future."""
HOUR_MS = 3_600_000
LAGS_H = (0, 20, -10, 3, 0, -23, 23)
"""Differences between Kafka's time and the event's: shippers that lag behind, and different clocks and zones."""


@pytest.fixture(scope="module")
def month(cluster: SandboxThread) -> str:
    """A topic with an event at noon of each day of a month, in the order in which they reached Kafka."""
    shipping.create({"bootstrap.servers": cluster.bootstrap}, "month", config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    came = [(NOON_MS + (24 * day + LAGS_H[day % len(LAGS_H)]) * HOUR_MS, day) for day in range(30)]
    for came_ms, day in sorted(came):
        line = f"2025-11-{day + 1:02d} 12:00:00.000 ERROR [main] a.Relay - failed {day}"
        producer.produce("month", line.encode(), partition=0, timestamp=came_ms)
    assert producer.flush(30) == 0
    return f"kafka://{cluster.bootstrap}/month"


@pytest.mark.parametrize(
    ("begin", "end"), [(9, 10), (9.5, 12.5), (0, 1), (28, 40), (-5, 3), (None, 4), (25, None), (-9, -4), (50, None)]
)
def test_a_period_returns_equal_rows_and_reads_fewer_days(
    begin: float | None, end: float | None, month: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def moment(day: float | None) -> int | None:
        return None if day is None else int(NOON_MS + day * 24 * HOUR_MS)

    period = Period(moment(begin), moment(end))
    options = [part for name, at in zip(("--from", "--to"), period, strict=True) if at for part in (name, str(at))]
    assert main(["logs", "scan", month, *options, "-o", "json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert main(["logs", "scan", f"{month}?start=earliest&end=latest", *options, "-o", "json"]) == 0
    full = json.loads(capsys.readouterr().out)
    everything = scan_topics(parse_topics(month)).events
    assert len(everything) == 30
    wanted = [event.message for event in everything if period.holds(event.time_ms)]
    assert [one["message"] for one in read["items"]] == wanted
    assert read["items"] == full["items"]
    assert [one["file"] for one in read["skipped"]] == ["month-0"]
    assert full["skipped"] == []
    assert sum(source.event_count for source in scan_topics(around(parse_topics(month), period)).sources) <= sum(
        (begin is None or day > begin - 2) and (end is None or day < end + 2) for day in range(30)
    )


def test_a_period_without_events_reports_unread_records(month: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "scan", month, "--to", "2025-01-01T00:00:00Z", "-o", "tsv"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert "month-0: records that reached Kafka more than a day before or after" in output.err


def test_partitions_without_records_are_reported(cluster: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    create(cluster, "empty", 3)
    produce(cluster, "empty", lines_of()[:100], partition=1)
    url = f"kafka://{cluster.bootstrap}/empty"
    assert main(["logs", "scan", url]) == 0
    assert "2 files, e.g. empty-0: holds no records" in capsys.readouterr().out
    assert main(["logs", "scan", f"{url}?start=latest"]) == 0
    assert "empty-1: holds no records from start to end" in capsys.readouterr().out


def test_watch_shows_new_events_and_old_ones_on_request(
    cluster: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    create(cluster, "watched")
    produce(cluster, "watched", lines_of()[:400])
    url = f"kafka://{cluster.bootstrap}/watched"
    assert main(["logs", "watch", url, "--duration", "0", "--all", "--jsonl"]) == 0
    assert capsys.readouterr().out == ""
    for begin in (["--from-start"], []):
        place = [url] if begin else [f"{url}?start=earliest"]
        assert main(["logs", "watch", *place, *begin, "--duration", "0", "--all", "--jsonl"]) == 0
        shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        wanted = [event for event in expected() if event.line <= 400]
        assert [(one["category"], one["offset"]) for one in shown] == [(one.category, one.line - 1) for one in wanted]


@pytest.fixture(scope="module")
def secured() -> Iterator[SandboxThread]:
    """A cluster with TLS and a login, and lines in its topic ``private``."""
    with SandboxThread(sasl=("SCRAM-SHA-512",), tls=True) as running:
        settings = shipping.settings_of(running)
        shipping.create(settings, "private")
        shipping.ship(settings, "private", lines_of(), "plain")
        yield running


def password_of(cluster: SandboxThread) -> str:
    return shipping.settings_of(cluster)["sasl.password"]


def test_the_settings_of_other_commands_log_in(
    secured: SandboxThread, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, config = f"kafka://{secured.bootstrap}/private", str(secured.client_properties())
    for command in ("scan", "report"):
        assert main(["logs", command, url, "--command-config", config, "-o", "json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["items"]) == len(expected())
    watch = ["logs", "watch", url, "--from-start", "--duration", "0", "--all", "--jsonl"]
    assert main([*watch, "--command-config", config]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == len(expected())
    assert password_of(secured) not in shown.out + shown.err
    monkeypatch.setenv("EOSCTL_COMMAND_CONFIG", config)
    assert main(watch) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(expected())


def test_librdkafkas_settings_log_in_and_take_precedence(secured: SandboxThread, tmp_path: Path) -> None:
    settings = shipping.settings_of(secured)
    for name, text in (
        ("client.conf", "".join(f"{name}={value}\n" for name, value in settings.items() if name != "ssl.ca.pem")),
        ("client.json", json.dumps(settings)),
    ):
        config, authority = tmp_path / name, tmp_path / "ca.pem"
        config.write_text(text)
        authority.write_text(settings["ssl.ca.pem"])
        trusted = f"&ssl.ca.location={authority}" if name == "client.conf" else ""
        url = f"kafka://{secured.bootstrap}/private?config={config}{trusted}"
        assert len(scan_topics(parse_topics(url)).events) == len(expected())
        assert main(["logs", "scan", url, "-X", "security.protocol=PLAINTEXT", "-o", "json"]) == 0


def test_a_wrong_password_is_reported_but_not_printed(
    secured: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"kafka://{secured.bootstrap}/private?sasl.password=open-sesame"
    assert main(["logs", "scan", url, "--command-config", str(secured.client_properties())]) == 1
    errors = capsys.readouterr().err
    assert "uthentication" in errors
    assert "sesame" not in errors
    assert password_of(secured) not in errors


def test_a_connection_without_required_tls_is_reported(
    secured: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "scan", f"kafka://{secured.bootstrap}/private"]) == 1
    # librdkafka's message, or ours if it has none.
    assert "security.protocol" in capsys.readouterr().err


def test_a_url_without_topics_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "scan", str(LOG), "-X", "client.id=me"]) == 2
    assert "settings were given without topics" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("brokers", "command"),
    [("127.0.0.1:{0}", ("scan",)), ("127.0.0.1:{0},127.0.0.2:{0}", ("watch", "--duration", "0"))],
)
def test_a_wrong_address_is_reported_immediately(
    brokers: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(consumer, "ANSWER_S", 1_000.0)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = brokers.format(unused.getsockname()[1])
        assert main(["logs", *command, f"kafka://{address}/t"]) == 1
    shown = capsys.readouterr().err
    assert f"{address} does not answer" in shown
    assert "Connection refused" in shown


def test_a_silent_cluster_is_awaited_and_the_wait_is_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for name, seconds in (("ANSWER_S", 0.4), ("REFUSAL_S", 0.1), ("_POLL_S", 0.1)):
        monkeypatch.setattr(consumer, name, seconds)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert main(["logs", "scan", f"kafka://{address}/t"]) == 1
    assert caplog.messages == [f"{address} does not answer yet; waiting for up to 0 s."]
    assert f"{address} does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topic", "status", "words"),
    [
        ("missing", 1, "Unknown topic or partition"),
        ("lines?no.such=1", 1, "No such configuration property"),
        ("lines?from=1", 2, "Unknown option"),
        ("lines?end=2026-11-21", 2, "no time zone"),
    ],
)
def test_topics_that_cannot_be_read_are_reported(
    topic: str, status: int, words: str, cluster: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "scan", f"kafka://{cluster.bootstrap}/{topic}"]) == status
    assert words in capsys.readouterr().err


def test_commands_that_read_files_alone_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "exceptions", "kafka://127.0.0.1:1/t?sasl.password=sesame"]) == 2
    errors = capsys.readouterr().err
    assert "kafka://127.0.0.1:1/t is not a file" in errors
    assert "sesame" not in errors


def test_a_missing_client_library_is_reported_with_its_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    assert main(["logs", "scan", "kafka://127.0.0.1:1/t"]) == 1
    assert "confluent-kafka is not installed for" in capsys.readouterr().err


def test_a_submitted_command_shows_no_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "kafka://127.0.0.1:1/t?sasl.password=sesame&start=earliest"
    submit = ["logs", "submit", "--out", str(tmp_path), "--dry-run"]
    assert main([*submit, url]) == 0
    out = capsys.readouterr().out
    assert "sesame" not in out
    assert "'kafka://127.0.0.1:1/t?start=earliest&config=eosctl_topics_0.json'" in out
    assert main([*submit, "kafka://127.0.0.1:1/t"]) == 0
    assert capsys.readouterr().out.endswith(" -- kafka://127.0.0.1:1/t\n")
    assert main([*submit, "kafka://127.0.0.1:1/t?x=1"]) == 2
    far = ("--master", "yarn", "--deploy-mode", "cluster", "-X", "client.id=me")
    assert main([*submit, url, *far]) == 2
    assert "cannot be combined with --deploy-mode cluster" in capsys.readouterr().err


def test_settings_are_handed_over_in_a_file_for_this_user_alone(secured: SandboxThread) -> None:
    connection = Connection(command_config=secured.client_properties())
    url = f"kafka://{secured.bootstrap}/private?start=earliest"
    with handed_over(["/logs", url], connection, print, is_far=False, is_shown_only=False) as (files, url_there):
        topics = parse_topics(url_there)
        kept = Path(url_there.partition("config=")[2])
        assert (files, kept.stat().st_mode & 0o777) == ("/logs", 0o600)
        assert len(scan_topics(topics).events) == len(expected())
    assert not kept.exists()
