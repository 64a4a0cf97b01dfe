"""The code that goes to Spark's executors runs from its archive alone."""

import os
import subprocess
import sys
from pathlib import Path

from spark_log_analytics.archive import SHIPPED, SHIPPED_FOR_DATA, build_archive, shipped_files


def run_from(archive: Path, program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=archive.parent,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_archive_reads_records_and_names_a_damaged_field(tmp_path: Path) -> None:
    archive = build_archive(tmp_path / "eosctl.zip", SHIPPED_FOR_DATA)
    program = (
        "from eosctl.wire.internal import transaction_log as log\n"
        "value = log.TransactionValue(5, 1, 60_000, 1)\n"
        "data = log.encode_value(value, 1)\n"
        "assert log.__file__.startswith({archive!r}), log.__file__\n"
        "assert log.decode_value(data).producer_id == 5\n"
        "log.decode_value(data[:12])\n"
    )
    done = run_from(archive, program.format(archive=str(archive)))
    where = "needs 4 bytes, 0 left (field transaction_timeout_ms at byte 12)"
    assert done.stderr.splitlines()[-1] == f"eosctl.wire.errors.WireError: TransactionLog value: {where}"


def test_the_scan_ships_its_imports_and_data_and_nothing_else() -> None:
    names = set(shipped_files(SHIPPED))
    assert "eosctl/logs/classifier/catalog.toml" in names
    assert "eosctl/logs/topics/consumer.py" in names, "imports in functions count"
    reference = "eosctl/knowledge/reference"
    read_by_name = {"eosctl/knowledge/__init__.py", f"{reference}/__init__.py", f"{reference}/client_errors.tsv"}
    assert read_by_name <= names, "a package that no import names"
    assert "eosctl/logs/__init__.py" in names
    assert not [name for name in names if name.startswith(("eosctl/findings", "eosctl/storage", "eosctl/commands"))]
    assert names < set(shipped_files(SHIPPED_FOR_DATA))
