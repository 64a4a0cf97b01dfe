"""Two results of one command never go to one file, and none replaces what the command reads."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from eosctl.command_line.written_files import OUTPUTS
from tests.commands.conftest import eosctl
from tests.commands.every_command import leaves

SAMPLE = Path(__file__).parents[2] / "examples" / "hanging.json.gz"
WRITES = re.compile(r"(?:HTML )?(?:[Rr]eport|[Ff]ile) (?:to (?:write|save)|for the)|Record file: stores")


def test_every_option_that_names_a_file_to_write_is_known() -> None:
    writing = {
        parameter.name: leaf.name
        for leaf in leaves()
        for parameter in leaf.parameters
        if parameter.opts[0].startswith("-") and WRITES.match(parameter.help or "")
    }
    assert writing.keys() == OUTPUTS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--output-file", "--report"), ("--report", "--save-snapshot"), ("--write-baseline", "--output-file"),
        ("--output-file", "--snapshot"), ("--save-snapshot", "--snapshot"),
    ],
)  # fmt: skip
def test_two_results_do_not_share_a_file(one: str, other: str, tmp_path: Path) -> None:
    target = tmp_path / "x.json.gz"
    shutil.copy(SAMPLE, target)
    before = target.read_bytes()
    snapshot = () if "--snapshot" in (one, other) else ("--snapshot", SAMPLE)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(target)
    done = eosctl("doctor", *snapshot, one, target, other, tmp_path / "folder" / "link")
    assert (done.code, done.out) == (2, "")
    assert one in done.err
    assert other in done.err
    assert "name the same file" in done.err
    assert target.read_bytes() == before


def test_a_baseline_is_updated_and_streams_take_several(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    update = ("doctor", "--snapshot", SAMPLE, "--write-baseline", baseline)
    assert eosctl(*update).code == 3
    assert eosctl(*update, "--baseline", baseline).code == 0
    assert eosctl("doctor", "--snapshot", SAMPLE, "--output-file", "/dev/null", "--report", "/dev/null").code == 3
