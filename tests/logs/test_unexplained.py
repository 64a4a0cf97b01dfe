"""Records that call for action: each is in an incident, an echo of one, or reported by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.classifier.catalogue import Weight, load_catalogue
from eosctl.logs.incidents.unexplained import ECHOES
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.services.log_findings import collect_log_findings

FIXTURES = Path(__file__).parents[1] / "fixtures"
SCENARIOS = sorted(path.parent for path in FIXTURES.glob("logs*/*/truth.json"))
UNCLEAN = "INFO [Controller 1] UNCLEAN partition change for {}: leader: 1 -> 2 (org.apache.kafka.controller.X)\n"
FENCED = (
    "[2026-11-26 10:00:00,000] ERROR [Producer clientId=a, transactionalId=pay-1] Transiting to fatal error state due "
    "to org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
    "transactionalId (org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)


def at(time: str, text: str) -> str:
    return f"[2026-11-26 {time},000] {text}"


def unexplained(folder: Path, **files: str) -> list[UnexplainedRecords]:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return list(collect_log_findings([folder]).unexplained)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: str(path.name))
def test_an_incident_explains_all_that_follows_from_its_fault(scenario: Path) -> None:
    """Each log holds known faults alone, so a record without a cause would be a false alarm or a second report."""
    assert collect_log_findings([scenario]).unexplained == ()


def test_records_of_one_subject_are_one_thing_to_do(tmp_path: Path) -> None:
    text = "".join(at(f"10:00:{second:02}", UNCLEAN.format("orders-0 with topic ID x")) for second in range(9))
    text += at("10:01:00", UNCLEAN.format("orders-1 with topic ID x"))
    first, second = unexplained(tmp_path, controller=text)
    assert (first.category, str(first.resource), first.record_count) == ("UNCLEAN_ELECTION", "partition orders-0", 9)
    assert (first.severity, str(second.resource)) == (Severity.CRITICAL, "partition orders-1")
    assert first.first_ms is not None and first.last_ms is not None
    assert first.last_ms - first.first_ms == 8_000
    log = tmp_path / "controller.log"
    assert [record.place for record in first.records] == [f"{log}:{line}" for line in (1, 2, 3, 7, 8, 9)]
    assert "committed data may be gone" in first.meaning


def test_the_worst_comes_first_and_a_call_to_act_is_a_warning(tmp_path: Path) -> None:
    denied = (
        "INFO Principal = User:app is Denied operation = CREATE from host = 10.0.0.1 on resource = "
        "Cluster:LITERAL:kafka-cluster for request = CreateTopics with resourceRefCount = 1 (kafka.authorizer.logger)\n"
    )
    log = at("09:00:00", denied) + at("10:00:00", UNCLEAN.format("orders-0"))
    found = unexplained(tmp_path, server=log)
    assert [(one.category, one.severity) for one in found] == [
        ("UNCLEAN_ELECTION", Severity.CRITICAL),
        ("AUTHZ_CLUSTER", Severity.WARNING),
    ]


def test_a_cause_next_to_an_incident_is_not_its_echo(tmp_path: Path) -> None:
    """An unclean election loses records, whatever else happens at the same time in the same log."""
    found = unexplained(tmp_path, pay=FENCED + at("10:00:01", UNCLEAN.format("orders-0")))
    assert [one.category for one in found] == ["UNCLEAN_ELECTION"]


def test_an_echo_ends_with_its_incident(tmp_path: Path) -> None:
    late = (
        "ERROR [Producer clientId=a, transactionalId=pay-1] Aborting producer batches due to fatal error "
        "(org.apache.kafka.clients.producer.internals.Sender)\n"
    )
    soon = unexplained(tmp_path, pay=FENCED + at("10:00:02", late))
    assert soon == []
    assert [one.category for one in unexplained(tmp_path, pay=FENCED + at("11:00:00", late))] == ["TXN_STATE_ERROR"]


RETRIED = (
    "WARN [Producer clientId=a] Got error produce response with correlation id 39 on topic-partition orders-2, "
    "retrying ({} attempts left). Error: NOT_ENOUGH_REPLICAS (org.apache.kafka.clients.producer.internals.Sender)\n"
)


def test_what_a_client_retries_has_not_failed_yet(tmp_path: Path) -> None:
    assert unexplained(tmp_path, app=at("10:00:00", RETRIED.format(2147483646))) == []
    assert [one.category for one in unexplained(tmp_path, app=at("10:00:00", RETRIED.format(0)))] == [
        "NOT_ENOUGH_REPLICAS"
    ]


def test_a_record_without_a_time_is_reported(tmp_path: Path) -> None:
    (only,) = unexplained(tmp_path, app="java.lang.OutOfMemoryError: Java heap space\n")
    assert (only.category, only.first_ms, only.last_ms) == ("OOM", None, None)


def test_echoes_are_categories_that_call_for_action() -> None:
    serious = {one.id for one in load_catalogue().categories if one.weight in (Weight.ACT, Weight.CRITICAL)}
    assert serious > ECHOES
