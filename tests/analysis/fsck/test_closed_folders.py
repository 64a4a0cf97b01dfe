"""A directory that this user may not read is named, and the others are checked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import eosctl

DAMAGED = Path(__file__).parents[2] / "fixtures" / "storage" / "damaged-bitflip-payload" / "data"


@pytest.fixture
def close(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Return a function that closes a directory, also for root."""
    closed: set[str] = set()

    def refusing(read: Any) -> Any:
        def checked(path: Any = ".", *arguments: Any) -> Any:
            if str(path) in closed:
                raise PermissionError(13, "Permission denied", str(path))
            return read(path, *arguments)

        return checked

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(os, "listdir", refusing(os.listdir))
    monkeypatch.setattr(Path, "iterdir", refusing(Path.iterdir))
    return lambda path: closed.add(str(path))


@pytest.mark.parametrize(
    ("name", "is_above"),
    [
        ("orders-0", False), ("__transaction_state-3", False), ("strange", False), ("lost+found", False),
        ("strange", True), ("lost+found", True),
    ],
)  # fmt: skip
def test_the_rest_is_checked(name: str, is_above: bool, close: Callable[[Path], None], tmp_path: Path) -> None:
    shutil.copytree(DAMAGED, tmp_path / "data")
    folder = (tmp_path if is_above else tmp_path / "data") / name
    folder.mkdir()
    close(folder)
    done = eosctl("fsck", tmp_path, "-o", "json")
    assert done.code == 3
    kinds = {item["kind"]: item for item in done.json["items"]}
    assert "crc-mismatch" in kinds
    assert name in str(kinds["changed-while-read"])
