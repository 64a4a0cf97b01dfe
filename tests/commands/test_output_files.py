"""A result takes the place of nothing but an earlier result of its kind, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.whole_file import kind_of
from tests.commands.conftest import eosctl

SAMPLE = Path(__file__).parents[2] / "examples" / "hanging.json.gz"
USERS = {
    "client.properties": "acks=all\n# eosctl: ignore EOS-CFG-010\nenable.idempotence=true\n",
    "page.html": '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Ledger</title>\n',
    "run.sh": "#!/bin/sh\nrm -f lock\n",
    "ledger.json": '{\n  "schema": "ledger.v1"\n}\n',
    "results.xml": '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ours"/>\n',
    "notes.md": "# eosctl notes of mine\n",
    "metrics.prom": "# HELP eosctl mine\nmine 1\n",
    "annotations.txt": "::error file=a.py,line=1,title=EOS-1::ours\n",
    "server.log": "[2026-11-27 10:00:00,000] INFO started (kafka.server.KafkaServer)\n",
}
WRITERS = {
    "--output-file": ("config", "lint", "in", "-o", "json"),
    "--write-baseline": ("config", "lint", "in"),
    "--report": ("doctor", "--snapshot", SAMPLE),
    "--save-snapshot": ("doctor", "--snapshot", SAMPLE),
}
FORMATS = ("json", "yaml", "markdown", "sarif", "junit", "html", "prometheus", "csv", "table", "github")


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("option", WRITERS)
def test_a_users_file_is_kept(option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "producer.properties").write_text("acks=1\ntransactional.id=a\n", "utf-8")
    mine = tmp_path / name
    mine.write_text(USERS[name], "utf-8")
    done = eosctl(*WRITERS[option], option, mine)
    assert done.code == 2
    assert f"{name}." in done.err
    assert "It exists, and is " in done.err
    assert mine.read_text("utf-8") == USERS[name]


@pytest.mark.parametrize("output", FORMATS)
def test_a_result_replaces_the_one_before(output: str, tmp_path: Path) -> None:
    mine, result = tmp_path / "producer.properties", tmp_path / "result"
    mine.write_text("acks=1\ntransactional.id=a\n", "utf-8")
    assert eosctl("doctor", mine, "-o", output, "--output-file", result).code == 3
    before = result.read_bytes()
    mine.write_text("transactional.id=a\n", "utf-8")
    assert eosctl("doctor", mine, "-o", output, "--output-file", result).code == 0
    assert result.read_bytes() != before


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("before", ["schema: eosctl.mine\n", "# HELP eosctl_mine Mine.\n", "# eosctl notes\n", ""])
def test_a_result_of_another_kind_is_kept(before: str, output: str, tmp_path: Path) -> None:
    settings, kept = tmp_path / "producer.properties", tmp_path / "kept"
    settings.write_text("acks=1\ntransactional.id=a\n", "utf-8")
    if not before:
        assert eosctl("checklist", "run", "application-design", "--record", kept, "--answer", "outbox=yes: ours").code
    else:
        kept.write_text(before, "utf-8")
    mine = kept.read_bytes()
    done = eosctl("config", "lint", settings, "-o", output, "--output-file", kept)
    assert done.code == 2
    assert "It exists, and is " in done.err
    assert kept.read_bytes() == mine


@pytest.mark.parametrize("output", ["json", "yaml", "html", "sarif", "junit", "github"])
def test_a_result_of_another_command_is_kept(output: str, tmp_path: Path) -> None:
    """In any format, a file shows whose result it is, and only the same command replaces it."""
    (tmp_path / "app.properties").write_text("transactional.id=a\nenable.idempotence=false\n")
    (tmp_path / "app.log").write_text("2026-11-21 12:00:01,123 ERROR [Producer transactionalId=a] failed (a.B)\n")
    inputs = {
        ("doctor",): "app.properties", ("config", "lint"): "app.properties", ("logs", "report"): "app.log",
    }  # fmt: skip
    path = tmp_path / "result"
    for command, file in inputs.items():
        path.unlink(missing_ok=True)
        words = (*command, tmp_path / file, "-o", output, "--output-file", path)
        assert eosctl(*words).code in (0, 3, 4)
        assert eosctl(*words).code in (0, 3, 4)
        before = path.read_bytes()
        for other, read in inputs.items():
            if other != command:
                done = eosctl(*other, tmp_path / read, "-o", output, "--output-file", path)
                assert done.code == 2, done.err
                assert path.read_bytes() == before


def test_a_snapshot_replaces_the_one_before(tmp_path: Path) -> None:
    for target in (tmp_path / "s.json", tmp_path / "s.html"):
        option = "--report" if target.suffix == ".html" else "--save-snapshot"
        for _ in range(2):
            assert eosctl("doctor", "--snapshot", SAMPLE, option, target).code == 3


@pytest.mark.parametrize(
    ("target", "change"),
    [
        ("rules", ("--runbook-url", "https://wiki.example.com/")),
        ("rules", ("--names", "strimzi")),
        ("strimzi", ("--runbook-url", "https://wiki.example.com/")),
        ("grafana", ("--names", "confluent")),
    ],
)
def test_an_export_replaces_the_one_before(target: str, change: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "export"
    assert eosctl("metrics", "export", target, "--output-file", path).code == 0
    before = path.read_bytes()
    assert eosctl("metrics", "export", target, *change, "--output-file", path).code == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize(
    "text",
    [
        *(f"groups:\n- name: {name}\n  rules: []\n" for name in ("ours", "eosctl")),
        *(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n" for name in ("ours", "eosctl-metrics")),
    ],
)
@pytest.mark.parametrize("target", ["rules", "strimzi"])
def test_the_rules_of_others_are_kept(target: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text, "utf-8")
    assert eosctl("metrics", "export", target, "--output-file", path).code == 2
    assert path.read_text("utf-8") == text


def test_a_template_that_was_filled_in_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "producer.properties"
    words = ("config", "render", "producer-transactional", "--output-file", path)
    assert eosctl(*words).code == 0
    assert eosctl(*words).code == 0
    filled = path.read_text("utf-8") + "my.edit=precious\n"
    path.write_text(filled, "utf-8")
    assert eosctl(*words).code == 2
    assert path.read_text("utf-8") == filled


@pytest.mark.parametrize("first", ["#!/bin/sh\nkafka-topics.sh --list\n", "#!/bin/sh\neosctl doctor -b b:9092\n"])
def test_a_script_of_a_person_is_not_a_result(first: str) -> None:
    assert kind_of(first.encode()) is None
    assert kind_of(b"#!/bin/sh\n# eosctl txn\neosctl txn fence x\n") is not None
