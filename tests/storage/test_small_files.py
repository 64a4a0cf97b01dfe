"""Checkpoints and property files: as real brokers write them, and refused when damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.model.transaction import TopicPartition
from eosctl.storage import names
from eosctl.storage.atomic import replace_file
from eosctl.storage.checkpoints import (
    EpochStart,
    encode_epoch_checkpoint,
    encode_offset_checkpoint,
    read_epoch_checkpoint,
    read_offset_checkpoint,
    write_epoch_checkpoint,
    write_offset_checkpoint,
)
from eosctl.storage.errors import DamagedFile
from eosctl.storage.meta_properties import (
    MetaProperties,
    read_meta_properties,
    take_clean_shutdown,
    write_clean_shutdown,
    write_meta_properties,
)
from eosctl.storage.partition_metadata import read_partition_metadata, write_partition_metadata
from tests.storage.cases import FIXTURES

DAMAGED = ("damaged-leader-epoch-count", "damaged-partition-metadata")


def recorded(name: str) -> list[Path]:
    return [path for path in sorted(FIXTURES.rglob(name)) if path.relative_to(FIXTURES).parts[0] not in DAMAGED]


def test_recorded_leader_epochs() -> None:
    paths = recorded(names.LEADER_EPOCH_CHECKPOINT)
    assert len(paths) > 100
    for path in paths:
        assert encode_epoch_checkpoint(read_epoch_checkpoint(path)) == path.read_text()


@pytest.mark.parametrize(
    "name",
    [
        names.RECOVERY_POINT_CHECKPOINT,
        names.LOG_START_CHECKPOINT,
        names.HIGH_WATERMARK_CHECKPOINT,
        names.CLEANER_CHECKPOINT,
    ],
)
def test_recorded_offset_checkpoints(name: str) -> None:
    paths = recorded(name)
    assert len(paths) > 10
    for path in paths:
        offsets = read_offset_checkpoint(path)
        if offsets:
            assert encode_offset_checkpoint(offsets) == path.read_text()
        else:
            assert not path.read_text().strip("0\n")


def test_recorded_partition_metadata(tmp_path: Path) -> None:
    paths = recorded(names.PARTITION_METADATA)
    assert len(paths) > 100
    for path in paths:
        topic_id = read_partition_metadata(path)
        assert len(topic_id) == 16
        write_partition_metadata(tmp_path / path.name, topic_id)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_recorded_meta_properties(tmp_path: Path) -> None:
    paths = recorded(names.META_PROPERTIES)
    assert len(paths) > 10
    for path in paths:
        properties = read_meta_properties(path.parent)
        assert (properties.version, len(properties.cluster_id), len(properties.directory_id)) == (1, 22, 22)
        write_meta_properties(tmp_path, properties)
        assert read_meta_properties(tmp_path) == properties
        written = (tmp_path / path.name).read_text().splitlines()
        assert sorted(written) == sorted(line for line in path.read_text().splitlines() if not line.startswith("#"))


def test_recorded_clean_shutdowns(tmp_path: Path) -> None:
    paths = recorded(names.CLEAN_SHUTDOWN)
    assert len(paths) > 10
    for path in paths:
        (tmp_path / path.name).write_bytes(path.read_bytes())
        epoch = take_clean_shutdown(tmp_path)
        assert epoch is not None
        assert take_clean_shutdown(tmp_path) is None
        write_clean_shutdown(tmp_path, epoch)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"brokerEpoch": null}', b"\xff"])
def test_a_clean_shutdown_without_epoch_is_still_one(content: bytes, tmp_path: Path) -> None:
    (tmp_path / names.CLEAN_SHUTDOWN).write_bytes(content)
    assert take_clean_shutdown(tmp_path) == -1


def test_meta_properties_of_a_zookeeper_broker(tmp_path: Path) -> None:
    (tmp_path / names.META_PROPERTIES).write_text("#c\nbroker.id=7\ncluster.id=ab\\=c\nversion=0\n")
    assert read_meta_properties(tmp_path) == MetaProperties(7, "ab=c", "", 0)


@pytest.mark.parametrize(
    "text",
    ["", "version=2\nnode.id=1\n", "version=1\n", "version=1\nnode.id=one\n", f"version=1\nnode.id={'9' * 5000}\n"],
)
def test_malformed_meta_properties_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / names.META_PROPERTIES).write_text(text)
    with pytest.raises(DamagedFile, match=r"meta\.properties"):
        read_meta_properties(tmp_path)


@given(
    st.dictionaries(
        st.builds(TopicPartition, st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True), st.integers(0, 9999)),
        st.integers(0, 2**63 - 1),
        max_size=5,
    ),
    st.lists(st.builds(EpochStart, st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)), max_size=5),
)
def test_checkpoints_come_back(
    tmp_path_factory: pytest.TempPathFactory, offsets: dict[TopicPartition, int], epochs: list[EpochStart]
) -> None:
    directory = tmp_path_factory.getbasetemp() / "checkpoints"
    write_offset_checkpoint(directory / "offsets", offsets)
    assert read_offset_checkpoint(directory / "offsets") == offsets
    write_epoch_checkpoint(directory / "epochs", epochs, sync=True)
    assert read_epoch_checkpoint(directory / "epochs") == epochs
    assert sorted(path.name for path in directory.iterdir()) == ["epochs", "offsets"]


def test_absent_and_empty_checkpoints_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert read_offset_checkpoint(tmp_path / "empty") == {}
    assert read_offset_checkpoint(tmp_path / "none") == {}
    assert read_epoch_checkpoint(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"1\n", 2),
        (b"1\n0\n", 1),
        (b"0\nmany\n", 2),
        (b"0\n2\n0 0\n", 2),
        (b"0\n0\n0 0\n", 2),
        (b"0\n1\n0 0 0\n", 3),
        (b"0\n2\n0 0\n1\n", 4),
        (b"0\n1\n0 x\n", 3),
        (b"0\n1\n\xff 0\n", 1),
    ],
)
def test_malformed_checkpoints_are_refused_with_file_and_line(content: bytes, line: int, tmp_path: Path) -> None:
    path = tmp_path / names.LEADER_EPOCH_CHECKPOINT
    path.write_bytes(content)
    with pytest.raises(DamagedFile) as error:
        read_epoch_checkpoint(path)
    assert error.value.offset == line
    assert str(path) in str(error.value)


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_recordings_are_refused(case: str) -> None:
    with pytest.raises(DamagedFile):
        for path in sorted((FIXTURES / case).rglob(names.LEADER_EPOCH_CHECKPOINT)):
            read_epoch_checkpoint(path)
        for path in sorted((FIXTURES / case).rglob(names.PARTITION_METADATA)):
            read_partition_metadata(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version: 1\ntopic_id: K-yK4E5STjmhrk7TR0084w",
        "version: 0\ntopic_id: K-yK4E5STjmhrk7TR0084",
        "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        "version: 0",
        "version 0",
    ],
)
def test_malformed_partition_metadata_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / names.PARTITION_METADATA
    path.write_text(text)
    with pytest.raises(DamagedFile):
        read_partition_metadata(path)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    replace_file(path, b"first")
    reader = path.open("rb")
    replace_file(path, b"second", sync=True)
    with reader:
        assert reader.read() == b"first"
    assert path.read_bytes() == b"second"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_full_disk_leaves_no_unfinished_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "checkpoint"
    replace_file(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new", sync=True)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("sign", ["\v", "\f", "\x1c", "\x85", "\u2028"])
def test_lines_end_as_java_reads_them(sign: str, tmp_path: Path) -> None:
    """A broker refuses what only other programs take for several lines."""
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_bytes(b"0\r1\r\n0 0\n")
    assert len(read_epoch_checkpoint(path)) == 1
    path.write_text(f"0{sign}1{sign}0 0{sign}", "utf-8")
    with pytest.raises(DamagedFile):
        read_epoch_checkpoint(path)
