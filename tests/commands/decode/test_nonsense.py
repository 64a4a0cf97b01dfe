"""Bytes that no broker writes are damage in each kind of file, and nothing that brokers wrote is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from eosctl.services.decode_entries import (
    CHECKPOINTS,
    PRODUCER_SNAPSHOTS,
    TXN_INDEXES,
    EntryFiles,
    offset_indexes,
    read_entries,
    time_indexes,
)
from eosctl.services.decode_input import DamageLog, Source
from tests.commands.conftest import eosctl
from tests.commands.decode.running import run
from tests.storage.cases import healthy_partitions

NAMES = {
    "index": "00000000000000000000.index",
    "time-index": "00000000000000000000.timeindex",
    "txn-index": "00000000000000000000.txnindex",
    "producer-snapshot": "00000000000000000123.snapshot",
    "checkpoint": "leader-epoch-checkpoint",
    "segment": "00000000000000000000.log",
    "metadata-log": "00000000000000000000.log",
    "txn-log": "00000000000000000000.log",
    "offsets": "00000000000000000000.log",
}
#: 4,080 bytes are whole entries of every kind, so that only their content is wrong.
SIZE = 4_080
CONTENTS = {
    "ones": b"\xff" * SIZE,
    "twos": b"\x02" * SIZE,
    "counted": bytes(number % 256 for number in range(SIZE)),
    "noise": random.Random(7).randbytes(SIZE),
}
KINDS: list[EntryFiles] = [offset_indexes(), time_indexes(), TXN_INDEXES, PRODUCER_SNAPSHOTS, CHECKPOINTS]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("decoder", NAMES)
def test_nonsense_is_damage(decoder: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / NAMES[decoder]
    file.write_bytes(CONTENTS[content])
    ran = run(capsys, "decode", decoder, file)
    assert ran.code == 1
    assert f"damaged: {file}: " in ran.err
    assert len(ran.err.splitlines()) <= 3  # Not a line for each of many entries.
    strict = run(capsys, "decode", decoder, file, "--strict")
    assert (strict.code, len(strict.err.splitlines())) == (1, 1)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ("0\n1\n-1 0\n", "line 3: epoch -1"),
        ("0\n2\n5 7\n5 9\n", "line 4: epoch 5"),
        ("0\n2\n5 7\n6 3\n", "line 4: epoch 6"),
        ("0\n1\n1_0 2\n", "line 3: '1_0 2'"),
    ],
)
def test_leader_epochs_ascend(lines: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text(lines)
    ran = run(capsys, "decode", "checkpoint", tmp_path)
    assert ran.code == 1
    assert f"leader-epoch-checkpoint: {place}" in ran.err


def test_recorded_files_are_whole() -> None:
    reports: list[str] = []
    damage = DamageLog(reports.append, strict=True)
    read = 0
    for partition in healthy_partitions():
        for kind in KINDS:
            files = [Source(path, str(path)) for path in partition.path.iterdir() if kind.matches(path)]
            read += sum(len(list(entries)) for _, entries in read_entries(kind, files, damage))
    assert damage.count == 0, reports
    assert read > 1_000


DUMPED = "Dumping /var/lib/kafka/orders-0/00000000000000000000.log\nLog starting offset: 0\nbaseOffset: 0 count: 1\n"
TEXTS = {
    "dump": DUMPED.encode(),
    "short": b"no\n",
    "marked": DUMPED.encode("utf-8-sig"),
    "PowerShell": DUMPED.encode("utf-16"),
    "without a mark": DUMPED.encode("utf-16-le"),
    "colors": f"\x1b[32m{DUMPED}\x1b[0m".encode(),
    "other letters": "转储 /var/lib/kafka/orders-0\n".encode() * 40,
    "checkpoint": b"0\n1\norders 0 42\n",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("decoder", ["segment", "index", "time-index", "txn-index", "producer-snapshot"])
def test_text_is_not_called_a_damaged_file(decoder: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "replication-offset-checkpoint").write_bytes(TEXTS[text])
    done = eosctl("decode", decoder, tmp_path / "replication-offset-checkpoint")
    assert done.code == 2
    assert "is text, not a binary file" in done.err
    assert "damaged" not in done.out + done.err
