"""Evidence bundles: included, excluded, and rejected content."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from eosctl.collect.bundles.bundle import read_manifest, read_snapshot
from eosctl.model.redaction import redact_line
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import leave_open, on
from tests.commands.txn.test_txn import check_schema
from tests.monitoring.endpoints import Answer, served


@pytest.fixture
def bundle(one_broker: SandboxThread, tmp_path: Path) -> Path:
    on(one_broker.bootstrap, lambda client: leave_open(client, "shop-0"))
    logs = tmp_path / "server.log"
    logs.write_text("[2026-11-21 09:00:00,000] INFO ssl.keystore.password = changeit (kafka.server.KafkaConfig)\n")
    path = tmp_path / "evidence.zip"
    done = eosctl(
        "snapshot", "capture", path, "-b", one_broker.bootstrap, "--include", "data-dirs,logs", "--data-dir",
        one_broker.data_dir, "--logs", logs, "-o", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    check_schema("bundle", done.json)
    return path


def test_a_bundle_replaces_the_cluster_and_holds_no_records(bundle: Path, tmp_path: Path) -> None:
    assert bundle.stat().st_mode & 0o077 == 0
    manifest = read_manifest(bundle)
    assert {part.kind for part in manifest.parts} == {"snapshot", "log", "data-dir"}
    assert "jmx" in {missing.what for missing in manifest.missing}
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "out")
    text = (tmp_path / "out/logs/000-server.log").read_text()
    assert "changeit" not in text
    assert "ssl.keystore.password = [hidden]" in text
    (segment,) = (tmp_path / "out").glob("data-dirs/*/broker-1/orders-0/*.log")
    batches = [item for item in scan_log(segment) if isinstance(item, LogBatch)]
    assert [batch.crc_valid for batch in batches] == [True]
    assert [(r.offset, r.key, r.value) for r in batches[0].records()] == [(0, None, b""), (1, None, b"")]
    assert batches[0].header.is_transactional
    checked = eosctl("fsck", next((tmp_path / "out/data-dirs").iterdir()), "-o", "json")
    assert checked.code in (0, 3), checked.err

    shown = eosctl("snapshot", "show", bundle)
    assert (shown.code, "keys, values and headers" in shown.out) == (0, True)
    assert eosctl("txn", "list", "--snapshot", bundle, "-o", "tsv").rows[0][0] == "shop-0"
    assert "eosctl txn hanging" in eosctl("txn", "list", "--snapshot", bundle, "--state", "Dead").out
    assert eosctl("doctor", "--snapshot", bundle, "-o", "json").json["items"] is not None


def test_a_bundle_holds_no_secret_of_the_metadata_log(one_broker: SandboxThread, tmp_path: Path) -> None:
    path, data = tmp_path / "evidence.zip", Path(__file__).parents[1] / "fixtures" / "metadata-log" / "broker-1"
    done = eosctl("snapshot", "capture", path, "-b", one_broker.bootstrap, "--include", "data-dirs", "--data-dir", data)
    assert done.code == 0, done.err
    with zipfile.ZipFile(path) as archive:
        assert [name for name in archive.namelist() if b"planted" in archive.read(name)] == []
        assert any(b"retention.ms" in archive.read(name) for name in archive.namelist())
    assert "passwords, keys and tokens masked" in eosctl("snapshot", "show", path).out


def test_metrics_are_kept_and_judged_later(one_broker: SandboxThread, tmp_path: Path) -> None:
    queue = 'kafka_coordinator_transaction_TransactionMarkerChannelManager_Value{name="UnknownDestinationQueueSize"} 2'
    page = f"{queue}\nnot_of_exactly_once 7\n"
    path = tmp_path / "measured.zip"
    with served(lambda request: Answer(page)) as url:
        done = eosctl(
            "snapshot", "capture", path, "-b", one_broker.bootstrap, "--include", "jmx", "--jmx", f"{url}/metrics",
            "--jmx", "http://127.0.0.1:1/metrics", "-o", "json",
        )  # fmt: skip
    assert done.code == 0, done.err
    (kept,) = read_snapshot(path).metric_pages
    assert [(sample.labels["name"], sample.value) for sample in kept.samples] == [("UnknownDestinationQueueSize", 2)]
    missing = {part.what for part in read_manifest(path).missing}
    assert "jmx" not in missing
    assert "metrics of http://127.0.0.1:1/metrics" in missing
    assert "metrics" in eosctl("snapshot", "show", path).out


def test_logs_are_judged_from_a_bundle(one_broker: SandboxThread, tmp_path: Path) -> None:
    path, logs = tmp_path / "evidence.zip", Path("tests/fixtures/logs/second-producer-392").absolute()
    captured = eosctl("snapshot", "capture", path, "-b", one_broker.bootstrap, "--logs", logs)
    assert captured.code == 0, captured.err

    def reported(*words: str | Path) -> set[tuple[str, str]]:
        found = eosctl("doctor", *words, "-o", "json", "--exit-zero").json["items"]
        return {(one["check_id"], one["message"]) for one in found if one["check_id"].startswith("EOS-LOG")}

    assert reported("--snapshot", path) == reported("--logs", logs) != set()


def test_diff_lists_the_changes(bundle: Path, one_broker: SandboxThread, tmp_path: Path) -> None:
    later = tmp_path / "later.zip"
    assert eosctl("txn", "fence", "shop-0", "-b", one_broker.bootstrap, "--yes").code == 0
    assert eosctl("snapshot", "capture", later, "-b", one_broker.bootstrap).code == 0
    done = eosctl("snapshot", "diff", bundle, later, "-o", "json")
    check_schema("snapshot-diff", done.json)
    changes = {(item["subject"], item["what"]): (item["before"], item["after"]) for item in done.json["items"]}
    assert changes["shop-0", "state"] == ("Ongoing", "Empty")
    assert eosctl("snapshot", "diff", later, later).out == "Nothing changed.\n"


@pytest.mark.parametrize(
    ("line", "kept", "gone"),
    [
        (b'sasl.jaas.config=ScramLoginModule required username="a" password="p4ss";', b"sasl.jaas.config", b"p4ss"),
        (b'{"client_secret": "s3cret", "x": 1}', b'"x": 1', b"s3cret"),
        (b"Authorization: Bearer abcdefgh.ijkl", b"Authorization", b"abcdefgh"),
        (b"connecting to http://bob:hunter2@registry:8081", b"registry:8081", b"hunter2"),
        (b"ssl.key.password = null", b"null", b"[hidden]"),
        (b"Initialized transactionalId shop-0 with producerId 4", b"producerId 4", b"[hidden]"),
    ],
)
def test_secrets_are_masked_and_nothing_else(line: bytes, kept: bytes, gone: bytes) -> None:
    masked = redact_line(line)
    assert kept in masked
    assert gone not in masked


def evil(tmp_path: Path, name: str, data: bytes = b"x", *, attributes: int = 0) -> Path:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = attributes
        archive.writestr(info, data)
    return path


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b", "..\\b", "C:/b"])
def test_a_name_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    done = eosctl("snapshot", "show", evil(tmp_path, name))
    assert (done.code, done.out) == (2, "")
    assert "leads out of the bundle" in done.err


def test_links_bombs_and_broken_files_are_refused(tmp_path: Path) -> None:
    assert "is a link" in eosctl("snapshot", "show", evil(tmp_path, "a", attributes=0o120777 << 16)).err
    bomb = eosctl("doctor", "--snapshot", evil(tmp_path, "snapshot.json", bytes(50_000_000)))
    assert (bomb.code, "would grow" in bomb.err) == (2, True)
    assert "holds no manifest.json" in eosctl("snapshot", "show", evil(tmp_path, "other")).err
    assert "manifest is damaged" in eosctl("snapshot", "show", evil(tmp_path, "manifest.json", b"{")).err
    newer = {"captured_at_ms": 1, "eosctl_version": "9", "cluster_id": "", "parts": [], "missing": []}
    newer |= {"schema": "eosctl.bundle", "schema_version": 2}
    assert (
        "schema version 2"
        in eosctl("snapshot", "show", evil(tmp_path, "manifest.json", json.dumps(newer).encode())).err
    )
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 and nothing more")
    assert eosctl("doctor", "--snapshot", tmp_path / "no.zip").code == 2
    assert eosctl("snapshot", "show", tmp_path / "none.zip").code == 2


def test_a_changed_snapshot_is_not_believed(bundle: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(changed, "w") as new:
        for member in old.infolist():
            data = old.read(member)
            new.writestr(member, data.replace(b"shop-0", b"shop-1") if member.filename == "snapshot.json" else data)
    assert read_snapshot(bundle).transactions[0].transactional_id == "shop-0"
    done = eosctl("txn", "list", "--snapshot", changed)
    assert (done.code, "not the one that its manifest" in done.err) == (2, True)


def test_what_cannot_be_captured(tmp_path: Path) -> None:
    for more in (["--include", "jmx"], ["--include", "logs"], ["--logs", str(tmp_path / "none")]):
        assert eosctl("snapshot", "capture", tmp_path / "x.zip", "-b", "127.0.0.1:1", *more).code == 2
