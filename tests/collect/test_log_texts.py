"""Logs of a bundle are read by content: in every encoding, codec, archive, and name, a secret is masked or left out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.collect.bundles.bundle_parts import log_parts
from eosctl.model.bundle import MissingPart
from tests.model.positions import CANARY

LINES: Final = "[2026-11-21 09:00:00,123] INFO before (x.Y)\n" * 40
TEXT: Final = f"{LINES}[2026-11-21 09:00:00,123] ERROR fatal password={CANARY} (x.Y)\n{LINES}"
ENCODINGS: Final = (
    "utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be",
)  # fmt: skip


def _tar(data: bytes) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        entry = tarfile.TarInfo("kafka/server.log")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def _zip(data: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("kafka/server.log", data)
    return whole.getvalue()


PACKINGS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "tar": _tar, "zip": _zip,
    "leading-nuls": lambda data: bytes(4_096) + data,
}  # fmt: skip
NAMES: Final = (
    b"server.log",
    b"server.log.1",
    b"x.log.gz",
    b"a.zip",
    b"b\xff.log",
    b"t.tgz",
    b"no-ending",
    b"a:b\\c\n",
)


def bundled(path: Path) -> tuple[dict[str, bytes], list[MissingPart]]:
    missing: list[MissingPart] = []
    return {part.name: b"".join(part.pieces) for part in log_parts([path], missing)}, missing


@given(
    st.sampled_from(ENCODINGS),
    st.lists(st.sampled_from(sorted(PACKINGS)), max_size=3),
    st.sampled_from(NAMES),
    st.integers(0, 3),
)
def test_no_packing_carries_a_secret_out(
    tmp_path_factory: pytest.TempPathFactory, encoding: str, packings: list[str], name: bytes, cut: int
) -> None:
    data = TEXT.encode(encoding)
    for packing in packings:
        data = PACKINGS[packing](data)
    path = Path(os.fsdecode(os.fsencode(tmp_path_factory.mktemp("logs")) + b"/" + name))
    path.write_bytes(data[: len(data) - cut])
    parts, missing = bundled(path)
    assert all(CANARY.encode() not in text for text in parts.values())
    for part_name, text in parts.items():
        part_name.encode()
        assert (text.count(b"before"), text.count(b"[hidden]")) == (80, 1), (encoding, packings)
    for one in missing:
        one.what.encode()
        assert one.reason
    assert parts or missing
    if not cut and len(packings) < 2 and "leading-nuls" not in packings:
        assert parts, missing


@pytest.mark.parametrize("name", ["00000000000000000000.log", "core.log"])
def test_what_is_not_text_is_listed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((bytes(range(32)) + b"password=" + CANARY.encode()) * 9)
    parts, (missing,) = bundled(path)
    assert (parts, missing.what) == ({}, str(path))
    assert missing.reason


def test_binary_data_behind_text_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(LINES.encode() * 9 + gzip.compress(os.urandom(9_000) + TEXT.encode()))
    parts, (missing,) = bundled(path)
    assert set(parts["logs/000-server.log"].splitlines()) == set(LINES.encode().splitlines())
    assert "at its end are not text" in missing.reason


def test_a_directory_lists_what_it_did_not_read(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(TEXT)
    (tmp_path / "client.properties").write_text("acks=all\n")
    (tmp_path / "logs.zip").write_bytes(_zip(TEXT.encode()))
    parts, (missing,) = bundled(tmp_path)
    assert sorted(parts) == ["logs/000-server.log", "logs/001-server.log"]
    assert missing.what.endswith("client.properties")


@pytest.mark.parametrize("pack", [bytes, _tar, _zip])
def test_links_out_of_a_directory_are_listed(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    logs, other = tmp_path / "logs", tmp_path / "other"
    (logs / "old").mkdir(parents=True)
    other.mkdir()
    (logs / "server.log").write_text(TEXT)
    (other / "private").write_bytes(pack(TEXT.encode()))
    (logs / "application").symlink_to(other / "private")
    (logs / "sub").symlink_to(other)
    (logs / "current.log").symlink_to(logs / "server.log")
    (logs / "older").symlink_to(logs / "old")
    missing: list[MissingPart] = []
    parts = list(log_parts([logs], missing))
    assert [part.name for part in parts] == ["logs/000-current.log"]
    assert {part.what: part.reason for part in missing} == {
        str(logs / "application"): f"a link to {other / 'private'}; to bundle that, name it",
        str(logs / "sub"): "a link to another folder; to read that, name it",
    }


def test_a_link_to_a_place_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "one.log").write_text(TEXT)
    (tmp_path / "logs" / "a.log").symlink_to(tmp_path / "one.log")
    for paths in ([tmp_path / "logs" / "a.log"], [tmp_path / "logs", tmp_path / "one.log"]):
        missing: list[MissingPart] = []
        assert len(list(log_parts(paths, missing))) == 1
        assert not missing
