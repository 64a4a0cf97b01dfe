"""Records with what JSON, calendars, and file systems allow and Python does not: none ends a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.logs.timestamps import TimeReference, parse_timestamp
from tests.commands.conftest import eosctl

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


def test_a_file_of_a_distant_year_has_times() -> None:
    reference = TimeReference(None, 1 << 60)
    assert parse_timestamp("Nov 20 10:00:00", reference) is not None
