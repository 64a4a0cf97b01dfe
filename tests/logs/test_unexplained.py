"""Every record that calls for action belongs to an incident, is an echo of one, or is reported by itself."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

import pytest

from eosctl.logs.classifier.catalog import Weight, acting_categories, load_catalog, load_incidents
from eosctl.logs.incidents.remaining.unexplained import ECHOES
from eosctl.model.incident import Incident
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
    """Each log has only known faults, so a record without a cause would be a false alarm or a duplicate."""
    assert collect_log_findings([scenario]).unexplained == ()


def incidents_of(folder: Path, **files: str) -> list[Incident]:
    """Return the incidents of some files, which must contain all records that call for action."""
    assert unexplained(folder, **files) == []
    return list(collect_log_findings([folder]).incidents)


def test_records_of_one_subject_are_one_action(tmp_path: Path) -> None:
    text = "".join(at(f"10:00:{second:02}", UNCLEAN.format("orders-0 with topic ID x")) for second in range(9))
    text += at("10:01:00", UNCLEAN.format("orders-1 with topic ID x"))
    first, second = incidents_of(tmp_path, controller=text)
    assert (first.kind, first.subject["topic-partition"], len(first.evidence)) == ("unclean_election", "orders-0", 9)
    assert (first.severity, second.subject["topic-partition"]) == (Severity.CRITICAL, "orders-1")
    assert first.t_end_ms - first.t_start_ms == 8_000
    assert [place.line for place in first.evidence] == list(range(1, 10))
    assert "committed records" in first.explanation


def test_a_much_later_repetition_is_another_incident(tmp_path: Path) -> None:
    text = "".join(at(time, UNCLEAN.format("orders-0")) for time in ("10:00:00", "10:09:00", "12:00:00"))
    assert [len(one.evidence) for one in incidents_of(tmp_path, controller=text)] == [2, 1]


def test_a_cause_next_to_an_incident_is_not_its_echo(tmp_path: Path) -> None:
    """An unclean election loses records, regardless of other events at the same time in the same log."""
    found = incidents_of(tmp_path, pay=FENCED + at("10:00:01", UNCLEAN.format("orders-0")))
    assert [one.kind for one in found] == ["producer_fenced", "unclean_election"]


LATE = (
    "ERROR [Producer clientId=a, transactionalId=pay-1] Aborting producer batches due to fatal error "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)


def test_an_echo_ends_with_its_incident(tmp_path: Path) -> None:
    assert [one.kind for one in incidents_of(tmp_path, pay=FENCED + at("10:00:02", LATE))] == ["producer_fenced"]
    found = incidents_of(tmp_path, pay=FENCED + at("11:00:00", LATE))
    assert [(one.kind, one.subject["transactional.id"]) for one in found[1:]] == [("producer_error", "pay-1")]


def test_a_repetition_in_other_words_joins_its_cause(tmp_path: Path) -> None:
    cause = (
        "ERROR [Producer clientId=a, transactionalId=pay-1] Send failed: org.apache.kafka.common.errors."
        "InvalidPidMappingException: The producer attempted to use a producer id which is not currently assigned to "
        "its transactional id. (org.apache.kafka.clients.producer.internals.Sender)\n"
    )
    (found,) = incidents_of(tmp_path, pay=at("10:00:00", LATE) + at("10:00:02", cause))
    assert (found.kind, found.subject["transactional.id"]) == ("transactional_id_expired", "pay-1")
    assert [place.line for place in found.evidence] == [1, 2]


RETRIED = (
    "WARN [Producer clientId=a] Got error produce response with correlation id 39 on topic-partition orders-2, "
    "retrying ({} attempts left). Error: NOT_ENOUGH_REPLICAS (org.apache.kafka.clients.producer.internals.Sender)\n"
)


def test_an_error_that_a_client_retries_is_not_a_failure_yet(tmp_path: Path) -> None:
    assert incidents_of(tmp_path, app=at("10:00:00", RETRIED.format(2147483646))) == []
    assert [one.kind for one in incidents_of(tmp_path, app=at("10:00:00", RETRIED.format(0)))] == [
        "not_enough_replicas"
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer.", "producer_fenced"),
        (
            "org.apache.kafka.common.errors.TimeoutException: Timeout expired while awaiting InitProducerId",
            "init_producer_id_timeout",
        ),
    ],
)
def test_a_line_without_a_time_gets_the_time_of_its_file(line: str, kind: str, tmp_path: Path) -> None:
    (found,) = incidents_of(tmp_path, app=f"{line}\n")
    assert found.kind == kind
    assert abs(found.t_start_ms - (tmp_path / "app.log").stat().st_mtime * 1000) < 2_000


def test_echoes_are_categories_that_call_for_action() -> None:
    serious = {one.id for one in load_catalog().categories if one.weight in (Weight.ACT, Weight.CRITICAL)}
    assert serious | load_incidents().keys() > ECHOES


def test_incidents_and_actionable_categories_match() -> None:
    known = load_incidents()
    categories = {one.id for one in load_catalog().categories}
    assert known.keys() <= categories
    # Detectors judge these, alone or with other records.
    judged = {
        *("AUTHZ_TXN_ID", "AUTHZ_GROUP", "AUTHZ_CLUSTER", "INVALID_STREAMS_CONFIG", "READER_STUCK"),
        *("INVALID_TXN_TIMEOUT", "TXN_TIMEOUT_ABORT", "POLL_TIMEOUT", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"),
        *("OUT_OF_ORDER_SEQUENCE", "STATE_STORE_CORRUPT", "TXN_MARKER_REFUSED"),
    }
    assert acting_categories() - known.keys() == judged


def test_cataloged_incident_texts_name_only_subject_fields() -> None:
    names = {
        "who",
        "topic-partition",
        "group",
        "topic",
        "topic-or-partition",
        "broker-address",
        "producerId",
        "log.dir",
        "connector.task",
    }
    names |= {"address", "pod", "shortage", "slot", "session", "position", "policy", "in-sync", "replicas", "min.isr"}
    names |= {"kept-to", "high-watermark", "allocation-bytes", "shard", "refusal", "speakers", "timestamp", "unit"}
    names |= {"group.instance.id", "operation", "process", "server", "transactional.id"}
    names |= {"awaited", "connector", "fatal-reason", "is-fatal", "metadata-offset", "missing"}
    names |= {
        "codec",
        "commits",
        "initialized",
        "component",
        "connector-tasks",
        "suppressed",
        "device",
        "host",
        "schema-subject",
        "setting",
    }
    for one in load_incidents().values():
        for text in (one.what, one.next_step, one.unfinished or "."):
            assert {name for _, name, _, _ in Formatter().parse(text) if name} <= names
            assert text.removesuffix("]").endswith(".")
