"""Records with what JSON, calendars, and file systems allow and Python does not: none ends a run."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.timestamps import TimeReference, parse_timestamp
from tests.commands.conftest import eosctl
from tests.logs.posted_reports import FOLDER

FENCED = (
    "ERROR [Producer clientId=p, transactionalId=pay] Transiting to fatal error state due to org.apache.kafka.common."
    "errors.ProducerFencedException: fenced (org.apache.kafka.clients.producer.internals.TransactionManager)"
)
WHOLE = f"[2026-11-20 10:00:00,000] {FENCED}"
DOCKER = json.dumps({"log": f"{WHOLE}\n", "stream": "stdout", "time": "2026-11-20T10:00:00Z"})
RECORDS = {
    "nested-beyond-the-stack": f'{DOCKER[:-1]}, "a": {"[" * 100_000}{"]" * 100_000}}}',
    "half-a-surrogate-pair": DOCKER.replace("fenced", r"\ud800"),
    "a-long-number": f'{DOCKER[:-1]}, "a": {"9" * 100_000}}}',
    "behind-the-last-year": f"9999-12-31T23:59:59-12:00 {FENCED}",
    "before-the-first-year": f"0001-01-01T00:00:00+12:00 {FENCED}",
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("output", ["table", "json", "html"])
def test_a_hostile_record_ends_no_run(name: str, output: str, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"{DOCKER}\n{RECORDS[name]}\n{DOCKER}\n")
    done = eosctl("logs", "report", path, "-o", output)
    assert (done.code, "pay" in done.out) == (0, True), done.err


def test_an_endless_number_hides_no_incident(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(
        "[2026-11-20 10:00:00,101] ERROR [ReplicaManager broker=2] Error processing append operation on partition o-0"
        " (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order"
        f" sequence number for producer 7 at offset 12 in partition o-0: {'9' * 5_000} (incoming seq. number), 7"
        f" (current end sequence number)\n{WHOLE}\n"
    )
    done = eosctl("logs", "report", tmp_path, "-o", "json")
    assert (done.code, "pay" in done.out, "OUT_OF_ORDER_SEQUENCE" in done.out) == (0, True, True), done.err


_NUMBER = re.compile(r"(?<![\d:.-])\d+(?![\d:.,-])")
_REPORTS = [path for path in sorted(FOLDER.glob("*/*.log")) if path.stat().st_size < 6_000]


@settings(max_examples=20)
@given(st.sampled_from(_REPORTS), st.randoms(use_true_random=False))
def test_numbers_of_any_length_end_no_run(path: Path, chance: random.Random) -> None:
    text = _NUMBER.sub(lambda found: "7" * 5_000 if chance.random() < 0.3 else found[0], path.read_text("utf-8"))
    with TemporaryDirectory() as folder:
        (Path(folder) / "app.log").write_text(text, "utf-8")
        done = eosctl("logs", "report", folder, "-o", "json")
    assert done.code in (0, 3, 4), done.err


def test_a_file_of_a_distant_year_has_times() -> None:
    reference = TimeReference(None, 1 << 60)
    assert parse_timestamp("Nov 20 10:00:00", reference) is not None
