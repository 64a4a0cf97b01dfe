"""doctor and txn on real Kafka: the same verdicts as on the sandbox, and Kafka's own tools agree."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.conftest import KafkaTool, VerificationOff
from tests.commands.conftest import eosctl, run_scenario
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.zombie import run_zombie

pytestmark = pytest.mark.usefixtures("own_home")

TRANSACTIONS_TOOL = "org.apache.kafka.tools.TransactionsCommand"


def items(*arguments: str | Path, code: int = 0) -> list[dict[str, Any]]:
    done = eosctl(*arguments, "-o", "json")
    assert done.code == code, done.err or done.out
    found: list[dict[str, Any]] = done.json["items"]
    return found


def by_check(found: list[dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    """Findings on one resource; the broker is shared with other tests, which leave things of their own."""
    return {item["check_id"]: item for item in found if item["resource"]["name"] == name}


def test_hanging_transaction_from_diagnosis_to_repair(
    apache: ApacheNodes, partition_verification_off: VerificationOff, kafka_tool: KafkaTool
) -> None:
    run = uuid.uuid4().hex[:8]
    with partition_verification_off(apache):
        hanging = run_scenario(
            apache.bootstrap,
            lambda stage: run_hanging(stage, topic=f"orders-{run}", transactional_id=f"late-{run}", patience_ms=10_000),
        )
        where = hanging.partition
        found = by_check(items("doctor", "-b", apache.bootstrap, code=3), str(where))
    finding = found["EOS-TXN-001"]
    assert finding["severity"] == "critical"
    assert finding["facts"]["producer_id"] == hanging.producer.producer_id
    assert finding["facts"]["producer_epoch"] == hanging.producer.producer_epoch
    assert finding["facts"]["first_offset"] == hanging.first_offset
    assert finding["facts"]["can_abort"] is True
    assert finding["facts"]["invisible_records"] == hanging.late_record_count + hanging.hidden_record_count

    official = kafka_tool(
        TRANSACTIONS_TOOL, "--bootstrap-server", apache.bootstrap, "find-hanging", "--topic", where.topic,
        "--max-transaction-timeout", "0",
    )  # fmt: skip
    assert f"{where.topic}\t" in official.stdout.replace(" ", "")

    target = ["--topic", where.topic, "--partition", str(where.partition), "-b", apache.bootstrap]
    (plan,) = items("txn", "abort", *target)
    assert plan["carried_out"] is False
    (done,) = items("txn", "abort", *target, "--yes")
    assert (done["carried_out"], done["verified"]) == (True, True)
    assert done["last_stable_offset_after"] > hanging.first_offset
    # What other tests left hanging on this broker gives the exit code 3; only this partition matters here.
    listed = eosctl("txn", "hanging", "-b", apache.bootstrap, "--all", "-o", "json").json["items"]
    assert [item for item in listed if item["topic"] == where.topic] == []


def test_zombie_is_found_with_the_offsets_it_lost(apache: ApacheNodes) -> None:
    run = uuid.uuid4().hex[:8]
    name = f"payment-service-{run}"
    zombie = run_scenario(
        apache.bootstrap, lambda stage: run_zombie(stage, topic=f"payments-{run}", transactional_id=name)
    )
    done = eosctl("check", "run", "EOS-TXN-004", "-b", apache.bootstrap, "-o", "json", "--exit-zero")
    finding = by_check(done.json["items"], name)["EOS-TXN-004"]
    assert finding["confidence"] == "certain"
    assert finding["facts"]["cause"] == "newer-instance"
    assert finding["facts"]["fenced_epoch"] == zombie.zombie.producer_epoch
    assert finding["facts"]["successor_epoch"] == zombie.successor.producer_epoch
    last = zombie.aborted_first_offset + zombie.aborted_record_count - 1
    assert f"{zombie.partition} offset {zombie.aborted_first_offset} to {last}" in finding["impact"]


@pytest.mark.parametrize("level", ["tv2"])
def test_zombie_at_level_2_is_possible_and_says_so(level: str, apache_4_3: ApacheNodes) -> None:
    run = uuid.uuid4().hex[:8]
    name = f"payment-service-{level}-{run}"
    run_scenario(
        apache_4_3.bootstrap,
        lambda stage: run_zombie(stage, topic=f"payments-{run}", transactional_id=name, dialect=None),
    )
    done = eosctl("check", "run", "EOS-TXN-004", "-b", apache_4_3.bootstrap, "-o", "json", "--exit-zero")
    finding = by_check(done.json["items"], name)["EOS-TXN-004"]
    assert finding["confidence"] == "possible"


def test_defaults_of_a_real_broker_raise_no_warning(apache: ApacheNodes) -> None:
    done = eosctl("check", "run", "BRK", "TOP", "-b", apache.bootstrap, "-o", "json", "--fail-on", "warning")
    assert done.code == 0, done.out
    assert done.json["evidence"]["gaps"] == []
    assert [check["id"] for check in done.json["checks"] if check["status"] == "skipped"] == []


def test_list_agrees_with_kafkas_tool(apache: ApacheNodes, kafka_tool: KafkaTool) -> None:
    run = uuid.uuid4().hex[:8]
    run_scenario(
        apache.bootstrap, lambda stage: run_zombie(stage, topic=f"listed-{run}", transactional_id=f"listed-{run}")
    )
    official = kafka_tool(TRANSACTIONS_TOOL, "--bootstrap-server", apache.bootstrap, "list").stdout
    rows = [[cell.strip() for cell in line.split("\t")] for line in official.splitlines()[1:] if "\t" in line]
    ours = {
        (item["transactional_id"], str(item["coordinator_id"]), str(item["producer_id"]), item["state"])
        for item in items("txn", "list", "-b", apache.bootstrap)
    }
    assert {tuple(row[:4]) for row in rows} == ours
    assert f"listed-{run}" in {row[0] for row in rows}
