"""Results go through streams, links, pipes, and devices, and never take their place."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.servers.conftest import program

SAMPLE = Path(__file__).parents[2] / "examples" / "hanging.json.gz"
READING = ("doctor", "--snapshot", str(SAMPLE))
#: Every way to write a file.
WRITERS = {
    "--output-file": (*READING, "-o", "json"),
    "--report": READING,
    "--save-snapshot": READING,
    "--write-baseline": READING,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_stays_a_pipe(name: str, tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    descriptor = os.open(pipe, os.O_WRONLY)  # The reader is there.
    assert eosctl(*WRITERS[name], name, pipe).code == 3
    assert pipe.is_fifo()
    os.close(descriptor)
    reader.join()
    assert read[0]


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_without_a_reader_is_refused(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = eosctl(*WRITERS[name], name, pipe)
    assert done.code in (1, 2)
    assert "It is a pipe, and no program reads from it" in done.err
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_leads_to_the_new_result(name: str, tmp_path: Path) -> None:
    link, target = tmp_path / "latest", tmp_path / "result"
    link.symlink_to(target)
    for _ in range(2):
        assert eosctl(*WRITERS[name], name, link).code == 3
    assert link.is_symlink()
    assert target.stat().st_size


@pytest.mark.parametrize("name", WRITERS)
def test_a_loop_of_links_is_refused(name: str, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    done = eosctl(*WRITERS[name], name, loop)
    assert "loop" in done.err
    assert "Too many levels of symbolic links" in done.err
    assert loop.is_symlink()


def run(*words: str, stdout: int) -> subprocess.CompletedProcess[bytes]:
    command, arguments, environment = program(*words)
    return subprocess.run(
        [command, *arguments], stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output_receives_a_result_once(kind: str, tmp_path: Path) -> None:
    words = (*READING, "-o", "json", "--output-file", "/dev/stdout")
    if kind == "pipe":
        text = run(*words, stdout=subprocess.PIPE).stdout
    else:
        with (tmp_path / "out.json").open("wb") as file:
            run(*words, stdout=file.fileno())
        text = (tmp_path / "out.json").read_bytes()
    assert json.loads(text)["schema"] == "eosctl.diagnosis"


@pytest.mark.parametrize("name", WRITERS)
def test_a_dash_is_standard_output(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*WRITERS[name], name, "-", stdout=subprocess.PIPE)
    assert (done.returncode, b"eosctl" in done.stdout) == (3, True)
    assert not list(tmp_path.glob("-*"))


def test_a_dash_receives_a_result_once() -> None:
    text = run(*READING, "-o", "json", "--output-file", "-", stdout=subprocess.PIPE).stdout
    assert json.loads(text)["schema"] == "eosctl.diagnosis"


def test_a_snapshot_does_not_replace_standard_output(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        assert run(*READING, "--save-snapshot", "/dev/stdout", stdout=file.fileno()).returncode == 3
    text = (tmp_path / "out").read_bytes()
    assert (b"eosctl.snapshot" in text, b"EOS-" in text) == (True, True)


def test_a_pipe_of_the_shell_receives_the_result(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    command, arguments, environment = program(*READING, "-o", "json", "--output-file", f"/dev/fd/{writing}")
    with subprocess.Popen(
        [command, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        pass_fds=[writing],
    ):
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            assert json.loads(pipe.read())["schema"] == "eosctl.diagnosis"
