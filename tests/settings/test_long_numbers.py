"""A number of thousands of digits is a value like any other: judged, or refused by its line, never an error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

DIGITS = "9" * 5_000
FILES = {
    "numbers.json": f'{{"transactional.id": "a", "acks": {DIGITS}}}',
    "numbers.jsonc": f'{{"transactional.id": "a", /* all */ "acks": {DIGITS}}}',
    "producer.properties": f"transactional.id=a\nlinger.ms={DIGITS}\ntransaction.timeout.ms={DIGITS}\n",
    "streams.properties": f"application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms={DIGITS}\n",
    "producer.yaml": f"producer:\n  transactional.id: a\n  linger.ms: {DIGITS}\n",
    "application.yml": f"spring.kafka.producer:\n  transaction-id-prefix: a\n  buffer-memory: {DIGITS}MB\n",
    "kafka.env": f"KAFKA_NODE_ID=1\nKAFKA_TRANSACTION_MAX_TIMEOUT_MS={DIGITS}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_long_number_is_a_finding(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    done = eosctl("config", "lint", str(tmp_path))
    assert done.code == 3
    assert name in done.out


def test_a_long_number_in_toml_is_refused_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "kafka.toml").write_text(f"[kafka]\nretries = {DIGITS}\n")
    done = eosctl("config", "lint", str(tmp_path / "kafka.toml"))
    assert done.code == 2
    assert "kafka.toml:1: a number is too long" in done.err
