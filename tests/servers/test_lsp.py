"""The language server, through pygls' client over standard input and output."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from eosctl.errors import UsageError
from eosctl.servers.lsp_session import MESSAGE_LIMIT_BYTES, BoundedInput
from tests.commands.conftest import eosctl
from tests.servers.lsp_client import Editor, applied, edit

PRODUCER = "bootstrap.servers=a:9092\ntransactional.id=pay\nacks=1\nenable.idempotence=false\n"
SOUND = "bootstrap.servers=a:9092\ntransactional.id=pay\nacks=all\nenable.idempotence=true\n"
SPRING = """spring:
  kafka:
    bootstrap-servers: a:9092
    producer:
      acks: "1"
      transaction-id-prefix: pay-
      properties:
        transaction.timeout.ms: 600000
"""
SECRET = "hunter2-Xk29"


def places(found: list[types.Diagnostic]) -> list[tuple[int, str]]:
    return sorted((one.range.start.line + 1, str(one.code)) for one in found)


def test_an_opened_file_has_the_findings_of_the_lint(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text(PRODUCER)
    linted = eosctl("config", "lint", path, "-o", "json").json

    async def work(editor: Editor) -> tuple[list[types.Diagnostic], list[str]]:
        return await editor.open(path, PRODUCER), editor.log

    found, log = edit(work)
    assert places(found) == [(item["line"], item["id"]) for item in linted["items"]]
    assert {one.source for one in found} == {"eosctl"}
    assert all(item["remedy"] in one.message for item, one in zip(linted["items"], found, strict=True))
    assert f"{path}:1: read as: producer (transactional.id), Kafka 4.4 (assumed)" in log
    assert any(line.startswith(f"{path}: 2 findings; rules: ") for line in log)


def test_the_text_of_the_editor_is_judged_not_that_of_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text(SOUND)

    async def work(editor: Editor) -> list[list[types.Diagnostic]]:
        first = await editor.open(path, PRODUCER)
        editor.change(path, SOUND + "# 2\n", 2)
        editor.change(path, SOUND + "# 3\n", 3)
        editor.change(path, PRODUCER.replace("enable", "# eosctl: ignore EOS-CFG-010 a test\nenable"), 4)
        last = await editor.diagnostics(4)
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri()))
        )
        return [first, last, await editor.diagnostics(None)]

    first, last, closed = edit(work)
    assert {code for _, code in places(first)} == {"EOS-CFG-010", "EOS-CFG-011"}
    assert {code for _, code in places(last)} == {"EOS-CFG-011"}
    assert closed == []
    assert path.read_text() == SOUND


def test_a_range_covers_the_setting_in_units_of_the_client(tmp_path: Path) -> None:
    text = "bootstrap.servers=a:9092\nacks=all\n  transactional.id=é😀${ID} \n"
    found = edit(lambda editor: editor.open(tmp_path / "app.properties", text))
    (one,) = [one for one in found if "outside of the file" in one.message]
    assert (one.range.start.line, one.range.start.character) == (2, 2)
    assert one.range.end.character == len(text.splitlines()[2].rstrip()) + 1  # the emoji has two units of UTF-16
    assert one.severity is types.DiagnosticSeverity.Information


@pytest.mark.parametrize(
    ("name", "text", "expected", "severity"),
    [
        ("app.yaml", "kafka:\n  brokers: a\n   bad: [\n", "Not judged: ", types.DiagnosticSeverity.Error),
        ("list.yaml", "kafka-topics-of-team:\n  - a\n", "was not understood", types.DiagnosticSeverity.Warning),
    ],
)
def test_what_is_not_judged_has_a_mark(
    name: str, text: str, expected: str, severity: types.DiagnosticSeverity, tmp_path: Path
) -> None:
    (found,) = edit(lambda editor: editor.open(tmp_path / name, text))
    assert (expected in found.message, found.severity) == (True, severity)


def test_a_file_of_others_has_no_marks_and_no_all_clear(tmp_path: Path) -> None:
    async def work(editor: Editor) -> tuple[list[types.Diagnostic], list[str]]:
        return await editor.open(tmp_path / "notes.md", "# Notes\n"), editor.log

    found, log = edit(work)
    assert found == []
    assert log == [f"{tmp_path / 'notes.md'}: no settings of Kafka were recognized, so nothing was judged."]


def test_hover_explains_settings_by_their_meaning(tmp_path: Path) -> None:
    compose = (
        "services:\n  broker:\n    image: apache/kafka:4.3.1\n    environment:\n      KAFKA_MIN_INSYNC_REPLICAS: 1\n"
    )

    async def work(editor: Editor) -> list[str]:
        await editor.open(tmp_path / "application.yml", SPRING)
        await editor.open(tmp_path / "compose.yml", compose)
        await editor.open(tmp_path / "broken.properties", PRODUCER + "key=\\u00zz\n")
        spring = [await editor.hover(tmp_path / "application.yml", line, 10) for line in (1, 4, 7)]
        others = (("compose.yml", 4, 12), ("broken.properties", 2, 1), ("broken.properties", 40, 0))
        return spring + [await editor.hover(tmp_path / name, line, at) for name, line, at in others]

    nothing, acks, timeout, replicas, broken, outside = edit(work)
    assert (nothing, outside) == ("", "")
    assert acks.startswith("**acks**")
    assert timeout.startswith("**transaction.timeout.ms**")
    assert "- producer: int; default 60000 since 2.7" in timeout
    assert "- rule: EOS-CFG-004 " in timeout
    assert replicas.startswith("**min.insync.replicas**")
    assert broken.startswith("**acks**")


def test_actions_make_the_repairs_of_config_fix(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text(PRODUCER)

    async def work(editor: Editor) -> tuple[list[types.CodeAction], list[types.Diagnostic]]:
        known = await editor.open(path, PRODUCER)
        actions = await editor.actions(path, 2, known)
        editor.change(path, applied(PRODUCER, actions[0]), 2)
        return actions, await editor.diagnostics(2)

    (one, every), after = edit(work)
    assert path.read_text() == PRODUCER
    assert (one.title, one.kind) == ("Set acks to all (EOS-CFG-011)", types.CodeActionKind.QuickFix)
    assert [known.code for known in one.diagnostics or ()] == ["EOS-CFG-011"]
    assert {code for _, code in places(after)} == {"EOS-CFG-010"}
    assert every.kind == "source.fixAll.eosctl"
    assert eosctl("config", "fix", path, "--yes").code == 0
    assert applied(PRODUCER, every) == path.read_text()


def test_no_action_is_offered_where_nothing_can_be_repaired(tmp_path: Path) -> None:
    async def work(editor: Editor) -> list[types.CodeAction]:
        path = tmp_path / "app.properties"
        return await editor.actions(path, 0, await editor.open(path, SOUND))

    assert edit(work) == []


def test_secrets_stay_out_of_marks_and_of_the_log(tmp_path: Path) -> None:
    jaas = f'sasl.jaas.config=org.apache.kafka.Plain required username="a" password="{SECRET}";\n'
    broken = f"kafka:\n  ssl.keystore.password: {SECRET}\n   bad: [{SECRET}\n"

    async def work(editor: Editor) -> str:
        found = await editor.open(tmp_path / "app.properties", PRODUCER + jaas + f"ssl.key.password={SECRET}${{X}}\n")
        found += await editor.open(tmp_path / "app.yaml", broken)
        assert len(found) > 2
        return "\n".join([*(one.message for one in found), *editor.log])

    assert SECRET not in edit(work)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pygls", "pygls.lsp", "pygls.lsp.server"):
        monkeypatch.setitem(sys.modules, name, None)
    done = eosctl("lsp")
    assert done.code == 2
    assert "pip install 'eosctl[lsp]'" in done.err


def test_a_document_that_is_not_open_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text(PRODUCER)

    async def work(editor: Editor) -> tuple[str, list[types.CodeAction]]:
        return await editor.hover(path, 2, 1), await editor.actions(path, 2, [])

    assert edit(work) == ("", [])


@pytest.mark.parametrize("size", [MESSAGE_LIMIT_BYTES + 1, -1])
def test_a_message_beyond_the_limit_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="announced a message"):
        BoundedInput(io.BytesIO(b"x" * 10)).read(size)
    assert BoundedInput(io.BytesIO(b"x" * 10)).read(3) == b"xxx"
    assert len(BoundedInput(io.BytesIO(b"x" * 100_000)).readline()) < 100_000


def test_a_header_without_an_end_is_refused() -> None:
    endless = BoundedInput(io.BytesIO(b"X: y\r\n" * 100_000))
    with pytest.raises(UsageError, match="a header of more than 64 lines"):
        while endless.readline():
            pass
    messages = BoundedInput(io.BytesIO(b"X: y\r\n\r\n{}" * 1_000))
    for _ in range(1_000):
        assert [messages.readline(), messages.readline(), messages.read(2)] == [b"X: y\r\n", b"\r\n", b"{}"]
