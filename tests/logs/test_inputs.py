"""Inputs without random access: standard input, pipes, and archives."""

from __future__ import annotations

import io
import os
import stat
import sys
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.logs.files import inputs
from eosctl.logs.scan import LogScan, scan_paths
from tests.commands.conftest import eosctl
from tests.logs.test_pasted import TEXT

pytestmark = pytest.mark.usefixtures("own_home")

FILES = {"kafka-2/server.log": TEXT.encode(), "notes.md": b"# no log\n", "kafka-2/empty.log": b""}


def tar(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), 1_795_000_000
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def rollbacks(scan: LogScan) -> list[tuple[str, int, str]]:
    return [(one.file, one.line, one.application) for one in scan.events if one.category == "TXN_TIMEOUT_ABORT"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bundle.tgz", tar(FILES)),
        ("bundle.tar", tar(FILES, "w")),
        ("bundle.tar.bz2", tar(FILES, "w:bz2")),
        ("bundle.tar.xz", tar(FILES, "w:xz")),
        ("bundle.zip", zipped(FILES)),
    ],
)
@pytest.mark.parametrize("is_below", [False, True])
def test_the_members_of_an_archive_are_files(name: str, data: bytes, is_below: bool, tmp_path: Path) -> None:
    archive = tmp_path / name
    archive.write_bytes(data)
    scan = scan_paths([tmp_path if is_below else archive])
    assert rollbacks(scan) == [(f"{archive}/kafka-2/server.log", 5, "kafka-2")]
    assert [one for one in scan.unread if one.is_failure] == []
    assert {source.file for source in scan.sources} == {f"{archive}/kafka-2/{one}.log" for one in ("server", "empty")}


def test_a_log_at_the_top_of_an_archive_is_of_the_archive(tmp_path: Path) -> None:
    (tmp_path / "broker-7.zip").write_bytes(zipped({"server.log": TEXT.encode()}))
    assert [application for _, _, application in rollbacks(scan_paths([tmp_path]))] == ["broker-7"]


