"""The job over Kafka's files on Spark: the same sums as in one process, and the files for executors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.kafka_data import DataSummary
from spark_log_analytics.kafka_data.business_key import parse_business_key
from spark_log_analytics.kafka_data.environment import build_environment
from spark_log_analytics.kafka_data.job import facts_frame, summarize_frame
from spark_log_analytics.kafka_data.local import summarize_here
from spark_log_analytics.kafka_data.pack import pack
from spark_log_analytics.kafka_data.plan import plan_partitions
from spark_log_analytics.submission import DATA_MAIN

pytestmark = pytest.mark.spark
STORAGE = Path(__file__).parents[1] / "fixtures" / "storage"
DATA = STORAGE / "k431-tv2-transactions" / "data"


def test_sums_equal_those_of_one_process(spark: Any) -> None:
    # Parts of three recorded clusters, which together have transactions, damage, and committed offsets.
    paths = [
        *(STORAGE / "k431-tv2-transactions" / "data").glob("*-?"),
        STORAGE / "k392-tv0-group-log" / "data" / "__consumer_offsets-1",
        STORAGE / "damaged-sequence-gap" / "data",
        STORAGE / "damaged-bitflip-payload" / "data" / "transfers-0",
    ]
    plan = plan_partitions(paths)
    facts = facts_frame(spark, plan, "key").persist()
    on_spark = summarize_frame(facts, plan, with_keys=True)
    facts.unpersist()
    assert on_spark == summarize_here(plan, parse_business_key("key"))
    assert on_spark.duplicate_key_count
    assert on_spark.groups


@pytest.mark.usefixtures("spark")
def test_a_failed_job_reports_it_and_leaves_no_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import PySparkException

    from spark_log_analytics.kafka_data.main import main

    def fail(*_: object, **__: object) -> Any:
        raise PySparkException("Job aborted.\nCaused by: java.io.IOException: No space left on device")

    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps(dict.fromkeys(DataSummary._fields)))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("spark_log_analytics.kafka_data.job.summarize_frame", fail)
    assert main([str(DATA), "--out", str(tmp_path)]) == 1
    told = "The job failed, and its result is not complete: java.io.IOException: No space left on device\n"
    assert capsys.readouterr().err.endswith(told)
    assert not summary.exists()
    assert main([str(DATA), "--out", str(tmp_path / "file" / "below")]) == 1
    assert "its result is not complete" in capsys.readouterr().err


@pytest.mark.usefixtures("spark")
def test_what_an_earlier_job_did_not_write_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.kafka_data.main import main

    notes = tmp_path / "partition_transaction-v1" / "notes.md"
    notes.parent.mkdir()
    for file in (notes, tmp_path / "summary.json"):
        file.write_text("precious")
        assert main([str(DATA), "--out", str(tmp_path)]) == 2
        assert str(file) in capsys.readouterr().err
        assert file.read_text() == "precious"
        file.unlink()
    assert main([str(DATA), "--out", str(tmp_path)]) == 0
    assert main([str(DATA), "--out", str(tmp_path)]) == 0


def unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    # tarfile has filters from Python 3.11.4 on only, and 3.12 warns without one.
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)


def test_the_package_has_everything_that_the_job_needs(tmp_path: Path) -> None:
    code, environment, program = pack(tmp_path)
    unpack(environment, tmp_path / "packages")
    reading = """
import sys
from pathlib import Path
from spark_log_analytics.kafka_data import job, local, main, plan, rows
print(len(local.summarize_here(plan.plan_partitions([Path(sys.argv[1])])).topics))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", reading, str(DATA)],
        env={"PYTHONPATH": f"{code}:{tmp_path / 'packages'}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["4"], done.stderr
    assert program.read_bytes() == DATA_MAIN.read_bytes()


def test_the_environment_is_enough_for_a_python_without_packages(tmp_path: Path) -> None:
    unpack(build_environment(tmp_path / "environment.tar.gz"), tmp_path / "packages")
    program = "import cramjam, google_crc32c; print(google_crc32c.value(b'123456789'), google_crc32c.implementation)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(tmp_path / "packages")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(0xE3069283), "c"]
