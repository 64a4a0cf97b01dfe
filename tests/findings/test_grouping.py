"""One cause with many symptoms is reported once, and the actions for the worst causes come first."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.grouping import ACTIONS, Action, evidence_action, first_actions, group_findings
from eosctl.findings.summary import summarize
from eosctl.model.cluster_state import LogDirectory
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Broker, ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Resource
from tests.checks.cases import build


def without_broker_3(cluster: ClusterSnapshot) -> ClusterSnapshot:
    """Return the cluster after the loss of a broker: metadata no longer names it, its replicas are offline."""

    def info(one: PartitionInfo) -> PartitionInfo:
        if 3 not in one.replicas:
            return one
        isr = tuple(node for node in one.isr if node != 3)
        leader = one.leader_id if one.leader_id != 3 else (isr[0] if isr else None)
        return replace(one, isr=isr, leader_id=leader, offline_replicas=(3,))

    def topic(one: Topic) -> Topic:
        return replace(one, partitions=tuple(info(partition) for partition in one.partitions))

    brokers: tuple[Broker, ...] = tuple(broker for broker in cluster.brokers if broker.node_id != 3)
    return replace(cluster, brokers=brokers, topics=tuple(topic(one) for one in cluster.topics))


def finding(check_id: str, name: str, severity: Severity = Severity.ERROR, **more: Any) -> Finding:
    return Finding(check_id, "", severity, Resource("topic", name), f"{name} is broken", remedy=("Mend it.",), **more)


def test_a_lost_broker_is_one_cause() -> None:
    snapshot = without_broker_3(build({}))
    findings = diagnose(ALL_CHECKS, Case(snapshot)).findings
    groups = group_findings(findings, snapshot)
    (lost,) = [group for group in groups if group.symptoms]
    assert str(lost.cause.resource) == "broker 3"
    assert {one.check_id for one in lost.symptoms} >= {"EOS-TOP-007"}
    assert sum(1 + len(group.symptoms) for group in groups) == len(findings)
    assert group_findings(diagnose(ALL_CHECKS, Case(build({}))).findings, build({})) == ()


def test_the_metadata_log_of_a_lost_broker_is_a_symptom() -> None:
    silent = finding("EOS-BRK-006", "3")
    silent, behind = (replace(one, resource=Resource("broker", "3")) for one in (silent, finding("EOS-OPS-003", "3")))
    (group,) = group_findings((behind, silent), without_broker_3(build({})))
    assert (group.cause, group.symptoms) == (silent, (behind,))


def fenced(node_id: int) -> Finding:
    step = f"Start broker {node_id}."
    return replace(finding("EOS-BRK-007", str(node_id)), resource=Resource("broker", str(node_id)), remedy=(step,))


def test_brokers_that_are_gone_together_are_one_cause() -> None:
    snapshot = build({})
    brokers = tuple(replace(one, fenced=one.node_id in (1, 2)) for one in snapshot.brokers)
    held = finding("EOS-TXN-007", "pay", facts=(("partitions", "payments-0"),))
    uneven = finding("EOS-CAP-002", "__transaction_state", Severity.WARNING)
    found = (fenced(1), fenced(2), held, uneven)
    (group,) = group_findings(found, replace(snapshot, brokers=brokers))
    assert (group.causes, group.consequences) == ((fenced(1), fenced(2)), (held, uneven))
    (action,) = first_actions((group,))
    assert action.step == "Start broker 1. The same applies to broker 2."
    result = CheckResult("EOS-BRK-007", "", "", CheckStatus.FAILED, findings=found)
    assert summarize([result])[1:] == ("Brokers 1, 2 are fenced.", "pay is broken")
    assert summarize([replace(result, findings=found[:1])])[1:] == ("Broker 1 is fenced.",)


def test_a_lost_broker_that_is_not_listed_leads_its_metadata_lag() -> None:
    offline, behind = (
        replace(finding(check_id, "3", Severity.WARNING), resource=Resource("broker", "3"))
        for check_id in ("EOS-TOP-003", "EOS-OPS-003")
    )
    (group,) = group_findings((behind, offline), without_broker_3(build({})))
    assert (group.cause, group.symptoms) == (offline, (behind,))
    result = CheckResult("EOS-TOP-003", "", "", CheckStatus.FAILED, findings=(behind, offline))
    assert summarize([result])[1:] == ("Broker 3 has offline replicas.",)


def test_transactions_without_a_coordinator_are_summarized() -> None:
    waits = finding("EOS-TXN-001", "t9-1", Severity.WARNING, facts=(("cause", "coordinator-unavailable"),))
    unclear = replace(waits, severity=Severity.INFO, message="t9-2 is unclear")
    result = CheckResult("EOS-TXN-001", "", "", CheckStatus.FAILED, findings=(waits, unclear))
    assert summarize([result])[1:] == ("t9-1 is broken",)


def test_what_a_failed_directory_took_is_a_symptom() -> None:
    snapshot = build({})
    offline = PartitionInfo(TopicPartition("held", 0), None, 0, (1,), (), (1,))
    topics = (*snapshot.topics, Topic("held", "h", False, (offline,)))
    directories = (LogDirectory(1, "/a", "", 100, 30, 70), LogDirectory(1, "/b", "KAFKA_STORAGE_ERROR", -1, -1, 0))
    snapshot = replace(snapshot, topics=topics, log_directories=directories)
    findings = diagnose(ALL_CHECKS, Case(snapshot)).findings
    (failed,) = [group for group in group_findings(findings, snapshot) if group.symptoms]
    assert (failed.cause.check_id, str(failed.cause.resource)) == ("EOS-OPS-004", "broker 1")
    assert {one.check_id for one in failed.symptoms} >= {"EOS-TOP-001", "EOS-TOP-003"}
    (leaderless,) = [one for one in failed.symptoms if one.check_id == "EOS-TOP-001"]
    assert leaderless.remedy == ("Replace the failed log directory of broker 1, and restart it.",)


def test_a_shrunken_isr_of_a_live_broker_is_a_separate_cause() -> None:
    snapshot = without_broker_3(build({}))
    one = PartitionInfo(TopicPartition("slow", 0), 1, 0, (1, 2), (1,), (), 0, 1, 1)
    snapshot = replace(snapshot, topics=(*snapshot.topics, Topic("slow", "s", False, (one,))))
    slow = finding("EOS-TOP-007", "slow", facts=(("partitions", "0"),))
    other = finding("EOS-TOP-007", snapshot.topics[0].name, facts=(("partitions", "0"),))
    causes = [group.cause for group in group_findings((slow, other), snapshot)]
    assert causes == [slow, other]


def test_a_transaction_is_the_cause_of_what_it_holds_up() -> None:
    hanging = finding("EOS-TXN-001", "a-0", incident="a-0@7")
    behind = finding("EOS-TOP-005", "a", incident="a-0@7")
    other = finding("EOS-TOP-005", "b", Severity.CRITICAL, incident="b-0@7")
    groups = group_findings((behind, hanging, other), build({}))
    assert [(group.cause, group.symptoms) for group in groups] == [(other, ()), (hanging, (behind,))]


def test_equal_names_of_other_incidents_are_not_a_common_cause() -> None:
    disks = (finding("EOS-OPS-004", "1", incident="/data"), finding("EOS-OPS-005", "2", incident="/data"))
    assert len(group_findings(disks, build({}))) == 2
    in_files = tuple(finding("EOS-CFG-001", name, incident="k@y", facts=(("file", name),)) for name in ("f", "g"))
    assert len(group_findings(in_files, build({}))) == 2


def test_the_same_step_is_named_once_and_no_more_than_three() -> None:
    same = tuple(finding("EOS-TOP-001", f"t{i}") for i in range(5))
    (action,) = first_actions(group_findings(same, build({})))
    assert (action.step, action.settles, action.check_ids) == ("Mend it.", 5, ("EOS-TOP-001",))
    many = tuple(replace(one, remedy=(f"Mend {one.resource.name}.",)) for one in same)
    assert len(first_actions(group_findings(many, build({})))) == ACTIONS


def test_missing_evidence_comes_before_findings() -> None:
    skipped = CheckResult("EOS-TXN-001", "Hanging transaction", "TXN", CheckStatus.SKIPPED)
    hidden = EvidenceGap(EvidenceKind.TOPICS, "names", GapReason.HIDDEN)
    away = EvidenceGap(EvidenceKind.TOPICS, "broker 1", GapReason.UNREACHABLE, next_step="Check the listener.")

    def action(*gaps: EvidenceGap, results: tuple[CheckResult, ...] = (skipped,)) -> Action | None:
        return evidence_action(Diagnosis("c", 0, results, grade(results), gaps))

    rights = action(hidden)
    assert rights is not None and rights.command is not None
    assert (rights.command.line, rights.check_ids) == ("eosctl check acl doctor", ())
    assert "1 check could not be evaluated" in rights.step
    unreachable = action(away)
    assert unreachable is not None and unreachable.command is None
    assert unreachable.step.endswith("Check the listener.")
    assert action() is None
    assert action(hidden, results=(replace(skipped, status=CheckStatus.PASSED),)) is None
