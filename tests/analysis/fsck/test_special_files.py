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
from tests.commands.conftest import eosctl
from tests.storage.cases import FIXTURES

pytestmark = pytest.mark.usefixtures("own_home")
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "It is not a regular file"),
        ("version=9\nnode.id=1\n", "version '9', known are 0 and 1"),
        ("version=1\nnode.id=one\n", "node id 'one'"),
    ],
)
def test_an_unreadable_identity_hides_no_other_damage(text: str | None, reason: str, tmp_path: Path) -> None:
    directory = with_pipe("meta.properties", tmp_path)
    if text is not None:
        (directory / "meta.properties").unlink()
        (directory / "meta.properties").write_text(text)
    (directory / "replication-offset-checkpoint").write_text("nonsense\n1\n")
    result = eosctl("fsck", str(directory), "-o", "json")
    assert result.code == 3
    found = {(one["kind"], one["file"]): one["message"] for one in result.json["items"]}
    assert reason in found["meta-properties-malformed", "meta.properties"]
    assert ("checkpoint-malformed", "replication-offset-checkpoint") in found


def test_a_link_to_nowhere_is_not_an_absent_identity(tmp_path: Path) -> None:
    directory = with_pipe("meta.properties", tmp_path)
    (directory / "meta.properties").unlink()
    assert "meta-properties-malformed" not in {one.kind for one in check(directory)}
    (directory / "meta.properties").symlink_to("away")
    assert "meta-properties-malformed" in {one.kind for one in check(directory)}


def test_a_device_and_a_folder_are_not_regular_files(tmp_path: Path) -> None:
    for path in (Path("/dev/null"), tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            read_regular(path)
