"""Logs that were not read are gaps of a timeline and of a blame, next to others that were."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
STATE_LOG = Path(__file__).parents[1] / "fixtures" / "storage" / "fenced-1" / "data"
GOOD = b"".join(path.read_bytes() for path in sorted(LOGS.rglob("*.log")))
#: Files that no reader understands to their end, with a name of a log.
UNREAD = {
    "other.log": b"The quick fox jumps.\n" * 60, "other.log.gz": gzip.compress(GOOD)[:-600],
    "ebcdic.log": GOOD[:20_000].decode("utf-8", "replace").encode("cp037", "replace"),
    "broken.log.gz": b"\x1f\x8b\x08\x00broken", "packed.log": b"PK\x03\x04" + b"\1" * 400,
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_timeline_names_what_was_not_read(name: str, is_folder: bool, tmp_path: Path) -> None:
    good, bad = tmp_path / "server.log", tmp_path / name
    good.write_bytes(GOOD)
    words = ("timeline", "--transactional-id", "payment-relay-3", "--require-complete")
    assert eosctl(*words, "--logs", good).code == 0
    bad.write_bytes(UNREAD[name])
    places = ("--logs", tmp_path) if is_folder else ("--logs", good, "--logs", bad)
    done = eosctl(*words, *places)
    assert done.code == 4
    assert name in done.out + done.err


@pytest.mark.parametrize("name", UNREAD)
def test_a_blame_names_what_was_not_read(name: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "server.log", tmp_path / name
    good.write_bytes(GOOD)
    words = ("txn", "blame", "order-app", "--data-dir", STATE_LOG, "--require-complete")
    before = eosctl(*words, "--logs", good)
    bad.write_bytes(UNREAD[name])
    done = eosctl(*words, "--logs", good, "--logs", bad)
    assert name not in before.out + before.err
    assert done.code == 4
    assert name in done.out + done.err
