"""Lines without an effect, which programs log at each start: neither a problem nor the context of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import NOISE, is_error, is_problem
from tests.logs.judging import judge

NOISES = [
    "ERROR KafkaUtils: group.id is null, you should probably set it",
    "WARN KafkaUtils: overriding enable.auto.commit to false for executor",
    "WARN KafkaUtils: overriding executor group.id to spark-executor-null",
    "WARN ConsumerConfig: The configuration 'sink.flush' was supplied but isn't a known config.",
    "ERROR StatusLogger Reconfiguration failed: No configuration found for '4e0e2f2a' at 'null' in 'null'",
]


@pytest.mark.parametrize("line", NOISES)
def test_noise_is_neither_an_error_nor_a_problem(line: str, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(f"24/11/02 07:00:01 {line}\n24/11/02 07:00:02 INFO AppInfoParser: Kafka version : 3.5.1\n")
    (event,) = (one for one in scan_paths([path]).events if one.category == NOISE)
    assert not is_error(event) and not is_problem(event)


@pytest.mark.parametrize(
    ("line", "is_quoted"), [(NOISES[0], False), ("ERROR TaxTable: rates of 2024 are missing", True)]
)
def test_only_what_may_matter_is_quoted(line: str, is_quoted: bool, tmp_path: Path) -> None:
    failed = "ERROR Writer: Expiring 3 record(s) for taxes-0:120000 ms has passed since batch creation"
    text = f"24/11/02 07:00:01 {line}\n24/11/02 07:01:02 {failed}\n"
    (found,) = judge(tmp_path, {"job.log": text})
    assert ("the same program reports" in found.explanation) is is_quoted
