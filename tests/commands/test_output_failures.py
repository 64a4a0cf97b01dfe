"""A full disk and a closed standard output are reported as what they are, not as a defect."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

SAMPLE = Path(__file__).parents[2] / "examples" / "hanging.json.gz"


@pytest.mark.parametrize("words", [("version",), ("bugs", "-o", "json"), ("config", "render")], ids=" ".join)
def test_a_full_disk_behind_standard_output(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "eosctl", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "Cannot write the result." in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr


def test_a_closed_standard_output() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eosctl", "version"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: os.close(1),
    )
    assert done.returncode == 1
    assert "Standard output is closed." in done.stderr


def test_a_full_disk_behind_a_file_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    target.symlink_to("/dev/full")
    done = eosctl("version", "-o", "json", "--output-file", target)
    assert done.code == 1
    assert "No space left" in done.err
    assert [path.name for path in tmp_path.iterdir() if path != target] in ([], ["state"], ["config"])


WITH_SMALL_FILES = """
import json, resource, signal, sys
sys.dont_write_bytecode = True
from eosctl.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
for words in json.loads(sys.argv[1]):
    print("exit code", main(words), file=sys.stderr)
"""


def test_writers_report_a_full_disk_and_keep_the_file(tmp_path: Path) -> None:
    mine = tmp_path / "producer.properties"
    mine.write_text("transactional.id=a\nacks=1\n# " + "x" * 80 + "\n", "utf-8")
    before = mine.read_bytes()
    commands = [
        ["config", "fix", str(mine), "--yes"],
        ["profile", "add", "x" * 80, "-b", "localhost:9092"],
        ["doctor", "--snapshot", str(SAMPLE), "--save-snapshot", str(tmp_path / "s.json")],
        ["bugs", "3.9", "--output-file", str(tmp_path / "bugs.txt")],
    ]
    program = [sys.executable, "-c", WITH_SMALL_FILES, json.dumps(commands)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    refusals = done.stderr.split("exit code 1\n")
    assert refusals[-1] == ""
    assert len(refusals) == len(commands) + 1
    for refusal, name in zip(refusals, ("producer.properties", "profiles.yaml", "s.json", "bugs.txt"), strict=False):
        assert f"{name}.\n  why: File too large\n  next: Free space on the disk" in refusal
    assert mine.read_bytes() == before
    assert not [path.name for path in tmp_path.rglob("*") if path.name.endswith((".tmp", "s.json", "bugs.txt"))]


@pytest.mark.parametrize("output", ["html", "json", "table", "junit"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_results_are_utf8_in_any_locale(output: str, encoding: str) -> None:
    """Pages and XML declare it, and readers of JSON assume it."""
    words = [sys.executable, "-m", "eosctl", "doctor", "--snapshot", str(SAMPLE), "-o", output]
    results = [
        subprocess.run(words, env=os.environ | {"PYTHONIOENCODING": name}, capture_output=True, check=False)
        for name in (encoding, "utf-8")
    ]
    assert [done.returncode for done in results] == [3, 3], results[0].stderr.decode()
    one, other = (re.sub(r"generated_at.*|timestamp=\S+|20\d\d-\S+Z", "", done.stdout.decode()) for done in results)
    assert one == other


def test_a_terminal_without_unicode_shows_escapes() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        shown = subprocess.run(
            [sys.executable, "-c", "from eosctl.cli import main; main(['--version']); print('\\u00b7')"],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            stdout=terminal,
            stderr=subprocess.PIPE,
            check=False,
        )
    os.set_blocking(ours, False)
    assert shown.returncode == 0, shown.stderr.decode()
    assert rb"\xb7" in os.read(ours, 65_536)
    os.close(ours)
