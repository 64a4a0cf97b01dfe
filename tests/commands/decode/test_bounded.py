"""Decoding takes no more memory for a larger file, and refuses what would blow up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import google_crc32c
import pytest

from eosctl.analysis.decode.selection import Selection
from eosctl.render.decode.batches import log_writer
from eosctl.render.decode.formats import BytesForm, DecodeFormat
from eosctl.services.decode_input import DamageLog, Source
from eosctl.services.decode_logs import stream_logs
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.commands.decode.running import run

# Not getrusage: its maximum survives exec and would be that of the test runner, from which this process is forked.
PEAK = """
import re, sys
from pathlib import Path
from eosctl.cli import main
code = main(sys.argv[1:])
high_water_kib = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
sys.stderr.write(f"\\npeak {high_water_kib * 1024}\\n")
sys.exit(code)
"""
LIMIT_BYTES = 150 << 20
LOG = "00000000000000000000.log"


def peak_bytes(*arguments: object) -> int:
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(done.stderr.rsplit("peak ", 1)[1])


@pytest.mark.parametrize("options", [(), ("--records",), ("--summary",)])
def test_memory_does_not_follow_the_size_of_the_file(options: tuple[str, ...], tmp_path: Path) -> None:
    batch = encode_batch([Record(n, n, None, bytes(4_000)) for n in range(200)])
    log = tmp_path / LOG
    with log.open("wb") as file:
        for _ in range(300):  # 240 MB
            file.write(batch)
    assert log.stat().st_size > LIMIT_BYTES
    forms = () if "--summary" in options else ("--values", "none")
    assert peak_bytes("decode", "segment", log, *options, *forms) < LIMIT_BYTES


def test_a_decompression_bomb_is_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LOG).write_bytes(encode_batch([Record(0, 0, None, bytes(200 << 20))], codec=Compression.ZSTD))
    ran = run(capsys, "decode", "segment", tmp_path / LOG, "--records", "-o", "tsv")
    assert ran.code == 1
    assert "decompresses to more than" in ran.err


MANY = [Record(n, n, None, b"") for n in range(20_000)]


@pytest.mark.parametrize("form", [form for form in DecodeFormat if form is not DecodeFormat.KAFKA])
def test_records_of_one_batch_are_written_in_pieces(form: DecodeFormat, tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(encode_batch(MANY, codec=Compression.ZSTD))
    writer = log_writer(form, BytesForm.HEX, BytesForm.HEX)  # Plain text of batches of this size is quicker whole.
    damage = DamageLog(print, strict=True)
    source = Source(tmp_path / LOG, LOG)
    pieces = list(stream_logs([source], Selection(), writer, damage, deep=True, with_outcomes=False))
    counts = [piece.count("\n") for piece in pieces]
    assert sum(counts) - sum(count for count in counts if count < 1_000) == len(MANY)
    assert max(counts) < len(MANY) / 2


def test_records_before_the_malformed_one_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batch = encode_batch(MANY)
    place = len(batch) - 180  # The length of a record far behind the first piece is wrong.
    damaged = batch[:place] + b"\x7f" * 9 + batch[place + 9 :]
    checked = damaged[21:]
    whole = damaged[:17] + google_crc32c.value(checked).to_bytes(4, "big") + checked
    (tmp_path / LOG).write_bytes(whole)
    ran = run(capsys, "decode", "segment", tmp_path / LOG, "--records", "-o", "tsv", "--values", "hex")
    assert ran.code == 1
    assert "records-malformed" in ran.err
    assert 8_192 <= ran.out.count("record\t") < len(MANY)
