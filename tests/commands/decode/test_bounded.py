"""Decoding takes no more memory for a larger file, and refuses what would blow up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
