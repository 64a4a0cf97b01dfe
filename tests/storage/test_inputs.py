"""Files below a directory are all found, or it is an error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from eosctl.storage.inputs import find_files, is_segment_file
from eosctl.storage.names import Suffix
from tests.commands.conftest import eosctl

LOG = f"{0:020d}.log"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    for name in ("__transaction_state-0", "__transaction_state-1", "orders-0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / LOG).write_bytes(b"")
    return tmp_path


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, error: type[OSError], number: int) -> None:
    """Let the listing of a directory of this name fail; root may list every directory."""
    real = os.scandir

    def scandir(path: Any) -> Any:
        if os.fspath(path).endswith(name):
            raise error(number, os.strerror(number), os.fspath(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_files_are_sorted_within_a_directory(data_dir: Path) -> None:
    found = [path.parent.name for path in find_files([str(data_dir)], is_segment_file(Suffix.LOG))]
    assert found == ["__transaction_state-0", "__transaction_state-1", "orders-0"]


def test_a_directory_that_cannot_be_listed_is_an_error(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "-1", PermissionError, 13)
    with pytest.raises(PermissionError, match="__transaction_state-1"):
        list(find_files([str(data_dir)], is_segment_file(Suffix.LOG)))
    cases = ((("txn", "blame", "shop", "--data-dir"), 2), (("timeline", "--data-dir"), 2), (("decode", "segment"), 1))
    for words, code in cases:
        done = eosctl(*words, data_dir)
        assert done.code == code, words
        assert "__transaction_state-1" in done.err
        assert "Permission denied" in done.err


def test_a_directory_that_is_removed_meanwhile_is_none(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "-1", FileNotFoundError, 2)
    found = [path.parent.name for path in find_files([str(data_dir)], is_segment_file(Suffix.LOG))]
    assert found == ["__transaction_state-0", "orders-0"]
