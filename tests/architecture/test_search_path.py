"""Programs that eosctl starts import nothing from the user's current directory."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.demo.steps import argument_vector
from eosctl.lab.verify.drivers.programs import prepare_driver
from eosctl.lab.verify.plan import ClientKind

STARTED = ("argparse", "asyncio", "json", "logging", "typing")


@pytest.mark.parametrize("started", ["eosctl version", "driver"])
def test_no_module_of_the_current_directory_runs(started: str, tmp_path: Path) -> None:
    for name in STARTED:
        (tmp_path / f"{name}.py").write_text("import pathlib\npathlib.Path('imported').touch()\n")
    command: Sequence[str]
    command = prepare_driver(ClientKind.LIBRDKAFKA, tmp_path) if started == "driver" else argument_vector(started)
    subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300)
    assert not (tmp_path / "imported").exists()
