"""An argument that may be text or a file is never an error of the file system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.input_file import exists, is_file, read_input
from eosctl.storage.regular_file import read_regular
from tests.commands.conftest import eosctl

SYMPTOM = "consumer group lost its committed offsets "


@pytest.mark.parametrize("length", [255, 256, 1024, 5000, 100_000])
def test_text_of_any_length_is_text(length: int) -> None:
    text = (SYMPTOM * (length // len(SYMPTOM) + 1))[:length]
    assert not exists(text)
    done = eosctl("diagnose", text, "-o", "json")
    assert (done.code, done.json["items"][0]["runbook"]) == (0, "group-offsets-expired")


@pytest.mark.parametrize("text", ["a\0b", "x" * 256, "x/" * 3000, "", "no such file"])
def test_what_no_path_can_be_is_not_a_file(text: str) -> None:
    assert not is_file(text)


def test_a_folder_exists_and_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("hanging transaction")
    assert is_file(str(tmp_path / "trace.txt"))
    assert (exists(str(tmp_path)), is_file(str(tmp_path))) == (True, False)


@pytest.mark.parametrize("command", [("decode",), ("check", "run"), ("explain",), ("diagnose",)])
def test_long_words_get_an_error_of_their_own(command: tuple[str, ...]) -> None:
    done = eosctl(*command, "a.b" * 200)
    assert (done.code, "File name too long" in done.err) == (2, False)


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="Linux only")
@pytest.mark.parametrize(
    "command", [("logs", "report"), ("config", "lint"), ("decode", "segment"), ("diagnose",), ("doctor", "--snapshot")]
)
def test_a_file_that_never_ends_is_refused(command: tuple[str, ...]) -> None:
    done = eosctl(*command, "/proc/self/mounts")
    assert done.code in (1, 2, 4)
    assert "need not end" in f"{done.out}{done.err}"


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="Linux only")
@pytest.mark.parametrize("read", [read_input, read_regular])
def test_content_without_a_size_that_can_wait_is_refused(read: Callable[[Path], bytes]) -> None:
    with pytest.raises(OSError, match="need not end"):
        read(Path("/proc/self/mounts"))
    assert b"=" in read(Path("/proc/self/environ"))


@pytest.mark.parametrize("read", [read_input, read_regular])
def test_an_empty_file_is_read(read: Callable[[Path], bytes], tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    assert read(tmp_path / "empty.log") == b""
