"""Names of directories and files go both ways."""

from __future__ import annotations

import pytest

from eosctl.storage.names import (
    DirectoryState,
    FileState,
    PartitionDirectory,
    SegmentFile,
    Suffix,
    parse_partition_directory,
    parse_segment_file,
    partition_directory_name,
    segment_file_name,
)
from tests.storage.cases import FIXTURES


def test_every_recorded_name_is_known() -> None:
    for directory in FIXTURES.glob("*/data*/*/"):
        parsed = parse_partition_directory(directory.name)
        assert parsed is not None
        assert parsed.name == directory.name
        for path in directory.iterdir():
            segment_file = parse_segment_file(path.name)
            if segment_file is None:
                assert path.name in ("leader-epoch-checkpoint", "partition.metadata")
            else:
                assert segment_file.name == path.name


@pytest.mark.parametrize("state", FileState)
@pytest.mark.parametrize("suffix", Suffix)
def test_segment_files(suffix: Suffix, state: FileState) -> None:
    name = segment_file_name(42, suffix) + state
    assert name.startswith("00000000000000000042.")
    assert parse_segment_file(name) == SegmentFile(42, suffix, state)
    assert SegmentFile(42, suffix, state).name == name


@pytest.mark.parametrize(
    "name",
    ["42.log", "00000000000000000042", "00000000000000000042.txt", "00000000000000000042.log.tmp", "٠" * 20 + ".log"],
)
def test_other_files_are_none_of_a_segment(name: str) -> None:
    assert parse_segment_file(name) is None


def test_partition_directories() -> None:
    assert partition_directory_name("a-b", 3) == "a-b-3"
    assert parse_partition_directory("a-b-3") == PartitionDirectory("a-b", 3)
    unique = "0123456789abcdef0123456789abcdef"
    for state in (DirectoryState.DELETE, DirectoryState.FUTURE, DirectoryState.STRAY):
        directory = PartitionDirectory("orders", 0, state, unique)
        assert directory.name == f"orders-0.{unique}{state}"
        assert parse_partition_directory(directory.name) == directory
    assert len(PartitionDirectory("t" * 249, 12345, DirectoryState.DELETE, unique).name) == 255
    for other in ("lost+found", "orders", "orders-", "orders-x", "__cluster_metadata", "orders-0.tmp", "ordérs-0"):
        assert parse_partition_directory(other) is None
