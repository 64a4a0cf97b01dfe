"""doctor and check: exit codes, report files, snapshots, bad input."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from pathlib import Path

import jsonschema
import pytest
import trustme
from msgspec.structs import replace

from eosctl.checks.registry import CATALOG
from eosctl.collect.bundles.snapshot_file import load_snapshot, save_snapshot
from eosctl.render.formats import FindingFormat
from tests.checks.cases import build
from tests.commands.conftest import eosctl
from tests.render.unhappy_cluster import unhappy_cluster

ROOT = Path(__file__).parent.parent.parent


class TestExitCodes:
    def test_findings_at_or_above_the_threshold(self, snapshot_file: Path) -> None:
        assert eosctl("doctor", "--snapshot", snapshot_file).code == 3
        assert eosctl("doctor", "--snapshot", snapshot_file, "--fail-on", "critical").code == 3
        assert eosctl("check", "run", "BRK", "--snapshot", snapshot_file).code == 0
        assert eosctl("check", "run", "BRK", "--snapshot", snapshot_file, "--fail-on", "warning").code == 3

    def test_exit_zero_for_report_jobs(self, snapshot_file: Path) -> None:
        done = eosctl("doctor", "--snapshot", snapshot_file, "--exit-zero", "--require-complete")
        assert done.code == 0
        assert "CRITICAL" in done.out

    def test_incomplete_evidence(self, tmp_path: Path) -> None:
        path = tmp_path / "gaps.json"
        save_snapshot(replace(build({}), gaps=unhappy_cluster().gaps), path)
        assert eosctl("doctor", "--snapshot", path).code == 0
        assert eosctl("doctor", "--snapshot", path, "--require-complete").code == 4

    def test_healthy(self, tmp_path: Path) -> None:
        path = tmp_path / "healthy.json"
        save_snapshot(build({}), path)
        done = eosctl("doctor", "--snapshot", path, "--require-complete")
        assert done.code == 0
        assert done.out.startswith("Grade A (100/100). No findings")


@pytest.mark.parametrize("output", list(FindingFormat))
def test_every_format_goes_to_standard_output_and_a_file(
    output: FindingFormat, snapshot_file: Path, tmp_path: Path
) -> None:
    target = tmp_path / "result"
    done = eosctl("doctor", "--snapshot", snapshot_file, "-o", output.value, "--output-file", target)
    assert done.code == 3
    has_no_room = output in (FindingFormat.TSV, FindingFormat.CSV, FindingFormat.GITHUB, FindingFormat.PROMETHEUS)
    assert done.err.startswith("incomplete: topic-configs") if has_no_room else done.err == ""
    assert target.read_text(encoding="utf-8") == done.out != ""


def test_report_is_written_with_any_format(snapshot_file: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = eosctl("doctor", "--snapshot", snapshot_file, "-o", "json", "--report", report)
    assert done.json["schema"] == "eosctl.diagnosis"
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert done.err == f"report: {report}\n"


def test_unwritable_file(snapshot_file: Path, tmp_path: Path) -> None:
    done = eosctl("doctor", "--snapshot", snapshot_file, "--report", tmp_path / "no" / "such" / "folder.html")
    assert done.code == 1
    assert "Cannot write" in done.err


def test_saved_snapshot_is_the_same_evidence(snapshot_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    eosctl("doctor", "--snapshot", snapshot_file, "--save-snapshot", copy)
    assert load_snapshot(copy) == load_snapshot(snapshot_file)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"schema": "eosctl.snapshot", "schema_version": 99}'])
def test_files_that_are_not_snapshots(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    done = eosctl("doctor", "--snapshot", path)
    assert (done.code, done.out) == (2, "")
    assert str(path) in done.err


def test_a_snapshot_and_a_cluster_are_too_much(snapshot_file: Path) -> None:
    done = eosctl("doctor", "--snapshot", snapshot_file, "-b", "127.0.0.1:9092")
    assert done.code == 2
    assert "--snapshot and a cluster were both given" in done.err


class TestCluster:
    """Clusters that cannot be asked."""

    def test_a_closed_port(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        done = eosctl("doctor", "-b", f"127.0.0.1:{port}", "--timeout", "2s")
        assert (done.code, done.out) == (1, "")
        assert f"127.0.0.1:{port}" in done.err

    def test_a_tls_listener_spoken_to_in_plaintext(self) -> None:
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(context)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            thread = threading.Thread(target=_greet_in_tls, args=(server, context))
            thread.start()
            done = eosctl("doctor", "-b", f"127.0.0.1:{port}", "--timeout", "5s")
            # Only this wakes a thread that waits for connections.
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
        assert (done.code, done.out) == (1, "")
        assert "TLS" in done.err or "SSL" in done.err

    def test_no_cluster_named(self) -> None:
        done = eosctl("doctor")
        assert done.code == 2
        assert "bootstrap" in done.err

    def test_unknown_client_settings_warn(self, snapshot_file: Path) -> None:
        done = eosctl("doctor", "-b", "127.0.0.1:1", "-X", "bootstrap.serverz=x", "--timeout", "1s")
        assert done.code == 1
        assert "warning: " in done.err
        assert "bootstrap.serverz" in done.err

    def test_passwords_are_never_shown(self, tmp_path: Path) -> None:
        config = tmp_path / "client.properties"
        config.write_text(
            "bootstrap.servers=127.0.0.1:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            "sasl.username=me\nsasl.password=hunter2\n"
        )
        done = eosctl("doctor", "--command-config", config, "-o", "json", "--timeout", "1s")
        assert done.code == 1
        assert "hunter2" not in done.out + done.err


def _greet_in_tls(server: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        try:
            with context.wrap_socket(connection, server_side=True):
                pass
        except OSError:
            connection.close()


class TestCatalogue:
    def test_list_names_every_check(self) -> None:
        rows = eosctl("check", "list", "-o", "tsv").rows
        assert [row[0] for row in rows] == sorted(check.id for check in CATALOG)

    def test_list_follows_its_schema(self) -> None:
        schema = json.loads((ROOT / "docs" / "schemas" / "checks.json").read_text())
        jsonschema.validate(eosctl("check", "list", "hanging", "-o", "json").json, schema)

    def test_explain(self) -> None:
        done = eosctl("check", "explain", "eos-txn-001")
        assert done.code == 0
        for words in (
            "EOS-TXN-001  (check)",
            "Hanging transaction.",
            "The last stable offset of the partition",
            "KIP-664",
        ):
            assert words in done.out
        (item,) = eosctl("check", "explain", "EOS-TXN-001", "-o", "json").json["items"]
        assert item["entry"]["name"] == "EOS-TXN-001"

    @pytest.mark.parametrize(
        ("since", "until", "words"),
        [((4, 1), None, "Kafka releases: 4.1 and later\n"), (None, (3, 9), "Kafka releases: up to 3.9\n")],
    )
    def test_explain_shows_the_releases_of_a_check(
        self, since: tuple[int, int] | None, until: tuple[int, int] | None, words: str
    ) -> None:
        check = next(check for check in CATALOG if (check.since, check.until) == (since, until))
        assert words in eosctl("check", "explain", check.id).out

    def test_explain_shows_no_releases_of_rules_per_component(self) -> None:
        assert "Kafka releases" not in eosctl("check", "explain", "EOS-CFG-001").out

    def test_unknown_names(self) -> None:
        for arguments in (["explain", "EOS-XXX-001"], ["list", "nonsense"], ["run", "nonsense"]):
            done = eosctl("check", *arguments)
            assert (done.code, done.out) == (2, "")
            assert "eosctl check list" in done.err

    def test_run_runs_what_was_selected(self, snapshot_file: Path) -> None:
        done = eosctl("check", "run", "EOS-TXN-004", "EOS-TOP-001", "--snapshot", snapshot_file, "-o", "json")
        assert [check["id"] for check in done.json["checks"]] == ["EOS-TOP-001", "EOS-TXN-004"]
        assert done.json["command"] == "check run"


def test_schemas_can_be_asked_for() -> None:
    listed = [row[0] for row in eosctl("schema", "-o", "tsv").rows]
    for name in ("diagnosis", "snapshot", "open-transactions"):
        assert name in listed
        published = json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text())
        assert eosctl("schema", name).json == published
    assert eosctl("schema", "nonsense").code == 2


def test_a_run_is_compared_with_the_last_one(snapshot_file: Path, tmp_path: Path) -> None:
    first = eosctl("doctor", "--snapshot", snapshot_file, "--since-last")
    again = eosctl("doctor", "--snapshot", snapshot_file, "--since-last")
    assert "since last: the first run on this cluster" in first.err
    assert ": 0 new, 0 gone, " in again.err
    assert (first.code, first.out) == (again.code, again.out)
    settings = tmp_path / "app.properties"
    settings.write_text("application.id=a\nprocessing.guarantee=exactly_once_v2\n", "utf-8")
    without = eosctl("doctor", settings, "--since-last")
    assert (without.code, "no cluster was read" in without.err) == (2, True)