def test_a_damaged_archive_is_named_and_read_up_to_the_damage(tmp_path: Path) -> None:
    whole = tar({"server.log": TEXT.encode(), "other.log": os.urandom(400_000)})
    (tmp_path / "bundle.tgz").write_bytes(whole[: len(whole) // 2])
    scan = scan_paths([tmp_path / "bundle.tgz"])
    assert len(rollbacks(scan)) == 1
    bundle = str(tmp_path / "bundle.tgz")
    assert [(one.name, one.is_failure) for one in scan.unread] == [(f"{bundle}/other.log", True), (bundle, True)]


def test_an_archive_that_unpacks_to_too_much_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_UNPACKED_BYTES", 3_000_000)
    bomb = zipped({"a.log": TEXT.encode(), "b.log": b"\0" * 20_000_000, "c.log": b"x" * 20_000_000})
    (tmp_path / "bomb.zip").write_bytes(bomb)
    scan = scan_paths([tmp_path / "bomb.zip"])
    (unread,) = (one for one in scan.unread if one.is_failure)
    assert "more than 3,000,000 bytes" in unread.reason
    assert len(rollbacks(scan)) == 1
    assert sum(source.size_bytes for source in scan.sources) <= 3_000_000


def test_no_member_is_written_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    names = ("../../outside.log", str(outside), "..\\..\\outside.log")
    (tmp_path / "bundle.zip").write_bytes(zipped({name: TEXT.encode() for name in names}))
    scan = scan_paths([tmp_path / "bundle.zip"])
    assert rollbacks(scan)
    assert not outside.exists()


def test_archives_that_cannot_be_opened_are_reported(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(TEXT)
    (tmp_path / "more.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(300))
    done = eosctl("logs", "report", tmp_path)
    assert done.code == 4
    assert "more.7z: a 7z archive: unpack it first" in done.out + done.err


@pytest.mark.parametrize("data", [TEXT.encode(), tar({"server.log": TEXT.encode()}), b"\xef\xbb\xbf" + TEXT.encode()])
def test_standard_input_is_read(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    said: list[str] = []
    scan = scan_paths([Path("-")], progress=said.append)
    ((file, line, _),) = rollbacks(scan)
    assert (file.partition("/")[0], line, said[0]) == ("stdin", 5, "standard input, until it ends")


def test_a_pipe_is_read_and_says_what_it_waits_for(tmp_path: Path) -> None:
    pipe = tmp_path / "server.log"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TEXT))
    writer.start()
    said: list[str] = []
    scan = scan_paths([pipe], progress=said.append)
    writer.join()
    assert [(file, line) for file, line, _ in rollbacks(scan)] == [(str(pipe), 5)]
    assert said[0] == f"{pipe}, a pipe, until its writer closes it"


def test_a_pipe_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "server.log").write_text(TEXT)
    assert len(rollbacks(scan_paths([tmp_path]))) == 1


def test_commands_read_standard_input() -> None:
    assert "till-9" in eosctl("logs", "report", "-", stdin=TEXT).out
    assert "stdin" in eosctl("logs", "scan", "-", "-o", "json", stdin=TEXT).out
    assert "IllegalStateException" in eosctl("logs", "exceptions", "-", stdin=TEXT).out
    assert "till-9" in eosctl("doctor", "--logs", "-", "-o", "json", stdin=TEXT).out


@pytest.mark.parametrize("names", [("a.log", "a.log"), ("a.log", "/a.log"), ("x/a.log", "../x\\a.log"), ("//b", "/b")])
def test_members_of_one_name_are_reported(names: tuple[str, str], tmp_path: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(TEXT.encode())
            archive.addfile(member, io.BytesIO(TEXT.encode()))
    (tmp_path / "logs.tar").write_bytes(data.getvalue())
    scan = scan_paths([tmp_path / "logs.tar"])
    (lost,) = scan.unread
    assert (lost.reason, lost.is_failure) == ("a later file of the archive has its name", True)
    assert rollbacks(scan)


def test_names_of_members_that_no_file_can_have(tmp_path: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("nul\0.log", "", "..", "/", "//", "\\", "\udcff.log", "a" * 300):
            member = tarfile.TarInfo("a.log")
            member.pax_headers = {"path": name}
            member.size = len(TEXT.encode())
            archive.addfile(member, io.BytesIO(TEXT.encode()))
    (tmp_path / "logs.tar").write_bytes(data.getvalue())
    scan = scan_paths([tmp_path / "logs.tar"])
    assert any("File name too long" in one.reason for one in scan.unread)
    assert rollbacks(scan)


def test_an_archive_of_too_many_files_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_MEMBERS", 3)
    (tmp_path / "few.zip").write_bytes(zipped({f"{number}.log": TEXT.encode() for number in range(3)}))
    (tmp_path / "many.zip").write_bytes(zipped({f"{number}.log": TEXT.encode() for number in range(4)}))
    assert scan_paths([tmp_path / "few.zip"]).unread == ()
    scan = scan_paths([tmp_path / "many.zip"])
    assert [one.reason for one in scan.unread] == ["the archives have more than 3 files"]
    assert len(scan.sources) == 3


def packed(kind: str, links: dict[str, str]) -> bytes:
    """Return an archive with a log, and symbolic links, or hard ones where a target begins with ``=``."""
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("kafka/server.log.1", TEXT)
            for name, target in links.items():
                entry = zipfile.ZipInfo(name)
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
                archive.writestr(entry, target)
        return data.getvalue()
    with tarfile.open(fileobj=data, mode="w:gz") as packing:
        for name, target in links.items():
            link = tarfile.TarInfo(name)
            link.type = tarfile.LNKTYPE if target.startswith("=") else tarfile.SYMTYPE
            link.linkname = target.removeprefix("=")
            packing.addfile(link)
        member = tarfile.TarInfo("kafka/server.log.1")
        member.size = len(TEXT.encode())
        packing.addfile(member, io.BytesIO(TEXT.encode()))
    return data.getvalue()


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_links_out_of_an_archive_are_reported(kind: str, tmp_path: Path) -> None:
    inside = {"kafka/server.log": "server.log.1", "now": "kafka", "a/b": "../kafka/./server.log.1"}
    lost = {"a.log": "/etc/hostname", "kafka/b.log": "../../b.log", "c.log": "gone.log"}
    hard = {"d.log": "=kafka/server.log.1", "e.log": "=gone.log"} if kind == "tar.gz" else {}
    (tmp_path / f"logs.{kind}").write_bytes(packed(kind, inside | lost | hard))
    scan = scan_paths([tmp_path / f"logs.{kind}"])
    names = {Path(one.name).name for one in scan.unread}
    assert names == {"a.log", "b.log", "c.log", *(["e.log"] if hard else [])}
    assert all(one.is_failure and "not in the archive" in one.reason for one in scan.unread)
    assert len(rollbacks(scan)) == 1
