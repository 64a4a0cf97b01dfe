"""The machine that wrote a record: named by the record, its wrapper, or its file's path, never invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.cli import main
from eosctl.logs.files.hosts import host_of_path
from eosctl.logs.files.sources import SourceFile, application_of, inspect_file
from eosctl.logs.pattern_string import layout_of_pattern
from eosctl.logs.scan import scan_paths
from eosctl.logs.traces import count_exceptions

UID = "6a0b6b0e-8c1a-4f6e-9a55-0d6b9f0c1a2b"
HEAD = "2026-11-21 09:31:19,670 ERROR [main] a.Relay - failed"
THROWN = "org.apache.kafka.common.errors.ProducerFencedException: newer epoch"


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/logs/broker-3/server.log", "broker-3"),
        ("/logs/broker-3/archive/2026-11-21/server.log.2026-11-21-09.gz", "broker-3"),
        ("/archive/dt=2026-11-21/host=web-eu.1/relay.log", "web-eu.1"),
        ("/collected/kafka01.prod.example.com/var/log/kafka/server.log", "kafka01.prod.example.com"),
        ("/collected/kafka01.prod.example.com/broker-2/server.log", "kafka01.prod.example.com"),
        ("/var/log/remote/kafka01.prod.example.com.log.1", "kafka01.prod.example.com"),
        ("/srv/10.20.0.7/relay.log", "10.20.0.7"),
        ("/srv/ip-10-20-0-7/relay.log", "ip-10-20-0-7"),
        (f"/var/log/pods/shop_relay-7d9f-x2_{UID}/relay/0.log", "relay-7d9f-x2"),
        (f"/nodes/node-4/var/log/pods/shop_relay-7d9f-x2_{UID}/relay/0.log", "node-4"),
        (f"/var/log/containers/relay-7d9f-x2_shop_relay-{'0a' * 32}.log", "relay-7d9f-x2"),
        ("/var/log/kafka/server.log", ""),
        ("/var/log/apps/relay.log", ""),
        ("/opt/kafka_2.13-3.9.2/logs/server.log", ""),
        ("/opt/com.example.shop/logs/relay.log", ""),
        ("/var/log/com.example.shop.log", ""),
        ("/etc/logrotate.d/relay-1.2.3/relay.log", ""),
        ("/tickets/incident-1234/relay.log", ""),
    ],
)
def test_a_path_names_a_machine_only_in_the_form_of_one(path: str, host: str) -> None:
    assert host_of_path(Path(path)) == host


def test_the_kubelets_files_belong_to_their_container() -> None:
    assert application_of(Path(f"/var/log/pods/shop_relay-7d9f-x2_{UID}/relay/0.log")) == "relay"


def test_stack_traces_of_two_syslog_machines_are_separated(tmp_path: Path) -> None:
    """A collector writes both to one file, alternating line by line; the service has the same name on both."""
    path = tmp_path / "collected.log"
    lines = [(text, host) for text in (HEAD, THROWN, HEAD.replace("19,", "20,")) for host in ("web-a", "web-b")]
    path.write_text("".join(f"Nov 21 09:31:19 {host} relay[71]: {text}\n" for text, host in lines))
    thrown = [event for event in scan_paths([path]).events if event.exception]
    assert [(event.host, event.line, event.application) for event in thrown] == [
        ("web-a", 1, "relay"),
        ("web-b", 2, "relay"),
    ]


@pytest.mark.parametrize(
    "beside",
    [
        {"host": {"name": "web-a"}},
        {"host.name": "web-a", "host": "shop.example.com"},
        {"hostname": "web-a"},
        {"host": "web-a"},
        {"kubernetes": {"host": "web-a", "pod_name": "relay-7d9f"}},
        {"kubernetes": {"pod": {"name": "relay-7d9f"}, "node": {"name": "web-a"}}},
        {"resource": {"attributes": {"host.name": "web-a"}}},
        {"kubernetes": {"pod_name": "web-a"}},
    ],
    ids=str,
)
def test_records_of_named_values_name_their_machine(beside: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "relay.json"
    record = {"@timestamp": "2026-11-21T09:31:19.670Z", "level": "ERROR", "message": "failed", "stack_trace": THROWN}
    path.write_text(json.dumps(record | beside) + "\n")
    assert [event.host for event in scan_paths([path]).events] == ["web-a"]


def test_what_a_collector_adds_to_a_line_names_its_machine(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    entries = ({"__REALTIME_TIMESTAMP": "1795253479670000", "_HOSTNAME": "web-a", "MESSAGE": HEAD} for _ in range(2))
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert {event.host for event in scan_paths([path]).events} == {"web-a"}


def test_bare_syslog_records_have_their_machine(tmp_path: Path) -> None:
    path = tmp_path / "messages"
    path.write_text(
        "".join(f"Nov 21 09:31:1{n} web-a relay[7]: ProducerFencedException: epoch {n} is old\n" for n in range(5))
    )
    assert {event.host for event in scan_paths([path]).events} == {"web-a"}


@pytest.mark.parametrize("lookup", ["${hostName}", "${env:HOSTNAME}", "%X{host}", "%property{HOSTNAME}"])
def test_a_pattern_string_may_print_the_machine(lookup: str, tmp_path: Path) -> None:
    path = tmp_path / "relay.log"
    path.write_text(f"{HEAD}\n".replace("ERROR", "web-a ERROR"))
    layout = layout_of_pattern(f"%d{{ISO8601}} {lookup} %-5p [%t] %c - %m%n")
    assert [event.host for event in scan_paths([path], layouts=(layout,)).events] == ["web-a"]


def test_exceptions_are_counted_by_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, host in enumerate(("node-1", "node-2"), 1):
        (tmp_path / host).mkdir()
        (tmp_path / host / "relay.log").write_text(f"{HEAD}\n{THROWN}\n" * number)
    assert main(["logs", "exceptions", str(tmp_path), "-o", "json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert [(item["host"], item["application"], item["count"]) for item in items] == [
        ("node-1", "relay", 1),
        ("node-2", "relay", 2),
    ]


def test_a_file_that_names_no_machine_has_none(tmp_path: Path) -> None:
    path = tmp_path / "relay.log"
    path.write_text(f"{HEAD}\n{THROWN}\n")
    source = inspect_file(path)
    assert isinstance(source, SourceFile)
    from eosctl.logs.scan import Split

    assert [one.key.host for one in count_exceptions(Split(source, 0, None)).counts] == [""]
