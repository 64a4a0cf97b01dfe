"""The tools for assistants, through the SDK's client over standard input and output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from eosctl.render.schemas import schema_of
from eosctl.servers.tools import TOOLS
from tests.commands.conftest import eosctl
from tests.servers.conftest import ROOT
from tests.servers.mcp_client import call, serve

SNAPSHOT = "examples/hanging.json.gz"
STORAGE = ROOT / "tests" / "fixtures" / "storage"
LOGS = ROOT / "tests" / "fixtures" / "logs"
CONFIG = "transactional.id=pay\nenable.idempotence=true\nacks=1\n"


def same(result: Any, command: Any) -> bool:
    """Return whether two results differ in the time of the run alone."""
    return {**result, "generated_at": ""} == {**command, "generated_at": ""}


def test_the_tools_have_the_schemas_of_eosctl_schema() -> None:
    tools = serve(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == ["doctor", "hanging", "explain", "lint", "logs_report", "decode"]
    for tool in tools:
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.input_schema)
        if name := TOOLS[tool.name].schema:
            assert tool.output_schema == json.loads(json.dumps({**schema_of(name), "type": "object"}))
            Draft202012Validator.check_schema(tool.output_schema)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_generations_of_the_protocol_are_served(mode: str) -> None:
    (found,) = call(("explain", {"question": "INVALID_PRODUCER_EPOCH"}), mode=mode)
    assert found.json["items"][0]["entry"]["name"] == "INVALID_PRODUCER_EPOCH"


def test_a_result_is_what_the_command_prints(tmp_path: Path) -> None:
    config = tmp_path / "producer.properties"
    config.write_text(CONFIG)
    log = str(LOGS / "second-producer-392")
    calls = {
        ("doctor", "--snapshot", SNAPSHOT): ("doctor", {"snapshot": SNAPSHOT}),
        ("txn", "hanging", "--snapshot", SNAPSHOT): ("hanging", {"snapshot": SNAPSHOT}),
        ("explain", "ProducerFencedException"): ("explain", {"question": "ProducerFencedException"}),
        ("config", "lint", str(config)): ("lint", {"paths": [str(config)]}),
        ("logs", "report", log): ("logs_report", {"paths": [log], "max_events": 5_000}),
    }
    for (command, (name, _)), found in zip(calls.items(), call(*calls.values()), strict=True):
        printed = eosctl(*command, "-o", "json")
        assert same(found.json, printed.json), command
        assert json.loads(found.text) == found.json
        Draft202012Validator(schema_of(TOOLS[name].schema)).validate(found.json)


def test_decoded_lines_are_those_of_the_command() -> None:
    log = next((STORAGE / "k431-tv2-transactions").rglob("*.log"))
    whole, cut = call(
        ("decode", {"files": [str(log)], "max_lines": 5_000}), ("decode", {"files": [str(log)], "max_lines": 1})
    )
    assert whole.text == eosctl("decode", "segment", log, "-o", "json").out
    assert whole.coverage.startswith("exit code 0:")
    assert cut.text == whole.text.splitlines(keepends=True)[0]
    assert cut.coverage.startswith("exit code 4:")
    assert "everything after line 1" in cut.coverage


def test_damage_is_an_error_with_its_position() -> None:
    (found,) = call(("decode", {"files": [str(STORAGE / "damaged-bitflip-payload")], "decoder": "segment"}))
    assert found.is_error
    assert found.coverage.startswith("exit code 1:")
    assert "crc-mismatch" in found.coverage
    assert '"kind":"batch"' in found.text


def test_an_all_clear_shows_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "notes.properties").write_text("color=blue\n")
    (tmp_path / "app.properties").write_text("bootstrap.servers=a:9092\ntransactional.id=${ID}\n")
    (tmp_path / "app.log").write_text("hello\nworld\n")
    nothing, undecided, logs = call(
        ("lint", {"paths": [str(tmp_path / "notes.properties")]}),
        ("lint", {"paths": [str(tmp_path / "app.properties")]}),
        ("logs_report", {"paths": [str(tmp_path / "app.log")]}),
    )
    assert nothing.is_error
    assert "exit code 2" in nothing.coverage
    assert "no settings of Kafka were recognized" in nothing.coverage
    assert "exit code 4" in undecided.coverage
    assert "transactional.id refers to something outside of the file" in undecided.coverage
    assert "exit code 4" in logs.coverage
    assert "no log record was recognized in" in logs.coverage


def test_incidents_never_end_in_exit_code_zero() -> None:
    few, none = call(
        ("logs_report", {"paths": [str(LOGS / "second-producer-392")], "max_events": 1}),
        ("explain", {"question": "qqzz"}),
    )
    assert few.coverage.startswith("exit code 3:")
    assert len(few.json["items"]) == 1
    assert "the result lists 1 of " in few.coverage
    assert none.is_error
    assert none.json["what"] == "No entry fits 'qqzz'."


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.setitem(sys.modules, "mcp.server.stdio", None)
    done = eosctl("mcp")
    assert done.code == 2
    assert "pip install 'eosctl[mcp]'" in done.err
