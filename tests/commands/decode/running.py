"""Run the program in this process."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from eosctl.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return Ran(code, out, err)
