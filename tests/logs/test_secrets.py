"""What an application logged by mistake goes no further: no event, report or table repeats a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

LOG = """\
2026-11-21 12:00:01,123 ERROR [main] com.acme.Pay: no database jdbc:postgresql://h/db?user=a&password=planted-1
org.apache.kafka.common.errors.ProducerFencedException: refused, sasl.jaas.config=Login required password="planted-2";
\tat com.acme.Pay.run(Pay.java:10)
2026-11-21 12:00:02,123 ERROR [main] com.acme.Pay: ProducerFencedException for https://me:planted-3@proxy:80/topics
2026-11-21 12:00:03,123 ERROR [main] com.acme.Pay: ProducerFencedException, Authorization: Bearer planted-4-planted
"""


@pytest.mark.parametrize(
    "command",
    [
        ("scan", "-o", "json"),
        ("scan", "-o", "table"),
        ("exceptions", "-o", "json"),
        ("report",),
        ("report", "-o", "json"),
        ("report", "-o", "html"),
        ("report", "-o", "markdown"),
    ],
    ids=" ".join,
)
def test_secrets_in_logs_are_masked(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "app.log"
    path.write_text(LOG)
    done = eosctl("logs", command[0], path, *command[1:])
    assert done.code in (0, 3), done.err
    assert done.out
    assert "planted" not in done.out + done.err
    if command == ("scan", "-o", "json"):
        assert [item["message"].count("[hidden]") for item in done.json["items"]] == [1, 1, 1]
