"""The page of exit codes lists every code that a command can end with."""

from __future__ import annotations

import re
from pathlib import Path

from eosctl.errors import ExitCode
from eosctl.model.runbook_run import EXIT_CODES


def test_the_page_lists_every_exit_code(project_root: Path) -> None:
    page = (project_root / "docs" / "reference" / "exit-codes.md").read_text("utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == {*ExitCode, *EXIT_CODES.values()}
