"""Files of the command line take bounded time and memory: pipes, devices, depth, digits, and repetition."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from eosctl import input_file
from eosctl.errors import EosctlError
from eosctl.input_file import open_input, read_input
from eosctl.settings.clusters.profiles import read_profiles
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.gate_file import read_gate_rules
from tests.commands.conftest import eosctl
from tests.commands.every_command import RUNNING, Leaf, leaves, reads_files

LEAVES = [leaf for leaf in leaves() if leaf.name not in RUNNING and reads_files(leaf)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names that no file can have, pipes, a device without end, and files of depth and of digits."""
    folder = tmp_path_factory.mktemp("bounded")
    os.mkfifo(folder / "pipe.log")
    partition = folder / "data" / "orders-0"
    partition.mkdir(parents=True)
    for name in ("app.log", "producer.properties", "meta.properties", "orders-0/00000000000000000000.log"):
        os.mkfifo(folder / "data" / name)
    texts = {"deep.json": "[" * 5_000, "deep.toml": f"a={'[' * 5_000}"}
    texts["digits.yaml"] = f"fail_on: {'9' * 6_000}\nmin_score: {'1:' * 6_000}1\nversion: 1\n"
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "loop").symlink_to("loop")
    names = (folder / "loop", folder / "deep.json" / "below", folder / ("n" * 300), folder / ("p/" * 2_500))
    return [
        *map(str, names),
        str(folder / "pipe.log"),
        str(folder / "data"),
        "/dev/zero",
        *(str(folder / name) for name in texts),
    ]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_every_command_ends_with_a_reason(
    leaf: Leaf, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(input_file, "WRITER_TIMEOUT_S", 0.05)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for file in files:
        for words in reads_files(leaf, file):
            done = eosctl(*leaf.words, *words)
            assert done.code in (0, 1, 2, 3, 4), (words, done)
            assert "defect in eosctl" not in done.err, (words, done.err)


def test_only_a_pipe_with_a_writer_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "WRITER_TIMEOUT_S", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no program writes to it"):
        open_input(pipe)
    monkeypatch.setattr(input_file, "WRITER_TIMEOUT_S", 60.0)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"acks=all",))
    writer.start()
    assert read_input(pipe) == b"acks=all"
    writer.join()


def test_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    assert read_input(tmp_path / "large", 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_input(tmp_path / "large", 4)
    with pytest.raises(OSError, match="not a regular file"):
        read_input("/dev/zero", 4)
    assert read_input("/dev/null") == b""


def test_one_file_does_not_hide_the_findings_of_another(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.properties")
    good = tmp_path / "producer.properties"
    good.write_text("bootstrap.servers=b:1\ntransactional.id=a\nenable.idempotence=false\n")
    deep = tmp_path / "deep.json"
    deep.write_text('{"kafka":' * 50_000)
    done = eosctl("config", "lint", deep, good)
    assert done.code in (2, 3)
    assert "enable.idempotence" in done.out
    assert "deep.json" in done.out + done.err


UNITS: Final = (
    "{", "[", '"', "'", "\\", "\\\n", '\\"', "a=", "a=b\\\n", "a:\n", "- ", "//", "/*", "/* */", "#", ",", ", ",
    '{"a":', "9", "1_", "1:", "a.b.", "${", "{{", "{%", "&a ", "*a ", "<<: *a\n", "|\n", ">\n", "  ", "\t", "\n",
    "---\n", "\\u0041", "=", "==", "a ", "input {", "[a]\n", "[[a]]\n", "=> ", "@", "''", "'a'='b',", "WITH (",
    "WITH (x)", "CREATE TABLE a ", "SET a=b\n", "<!--", '\"\"\"', "<<EOF\n", "a {\n", "include ", "a+=", "\r",
    "a += b\n", "a.b = c\n", "a = ${a} b\n", "-Dkafka.a=b,", " -d '{", " -d \"{",
    "docker run -e A=b ", "docker run -e A=b c\n",
    "kafka-topics --create --topic a\n", "export A=b\n", "!Ref a\n", "tee -a ", ">",
)  # fmt: skip
HEADS: Final[dict[str, tuple[str, ...]]] = {
    "a.properties": ("",), "a.json": ("", '{"a":1,'), "a.yaml": ("", "a: &a {b: c}\n"), "a.toml": ("", "a="),
    "a.conf": ("", "input { ", "a { ", "[INPUT]\n"), "a.env": ("",), "a.ini": ("",),
    "a.sql": ("", "CREATE TABLE a WITH ("), "a.sh": ("", "cat <<EOF >a\n"), "Dockerfile": ("", "ENV ", "CMD "),
    "a.service": ("", "ExecStart="),
}  # fmt: skip


@pytest.mark.parametrize("file", HEADS)
def test_parsing_takes_linear_time(file: str) -> None:
    def parse(text: str) -> float:
        started = time.process_time()
        with suppress(EosctlError):
            parse_documents(file, text)
        return time.process_time() - started

    slow = []
    for head in HEADS[file]:
        for unit in UNITS:
            for end in ("", "x"):
                small, large = (head + unit * (size // len(unit)) + end for size in (2_000, 16_000))
                # Eight times the text: where quadratic takes 64 times, linear takes 8. Little is all the same.
                if parse(large) > 0.1:
                    spent, few = (min(parse(text) for _ in range(3)) for text in (large, small))
                    slow += [(head, unit, end, spent)] if spent > max(0.1, 24 * few) else []
    assert slow == []


@pytest.mark.parametrize("read", [read_gate_rules, read_profiles])
@pytest.mark.parametrize(
    "text", ["[" * 50_000, f"a: {'9' * 5_000}", f"a: {'1:' * 5_000}1", "a: 2026-13-45", "\xff\xfe"]
)
def test_own_files_are_refused_by_name(read: Callable[[Path], object], text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(EosctlError, match=r"own\.yaml") as caught:
        read(path)
    assert caught.value.exit_code == 2
