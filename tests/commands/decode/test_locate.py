"""Names are located as Kafka's coordinators locate them; the recorded logs show the partition of each id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.decode.running import run
from tests.storage.cases import FIXTURES

PARTITIONS = 2  # of both internal topics in the recordings


@pytest.mark.parametrize(
    ("command", "located", "field"),
    [("txn-log", ("txn", "locate"), "transactional_id"), ("offsets", ("group", "offsets", "locate"), "group")],
)
def test_every_recorded_name_is_where_it_is_located(
    command: str, located: tuple[str, ...], field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = FIXTURES / "k392-tv1-logs" / "data"
    lines = run(capsys, "decode", command, case, "-o", "json").out.splitlines()
    homes = {row[field]: Path(row["file"]).parent.name for row in map(json.loads, lines)}
    assert len(set(homes.values())) == PARTITIONS
    ran = run(capsys, *located, *homes, "--partitions", PARTITIONS, "-o", "json")
    items = json.loads(ran.out)["items"]
    assert {item["name"]: f"{item['topic']}-{item['partition']}" for item in items} == homes


def test_the_table_names_the_partition(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "txn", "locate", "orders-processor")
    assert ran.code == 0
    assert "__transaction_state-" in ran.out
