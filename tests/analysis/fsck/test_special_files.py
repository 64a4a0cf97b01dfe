"""A pipe where Kafka has a file is reported by its name; without a writer, opening it would never return."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from eosctl.model.fsck import FsckSeverity
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.storage.regular_file import read_regular
from tests.analysis.fsck.test_recorded_cases import check
from tests.commands.conftest import eosctl, own_home
from tests.storage.cases import FIXTURES

__all__ = ["own_home"]
CASE = next(path for path in sorted(FIXTURES.glob("*/data*")) if list(path.rglob("*.txnindex")))
FILES = sorted(
    str(path.relative_to(CASE))
    for path in CASE.rglob("*")
    if path.suffix in {".log", ".index", ".timeindex", ".txnindex", ".snapshot"}
    or "checkpoint" in path.name
    or path.name == "partition.metadata"
)


def with_pipe(name: str, folder: Path) -> Path:
    copy = folder / "data"
    shutil.copytree(CASE, copy)
    (copy / name).unlink(missing_ok=True)
    os.mkfifo(copy / name)
    return copy


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_fsck_reads_must_be_a_regular_one(name: str, tmp_path: Path) -> None:
    found = [one for one in check(with_pipe(name, tmp_path)) if "not a regular file" in one.message]
    assert [name in f"{one.message} {one.file}" for one in found] == [True]
    assert found[0].severity is FsckSeverity.ERROR


def test_the_properties_of_the_directory_too(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        read_meta_properties(with_pipe("meta.properties", tmp_path))


def test_the_command_names_the_file(tmp_path: Path) -> None:
    result = eosctl("fsck", str(with_pipe("meta.properties", tmp_path)))
    assert result.code == 1
    assert "meta.properties" in result.err
    assert "It is not a regular file" in result.err


def test_a_device_and_a_folder_are_not_regular_files(tmp_path: Path) -> None:
    for path in (Path("/dev/null"), tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            read_regular(path)
