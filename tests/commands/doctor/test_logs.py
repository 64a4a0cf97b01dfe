"""Logs as evidence of a diagnosis: alone, with a cluster, and as symptoms of the cluster's findings."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from eosctl.analysis.diagnosis_timeline import build_diagnosis_timeline
from eosctl.checks.declaration import Area, Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.collect.bundles.snapshot_file import load_snapshot, save_snapshot
from eosctl.collect.logged_incidents import with_logs
from eosctl.findings.grouping import group_findings
from eosctl.logs.incidents.explained import EXPLANATIONS
from eosctl.logs.incidents.timeline.evidence import TEXT_CHARACTERS
from eosctl.model.evidence import EvidenceKind
from eosctl.model.incident import Incident
from eosctl.model.log_evidence import LoggedIncident
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.schemas import schema_of
from eosctl.services.log_findings import collect_log_findings
from tests.checks.cases import FIXTURES as CASES
from tests.checks.cases import build, cases_of
from tests.commands.conftest import eosctl
from tests.findings.test_grouping import without_broker_3

FIXTURES = Path(__file__).parents[2] / "fixtures" / "logs"
ZOMBIE = FIXTURES / "second-producer-392"
NOTHING = ClusterSnapshot(captured_at_ms=1, cluster_id="")
LOG_CHECKS = [check for check in ALL_CHECKS if check.area is Area.LOGS]
RECORDS = frozenset({"EOS-LOG-009", "EOS-LOG-010"})
"""The checks of records that no incident explains; the others judge incidents."""


def kinds_of(check_id: str) -> frozenset[str]:
    (check,) = [check for check in LOG_CHECKS if check.id == check_id]
    kinds: frozenset[str] = check.evaluate.__globals__["KINDS"]
    return kinds


def logged(kind: str, **subject: str) -> LoggedIncident:
    return LoggedIncident(Incident(kind, "cause", Severity.ERROR, 0.9, subject, 1_000, 2_000, (), "What.", "Do."))


def test_every_kind_of_incident_is_judged_by_one_check() -> None:
    claimed = [kind for check in LOG_CHECKS if check.id not in RECORDS for kind in kinds_of(check.id)]
    truths = [json.loads(path.read_text("utf-8"))["truth"] for path in FIXTURES.parent.glob("logs*/*/truth.json")]
    known = {one["kind"] for truth in truths for one in truth}
    known |= {kind for rule in EXPLANATIONS for kind in (rule.cause, *rule.consequences)}
    assert len(known) > 10
    assert known - set(claimed) == set()
    assert len(claimed) == len(set(claimed))


def test_no_incident_is_lost_and_each_says_where_it_stands() -> None:
    findings = collect_log_findings([FIXTURES])
    snapshot = with_logs(NOTHING, findings)
    diagnosis = diagnose(LOG_CHECKS, Case(snapshot))
    assert sum(int(dict(one.facts)["incident_count"]) for one in diagnosis.findings) == len(findings.incidents) > 0
    for fact in (fact for one in diagnosis.findings for fact in one.evidence):
        name, _, line = fact.source.rpartition(":")
        assert Path(name).exists()
        assert int(line) > 0
        assert len(fact.value) < TEXT_CHARACTERS + 30


def test_logs_alone_need_no_cluster(tmp_path: Path) -> None:
    report, kept = tmp_path / "report.html", tmp_path / "snapshot.json"
    done = eosctl("doctor", "--logs", ZOMBIE, "-o", "json", "--report", report, "--save-snapshot", kept)
    assert done.code == 3
    jsonschema.validate(done.json, schema_of("diagnosis"))
    assert [item["check_id"] for item in done.json["items"]] == ["EOS-LOG-001"] * 3
    assert {item["facts"]["root_cause"] for item in done.json["items"]} == {"duplicate-transactional-id"}
    assert {check["area"] for check in done.json["checks"]} == {"LOG"}
    page = report.read_text("utf-8")
    assert "Timeline" in page
    assert "No cluster was read" in page
    again = eosctl("doctor", "--snapshot", kept, "-o", "json")
    assert [item["fingerprint"] for item in again.json["items"]] == [item["fingerprint"] for item in done.json["items"]]


def test_a_planned_restart_raises_no_alarm() -> None:
    done = eosctl("doctor", "--logs", FIXTURES / "rolling-restart-392", "--min-score", 100)
    assert done.code == 0, done.out


def test_logs_join_files_and_a_cluster(tmp_path: Path) -> None:
    kept, properties = tmp_path / "snapshot.json", tmp_path / "orders.properties"
    save_snapshot(build({}), kept)
    properties.write_text("application.id=o\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n")
    done = eosctl("doctor", "--snapshot", kept, "--logs", ZOMBIE, properties, "-o", "json")
    assert {item["check_id"] for item in done.json["items"]} >= {"EOS-LOG-001", "EOS-CFG-001"}
    assert {check["area"] for check in done.json["checks"]} >= {"TXN", "LOG", "CFG"}
    alone = eosctl("doctor", "--logs", ZOMBIE, properties, "-o", "json")
    assert {item["check_id"] for item in alone.json["items"]} >= {"EOS-LOG-001", "EOS-CFG-001"}
    assert load_snapshot(kept).logged_incidents == ()


def test_a_broken_file_makes_the_evidence_incomplete(tmp_path: Path) -> None:
    source = (FIXTURES / "coordinator-crash-431" / "relay.log.gz").read_bytes()
    (tmp_path / "relay.log.gz").write_bytes(source[: len(source) // 8])
    done = eosctl("doctor", "--logs", tmp_path, "-o", "json", "--require-complete")
    assert done.code == 4
    assert "relay.log.gz" in json.dumps(done.json["evidence"]["gaps"])
    (tmp_path / "none").mkdir()
    nothing = eosctl("doctor", "--logs", tmp_path / "none")
    assert nothing.out.startswith("No grade (0 of 10 checks evaluated).")
    assert nothing.code == 2
    assert "Name files that hold logs." in nothing.out
    assert "Cluster" not in nothing.out


def test_usage(tmp_path: Path) -> None:
    assert eosctl("doctor", "--logs", tmp_path / "missing").code == 2
    done = eosctl("doctor", "--zone", "Europe/Berlin", "--snapshot", tmp_path)
    assert (done.code, "--logs" in done.err) == (2, True)
    done = eosctl("doctor", "--logs", ZOMBIE, "--zone", "Nowhere")
    assert (done.code, "no time zone" in done.err) == (2, True)


def test_secrets_in_quoted_records_are_masked(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text(
        "2026-11-21 09:00:00,000 ERROR [main] o.a.k.c.p.KafkaProducer - [Producer clientId=a, transactionalId=t] "
        "password=hunter2 ProducerFencedException: There is a newer producer with the same transactionalId\n" * 3
    )
    snapshot = with_logs(NOTHING, collect_log_findings([log]))
    assert snapshot.logged_incidents
    assert "hunter2" not in repr(snapshot)


@pytest.mark.parametrize(
    "subject", [{"transactional.id": "order-app"}, {"producerId": "5"}, {"producerId": "5", "transactional.id": "x"}]
)
def test_one_incident_is_reported_once(subject: dict[str, str]) -> None:
    (case,) = [case for case in cases_of(CASES / "EOS-TXN-004.yaml") if case.name == "a second instance took over"]
    snapshot = replace(
        case.snapshot,
        logged_incidents=(
            logged("producer_fenced", **subject),
            logged("producer_fenced", **{"transactional.id": "other"}),
        ),
        collected=case.snapshot.collected | {EvidenceKind.LOGS},
    )
    groups = group_findings(diagnose(ALL_CHECKS, Case(snapshot)).findings, snapshot)
    (fenced,) = [group for group in groups if group.cause.check_id == "EOS-TXN-004" or group.symptoms]
    assert {fenced.cause.check_id, *(one.check_id for one in fenced.symptoms)} == {"EOS-TXN-004", "EOS-LOG-001"}
    assert [group.cause.resource.name for group in groups if not group.symptoms] == ["other"]


def test_the_crash_of_a_lost_broker_belongs_to_its_loss() -> None:
    snapshot = replace(
        without_broker_3(build({})),
        logged_incidents=(logged("broker_crash", broker="3"), logged("broker_crash", broker="2")),
        collected=build({}).collected | {EvidenceKind.LOGS},
    )
    groups = group_findings(diagnose(ALL_CHECKS, Case(snapshot)).findings, snapshot)
    lost = next(group for group in groups if group.symptoms)
    grouped = {(one.check_id, str(one.resource)) for one in (lost.cause, *lost.symptoms)}
    assert grouped >= {("EOS-LOG-006", "broker 3"), ("EOS-TOP-003", "broker 3")}
    assert [str(group.cause.resource) for group in groups if not group.symptoms] == ["broker 2"]


def test_the_timeline_has_one_lane_per_transactional_id() -> None:
    (case,) = [case for case in cases_of(CASES / "EOS-TXN-004.yaml") if case.name == "a second instance took over"]
    incident = logged("producer_fenced", **{"transactional.id": "order-app"})
    snapshot = replace(
        case.snapshot, logged_incidents=(incident,), collected=case.snapshot.collected | {EvidenceKind.LOGS}
    )
    timeline = build_diagnosis_timeline(snapshot, diagnose(ALL_CHECKS, Case(snapshot)).findings)
    assert timeline is not None
    (lane,) = timeline.lanes
    assert (lane.name, timeline.from_ms) == ("order-app", 1_000)
    assert lane.marks[0].label.startswith("producer_fenced")
    assert len(lane.marks) > 2
    assert build_diagnosis_timeline(NOTHING, ()) is None
