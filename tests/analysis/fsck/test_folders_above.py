"""A directory is checked for what it holds, not for what its name looks like."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.storage.cases import FIXTURES

pytestmark = pytest.mark.usefixtures("own_home")

HEALTHY = FIXTURES / "k392-tv0-codecs" / "data"


def damaged(folder: Path) -> Path:
    """Copy recorded data to a folder, with a changed byte in a log."""
    shutil.copytree(HEALTHY, folder)
    log = max(folder.rglob("*.log"), key=lambda path: path.stat().st_size)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 0xFF
    log.write_bytes(data)
    return folder


@pytest.mark.parametrize("layout", ["data", "broker-1", "copies/broker-1", "data-0/kafka-log0", "a/b/c/kafka-log-0"])
def test_data_directories_below_a_folder_are_checked(layout: str, tmp_path: Path) -> None:
    damaged(tmp_path / "above" / layout)
    done = eosctl("fsck", tmp_path / "above", "-o", "json")
    assert done.code == 3, done.out
    assert {one["kind"] for one in done.json["items"]} & {"crc-mismatch", "bad-length", "records-malformed"}


def test_several_brokers_below_a_folder_are_one_cluster(tmp_path: Path) -> None:
    for number in (1, 2):
        shutil.copytree(HEALTHY, tmp_path / f"broker-{number}")
    alone, both = (eosctl("fsck", path, "-o", "json") for path in (tmp_path / "broker-1", tmp_path))
    assert (alone.code, both.code) == (0, 0)
    assert both.json["partition_count"] == 2 * alone.json["partition_count"] > 0


def test_a_folder_that_only_looks_like_a_partition_is_named(tmp_path: Path) -> None:
    (tmp_path / "data" / "orders-0").mkdir(parents=True)
    done = eosctl("fsck", tmp_path / "data", "--require-complete")
    assert done.code == 4
    assert "orders-0 was not checked: it holds no file of a partition" in done.out


def test_the_log_of_a_moving_replica_is_named(tmp_path: Path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(HEALTHY, copy)
    partition = next(path for path in sorted(copy.iterdir()) if path.is_dir() and list(path.glob("*.log")))
    moving = f"{partition.name}.{'0' * 32}-future"
    shutil.copytree(partition, copy / moving)
    done = eosctl("fsck", copy, "--require-complete")
    assert done.code == 4
    assert f"{moving} was not checked" in done.out
