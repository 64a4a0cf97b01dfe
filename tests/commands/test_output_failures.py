"""A full disk and a closed standard output are reported as what they are, not as a defect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl


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
