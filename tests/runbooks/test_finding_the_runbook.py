"""From a symptom or a finding to the runbook in one step, and the ways in which it is drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.runbooks.load import library
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.zombie import run_zombie
from tests.runbooks.conftest import MANUAL, item_of, play, run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "runbooks"

SYMPTOMS = {
    "consumer is stuck at the LSO": "consumer-stuck",
    "hanging transaction": "hanging-transaction",
    "ProducerFencedException": "producer-fenced",
    "org.apache.kafka.common.errors.InvalidProducerEpochException": "invalid-producer-epoch",
    "TaskMigratedException": "producer-fenced",
    "transaction timeout exceeded": "transaction-timeout",
    "commit latency high": "commit-latency",
    "COORDINATOR_NOT_AVAILABLE": "coordinator-not-available",
    "CoordinatorLoadInProgressException": "coordinator-not-available",
    "coordinator overload": "coordinator-skew",
    "__transaction_state under-replicated": "transaction-log-under-replicated",
    "min ISR lost": "min-isr-lost",
    "NotEnoughReplicasException": "min-isr-lost",
    "disk full on a broker": "disk-full",
    "unstable offsets": "unstable-offsets",
    "OffsetOutOfRangeException": "offsets-out-of-range",
    "lost records suspected": "lost-records",
    "post-incident verification": "post-incident",
    "coordinator loading": "coordinator-not-available",
    "coordinator skew": "coordinator-skew",
    "rebalance storm": "rebalance-storm",
    "state store corruption and restore": "state-store-restore",
    "offset loss or reset": "offsets-out-of-range",
    "duplicate records found downstream": "duplicates-downstream",
    "poison message and DLQ drain": "poison-message",
    "producer-id exhaustion": "producer-id-pressure",
    "memory growth of the brokers": "producer-id-pressure",
    "broker replacement": "broker-replacement",
    "upgrade of brokers": "rolling-restart",
    "upgrade of clients": "clients-upgrade",
    "enabling EOS on a running application": "enable-eos",
    "turning EOS off": "disable-eos",
    "region failover and fail-back": "region-failover",
    "the first region is back, fail back": "region-failback",
    "metadata.version was never finalized after the upgrade": "metadata-version-upgrade",
    "EOS-UPG-001": "metadata-version-upgrade",
    "credential and ACL rotation": "access-rotation",
    "scaling applications out and in": "scale-application",
    "transactional.id migration": "transactional-id-migration",
    "recovery of a group after offsets expired": "group-offsets-expired",
    "changelog explosion": "changelog-growth",
    "controller failover": "controller-failover",
    "rolling restart with EOS": "rolling-restart",
    "upgrade transaction.version": "transaction-version-upgrade",
    "EOS-TXN-001": "hanging-transaction",
    "compaction stopped and the topic grows": "hanging-transaction",
}


@pytest.mark.parametrize("words", SYMPTOMS)
def test_a_symptom_leads_to_its_runbook(words: str) -> None:
    done = eosctl("diagnose", *words.split(), "-o", "json")
    assert done.code == 0
    assert SYMPTOMS[words] in [item["runbook"] for item in done.json["items"]][:2]


ROWS = [line.split("\t") for line in (FIXTURES / "symptoms.tsv").read_text().splitlines()]


@pytest.mark.parametrize(("row", "words", "leads_to"), ROWS, ids=[f"{row}-{words[:20]}" for row, words, _ in ROWS])
def test_each_symptom_that_is_asked_for_is_one_step_away(row: str, words: str, leads_to: str) -> None:
    """Each row of the requirements in a user's words: its runbook, its explanation, or the reason for its refusal."""
    done = eosctl("diagnose", *words.split(), "-o", "json")
    items = done.json["items"]
    if leads_to == "REFUSED":
        assert (done.code, items[0]["refused"], bool(items[0]["instead"])) == (3, True, True), row
        return
    assert done.code == 0
    assert leads_to in [item["runbook"] for item in items[:3]] + [item["command"] for item in items], (row, items)


def test_words_that_nothing_knows_are_answered_with_what_to_try() -> None:
    done = eosctl("diagnose", "xylophone")
    assert (done.code, done.out) == (2, "")
    assert "eosctl doctor" in done.err


def test_doctor_names_the_runbook_of_a_finding() -> None:
    with SandboxThread(fast=False) as cluster:
        report = play(cluster.bootstrap, run_hanging, switch_verification_off=True)
        done = eosctl("doctor", "-b", cluster.bootstrap, "-o", "json", "--exit-zero")
    (finding,) = [item for item in done.json["items"] if item["check_id"] == "EOS-TXN-001"]
    (command,) = [c["line"] for c in finding["commands"] if "runbook" in c["line"]]
    assert command.startswith("eosctl runbook run hanging-transaction -b ")
    assert f"-i topic={report.partition.topic}" in command


def test_mutual_fencing_is_distinguished_from_one_takeover() -> None:
    with SandboxThread(fast=False, transaction_version=1) as cluster:
        assert run(cluster.bootstrap, "producer-fenced").code == 5
        play(cluster.bootstrap, run_zombie)
        once = run(cluster.bootstrap, "producer-fenced")
        assert item_of(once)["step"] == "takeover", once.err
        for _ in range(2):
            report = play(cluster.bootstrap, run_zombie)
        often = run(cluster.bootstrap, "producer-fenced", "--yes")
        assert (often.code, item_of(often)["step"]) == (MANUAL, "two_instances"), often.err
        assert report.transactional_id in item_of(often)["message"]
        resumed = run(cluster.bootstrap, "producer-fenced", "--yes", "--resume", item_of(often)["run"])
        assert (resumed.code, item_of(resumed)["outcome"]) == (0, "verified"), resumed.err
        known = run(cluster.bootstrap, "transaction-timeout", "-i", f"transactional_id={report.transactional_id}")
        assert item_of(known)["outcome"] == "no-action", known.err
        nobody = run(cluster.bootstrap, "transaction-timeout", "-i", "transactional_id=nobody")
        assert (nobody.code, item_of(nobody)["step"]) == (MANUAL, "unknown")


@pytest.mark.parametrize("name", [source.book.id for source in library()])
def test_every_runbook_is_drawn_whole(name: str) -> None:
    (book,) = [source.book for source in library() if source.book.id == name]
    tree, page, graph = (eosctl("runbook", "show", name, "-o", form) for form in ("table", "html", "mermaid"))
    assert (tree.code, page.code, graph.code) == (0, 0, 0)
    for step in book.steps:
        assert f"{step.id} [" in tree.out
        assert f'id="{step.id}"' in page.out
        assert re.search(rf"^  {step.id}[\[{{]", graph.out, re.MULTILINE)
    targets = set(re.findall(r"(?:-->|\| )\s*(\w+)$", graph.out, re.MULTILINE))
    declared = set(re.findall(r"^  (\w+)[\[({]", graph.out, re.MULTILINE))
    assert targets <= declared
    assert "http" not in page.out


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "tsv"])
def test_lists_in_every_format(output: str) -> None:
    for command in (["runbook", "list"], ["runbook", "lint"], ["runbook", "journal"], ["diagnose", "stuck"]):
        done = eosctl(*command, "-o", output)
        assert (done.code, done.err) == (0, "")
        assert done.out or output == "tsv"
