"""A bad member of an archive is reported, and hides neither those behind it nor other inputs."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.files import inputs
from eosctl.logs.files.inputs import opened_inputs
from eosctl.logs.files.sources import find_files

GOOD = b"2026-11-30 10:00:00,000 INFO [Broker] A line that is read (kafka.server.KafkaServer)\n"
LONG = "x" * 300
Maker = Callable[[Path], None]


def read(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return the content of what is read of an input, and the names of what is not."""
    with opened_inputs([path]) as opened:
        files = [file for one in opened.paths if one != path for file in find_files([one])]
        return {opened.name_of(str(file)): Path(file).read_bytes() for file in files}, [
            one.name for one in opened.unread
        ]


def tar(*members: tuple[str, dict[str, str]], mode: str = "w:gz") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode, format=tarfile.PAX_FORMAT) as archive:
        for name, headers in members:
            entry = tarfile.TarInfo(name)
            entry.size, entry.pax_headers = len(GOOD), headers
            archive.addfile(entry, io.BytesIO(GOOD))
    return data.getvalue()


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, GOOD)
    return data.getvalue()


def with_bad_first_member(data: bytes) -> bytes:
    """Change the checksum of a zip's first member, in its own header and in the directory."""
    place = data.index(b"PK\1\2")
    return data[: place + 16] + struct.pack("<I", 1) + data[place + 20 :]


def encrypted_first_member(data: bytes) -> bytes:
    place = data.index(b"PK\1\2")
    return data[:6] + b"\1" + data[7 : place + 8] + b"\1" + data[place + 9 :]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("long.tgz", tar((LONG, {}), ("server.log", {}))),
        ("long.zip", zipped(LONG, "server.log")),
        ("deep.tgz", tar(("/".join("d" * 200 for _ in range(30)), {}), ("server.log", {}))),
        ("crc.zip", with_bad_first_member(zipped("first.log", "server.log"))),
        ("encrypted.zip", encrypted_first_member(zipped("first.log", "server.log"))),
        ("a file and a folder.tgz", tar(("logs", {}), ("logs/first.log", {}), ("server.log", {}))),
        ("a folder and a file.zip", zipped("logs/first.log", "logs", "server.log")),
    ],
)
def test_members_behind_a_bad_one_are_read(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    found, unread = read(path)
    assert found[f"{path}/server.log"] == GOOD
    assert len(unread) == 1
    assert unread[0].startswith(f"{path}/")


@pytest.mark.parametrize("mtime", ["nan", "inf", "-inf", "1e30", "-1e30", "99999999999999"])
def test_a_member_with_an_impossible_time_is_read(mtime: str, tmp_path: Path) -> None:
    path = tmp_path / "times.tgz"
    path.write_bytes(tar(("server.log", {"mtime": mtime})))
    assert read(path) == ({f"{path}/server.log": GOOD}, [])


def test_a_zip_whose_name_cannot_be_decoded_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "names.zip"
    path.write_bytes(zipped("sérver.log").replace("sérver".encode(), b"s\xff\xferver"))
    assert read(path)[1] == [str(path)]


def test_a_cut_archive_is_read_up_to_near_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "cut.tar.gz"
    body = b"".join(
        b"2026-11-30 10:00:00,000 INFO line %d %s\n" % (one, os.urandom(20).hex().encode()) for one in range(5000)
    )
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo("server.log")
        entry.size = len(body)
        archive.addfile(entry, io.BytesIO(body))
    path.write_bytes(data.getvalue()[: len(data.getvalue()) // 2])
    found, unread = read(path)
    assert len(found[f"{path}/server.log"]) > len(body) // 4
    assert unread


def test_the_limits_hold_for_all_archives_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_UNPACKED_BYTES", 3 * len(GOOD))
    for number in range(6):
        (tmp_path / f"{number}.zip").write_bytes(zipped("server.log"))
    with opened_inputs([tmp_path]) as opened:
        sizes = [Path(file).stat().st_size for one in opened.paths if one != tmp_path for file in find_files([one])]
        assert sum(sizes) <= 3 * len(GOOD)
        assert {Path(one.name).name for one in opened.unread} == {"3.zip", "4.zip", "5.zip"}


WHOLE = {
    "a.tgz": tar(("a.log", {}), ("b.log", {})),
    "a.tar": tar(("a.log", {}), ("b.log", {}), mode="w"),
    "a.zip": zipped("a.log", "b.log"),
}


@given(
    name=st.sampled_from(sorted(WHOLE)),
    changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4),
    cut=st.integers(0, 10_000),
)
def test_a_damaged_archive_ends_in_a_report(
    name: str, changes: list[tuple[int, int]], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    data = bytearray(WHOLE[name])
    for place, byte in changes:
        data[place % len(data)] = byte
    (folder / name).write_bytes(bytes(data[: len(data) - cut % len(data)]) if cut % 3 == 0 else bytes(data))
    read(folder / name)
