"""Names and messages of other people reach no terminal, table, page, or link as anything but text, in any format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest
import yaml

from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.commands.conftest import eosctl
from tests.commands.inert import acted_on, hidden_in, strings

#: OSC 52 writes the clipboard, CSI clears the screen (7 and 8 bits), the rest turns or hides text.
TURNED: Final = "\u202ex\u2066\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u3164"
PAYLOAD: Final = f"\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b2J\x7f\x08\x0c{TURNED}"
MARKUP: Final = "[x](javascript:alert(1))<b>`|::error::"
ID: Final = f"pay{PAYLOAD}{MARKUP}"
REPORT_FORMATS: Final = ("table", "json", "yaml", "tsv", "markdown", "html")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    thrown = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"
    name = os.fsdecode(b"app-\xff-\xe2\x80\xae-\x1b[2J.log")
    (folder / name).write_text(
        f"[2026-11-20 10:00:00,000] ERROR [Producer clientId=a, transactionalId={ID}] Aborting producer batches due to "
        f"fatal error (org.apache.kafka.clients.producer.internals.Sender)\n{thrown}\n",
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    folder = tmp_path / "settings"
    folder.mkdir()
    name = f"pro\u202educer-{MARKUP.replace('/', '')}.properties"
    text = f"bootstrap.servers=b:1\ntransactional.id={ID}\nenable.idempotence=false\nacks=\u202e1\nackz{PAYLOAD}=1\n"
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).rename(folder / name.replace("-[x]", "-\udcff[x]"))
    return folder


def check(text: str, output: str) -> None:
    """Hold a result to what its format needs to stay text."""
    assert acted_on(text, output) == []
    if output == "json":
        assert any(TURNED in value for value in strings(json.loads(text))), "the value stays"
    if output == "yaml":
        assert any(TURNED in value for value in strings(yaml.safe_load(text))), "the value stays"
    if output == "tsv":
        assert len({len(line.split("\t")) for line in text.splitlines()}) == 1


@pytest.mark.parametrize("output", REPORT_FORMATS)
def test_logs_report(output: str, logs: Path) -> None:
    done = eosctl("logs", "report", "--engine", "python", logs, "-o", output)
    assert done.code in (0, 3), done.err
    assert "producer" in done.out
    check(done.out, output)
    assert not hidden_in(done.err)


@pytest.mark.parametrize("command", ["scan", "exceptions"])
@pytest.mark.parametrize("output", list(OutputFormat))
def test_logs_scan_and_exceptions(command: str, output: OutputFormat, logs: Path) -> None:
    done = eosctl("logs", command, "--engine", "python", logs, "-o", output.value)
    assert done.code in (0, 3), done.err
    assert not hidden_in(done.out), hidden_in(done.out)
    assert not hidden_in(done.err)


@pytest.mark.parametrize("output", list(FindingFormat))
def test_doctor_of_logs(output: FindingFormat, logs: Path) -> None:
    done = eosctl("doctor", "--logs", logs, "-o", output.value)
    assert done.code == 3, done.err
    if output is FindingFormat.PROMETHEUS or output is FindingFormat.JUNIT:
        assert not hidden_in(done.out)
    else:
        check(done.out, output.value)


@pytest.mark.parametrize("command", [("config", "lint"), ("doctor",)])
@pytest.mark.parametrize("output", list(FindingFormat))
def test_settings(command: tuple[str, ...], output: FindingFormat, settings: Path) -> None:
    done = eosctl(*command, settings, "-o", output.value)
    assert done.code == 3, done.err
    assert not hidden_in(done.out), hidden_in(done.out)
    if output.value in ("sarif", "markdown", "github", "tsv"):
        check(done.out, output.value)
    assert not hidden_in(done.err)


@pytest.mark.parametrize("command", ["doctor", "check run", "txn list", "txn hanging", "txn producers", "group lag"])
@pytest.mark.parametrize("output", list(OutputFormat))
def test_names_of_a_cluster(command: str, output: OutputFormat, snapshot_file: Path) -> None:
    document = snapshot_file.read_text("utf-8")
    bell = json.dumps("\x07")[1:-1]
    assert bell in document
    snapshot_file.write_text(document.replace(bell, json.dumps(PAYLOAD)[1:-1]), "utf-8")
    done = eosctl(*command.split(), "--snapshot", snapshot_file, "-o", output.value)
    assert done.code in (0, 3), done.err
    assert not hidden_in(done.out), hidden_in(done.out)
    assert not hidden_in(done.err)


@pytest.mark.parametrize("output", ["table", "json", "tsv"])
def test_records_of_a_log(output: str, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"orders\xff-0")
    folder.mkdir()
    record = Record(0, 1_795_168_800_000, ID.encode(), ID.encode(), ((ID, ID.encode()),))
    (folder / f"{0:020d}.log").write_bytes(encode_batch([record]))
    done = eosctl("decode", "segment", "--records", folder, "-o", output)
    assert done.code == 0, done.err
    assert "javascript" in done.out
    assert not hidden_in(done.out), hidden_in(done.out)


def test_an_error_names_such_a_file_and_stays_text(tmp_path: Path) -> None:
    done = eosctl("logs", "report", tmp_path / f"no{PAYLOAD}", "-o", "json")
    assert done.code == 2
    assert not hidden_in(done.out + done.err)
    assert json.loads(done.out)["schema"] == "eosctl.error"
