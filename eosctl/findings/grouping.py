"""Group findings with one cause: the cause first, then its symptoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from eosctl.findings.diagnosis import CheckStatus, Diagnosis
from eosctl.findings.finding import Command, Finding
from eosctl.model.evidence import GapReason
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import count_text, name_some

ACTIONS: Final = 3
_OF_A_LOST_BROKER: Final = "brokers lost"
_OF_A_FAILED_DIRECTORY: Final = "log directories failed"
_DIRECTORY_FAILED: Final = "EOS-OPS-004"
_WITHOUT_LEADER: Final = "EOS-TXN-007"
_BEHIND: Final = "EOS-OPS-003"
_UNEVEN: Final = "EOS-CAP-002"
_LOGS: Final = "EOS-LOG-"


class FindingGroup(NamedTuple):
    """One cause. ``symptoms`` go away with it; empty for a finding that stands alone."""

    cause: Finding
    symptoms: tuple[Finding, ...] = ()

    @property
    def causes(self) -> tuple[Finding, ...]:
        """The cause, and the same finding about other brokers that are gone with it."""
        same = (one for one in self.symptoms if (one.check_id, one.resource.kind) == (self.cause.check_id, "broker"))
        return (self.cause, *same)

    @property
    def consequences(self) -> tuple[Finding, ...]:
        """The symptoms that are not causes themselves."""
        return tuple(one for one in self.symptoms if one not in self.causes)

    @property
    def rank(self) -> int:
        """How bad the worst of it is; 0 is the worst."""
        return min(finding.severity.rank for finding in (self.cause, *self.symptoms))


class Action(NamedTuple):
    """What to do first. ``settles`` is how many findings have this cause; a step about the evidence has no check."""

    step: str
    command: Command | None
    check_ids: tuple[str, ...]
    settles: int


_NO_CLUSTER: Final = ClusterSnapshot(captured_at_ms=0, cluster_id="")


def group_findings(findings: Iterable[Finding], snapshot: ClusterSnapshot = _NO_CLUSTER) -> tuple[FindingGroup, ...]:
    """Group findings by cause, the group with the worst finding first.

    Three causes show themselves in several checks: a transaction that was left open (its incident is written
    ``place@offset``), brokers that are gone, and failed log directories; both take replicas of many topics with them.
    The logs' report of the same transaction, producer or broker is a symptom of theirs. Without a snapshot no broker is
    known to be gone.
    """
    lost = _lost_brokers(snapshot)
    members: dict[str, list[Finding]] = {}
    logged: list[Finding] = []
    for finding in findings:
        if finding.check_id.startswith(_LOGS):
            logged.append(finding)
        else:
            members.setdefault(_cause_of(finding, snapshot, lost), []).append(finding)
    known: dict[tuple[str, str], str] = {}
    for cause, found in members.items():
        for name in (name for one in found for name in _names(one, cause)):
            known.setdefault(name, cause)
    for finding in logged:
        cause = next((known[name] for name in _names(finding, "") if name in known), finding.fingerprint)
        members.setdefault(cause, []).append(finding)
    groups = [_group(cause, found) for cause, found in members.items()]
    return tuple(sorted(groups, key=lambda group: group.rank))


def first_actions(groups: Iterable[FindingGroup]) -> tuple[Action, ...]:
    """Return what to do about the worst causes, at most `ACTIONS` of them."""
    actions: list[Action] = []
    for group in groups:
        cause = group.cause
        step = cause.remedy[0] if cause.remedy else cause.message
        if others := [one.resource.name for one in group.causes[1:]]:
            step = f"{step} The same applies to {name_some('broker', others)}."
        command = cause.commands[0] if cause.commands else None
        ids = tuple(dict.fromkeys(finding.check_id for finding in (cause, *group.symptoms)))
        same = next((i for i, one in enumerate(actions) if (one.step, one.command) == (step, command)), None)
        if same is None:
            actions.append(Action(step, command, ids, 1 + len(group.symptoms)))
        else:
            known = actions[same]
            merged = tuple(dict.fromkeys((*known.check_ids, *ids)))
            actions[same] = Action(step, command, merged, known.settles + 1 + len(group.symptoms))
    return tuple(actions[:ACTIONS])


def evidence_action(diagnosis: Diagnosis) -> Action | None:
    """Return the step that comes before all findings where most checks could not be evaluated; None elsewhere."""
    if diagnosis.grade.is_given or not diagnosis.gaps:
        return None
    skipped = sum(result.status is CheckStatus.SKIPPED for result in diagnosis.results)
    step = f"Provide the missing evidence: {count_text(skipped, 'check')} could not be evaluated."
    refused = any(gap.reason in (GapReason.HIDDEN, GapReason.NOT_AUTHORIZED) for gap in diagnosis.gaps)
    if refused:
        return Action(step, Command("eosctl check acl doctor", "prints the rights that it needs"), (), 1)
    advice = next((gap.next_step for gap in diagnosis.gaps if gap.next_step), "")
    return Action(f"{step} {advice}".rstrip(), None, (), 1)


def _group(cause: str, found: list[Finding]) -> FindingGroup:
    def place(finding: Finding) -> tuple[bool, int, bool, str]:
        about_broker = cause in (_OF_A_LOST_BROKER, _OF_A_FAILED_DIRECTORY) and finding.resource.kind != "broker"
        about_transaction = not finding.check_id.startswith("EOS-TXN-")
        is_lag = finding.check_id == _BEHIND  # of the metadata: that of a broker which is down
        return about_broker or is_lag, finding.severity.rank, about_transaction, finding.check_id

    first = min(found, key=place)
    return FindingGroup(first, tuple(finding for finding in found if finding is not first))


def _cause_of(finding: Finding, snapshot: ClusterSnapshot, lost: frozenset[int]) -> str:
    if "@" in finding.incident and "file" not in dict(finding.facts):
        return finding.incident
    if lost and _follows_from(finding, snapshot, lost):
        return _OF_A_LOST_BROKER
    failed = frozenset(directory.broker_id for directory in snapshot.log_directories if directory.error)
    if failed and (finding.check_id == _DIRECTORY_FAILED or _follows_from(finding, snapshot, failed)):
        return _OF_A_FAILED_DIRECTORY
    return finding.fingerprint


def _lost_brokers(snapshot: ClusterSnapshot) -> frozenset[int]:
    """Return the brokers that are assigned replicas, or listed, and do not run."""
    offline = {node for topic in snapshot.topics for info in topic.partitions for node in info.offline_replicas}
    listed = {broker.node_id for broker in snapshot.brokers}
    down = {broker.node_id for broker in snapshot.brokers if not broker.reachable or broker.fenced}
    return frozenset((offline - listed) | down)


def _names(finding: Finding, cause: str) -> Iterator[tuple[str, str]]:
    """Yield what a finding is about, by names that the cluster and logs have in common; the narrowest first."""
    facts = {name: str(value) for name, value in finding.facts}
    from_logs = finding.check_id.startswith(_LOGS)
    directory = facts.get("log_dir", facts.get("path", ""))
    shared = {
        "producer": facts.get("producer_id", "").removeprefix("-1"),
        "transactional id": facts.get("transactional_id", ""),
        "log directory": f"{facts.get('broker', '')}:{directory}" if directory else "",
    }
    yield from ((name, value) for name, value in shared.items() if value)
    if from_logs:
        yield from (("broker", node) for node in facts.get("brokers", facts.get("broker", "")).split(",") if node)
    elif cause == _OF_A_LOST_BROKER and finding.resource.kind == "broker":
        yield "broker", finding.resource.name


_AVAILABILITY: Final = frozenset(
    {
        *("EOS-TOP-001", "EOS-TOP-002", "EOS-TOP-003", "EOS-TOP-007"),
        *("EOS-OPS-003", "EOS-OPS-006", "EOS-BRK-006", "EOS-BRK-007"),
    }
)


def _follows_from(finding: Finding, snapshot: ClusterSnapshot, lost: frozenset[int]) -> bool:
    if finding.check_id == _WITHOUT_LEADER:
        names = str(dict(finding.facts).get("partitions", "")).split(",")
        found = [info for topic in snapshot.topics for info in topic.partitions if str(info.partition) in names]
        return bool(found) and all(lost & set(info.replicas) for info in found)
    if finding.check_id == _UNEVEN:
        # No preferred leader can be elected on a broker that is gone.
        topics = [topic for topic in snapshot.topics if topic.name == finding.resource.name]
        return any(lost & set(info.replicas[:1]) for topic in topics for info in topic.partitions)
    if finding.check_id not in _AVAILABILITY:
        return False
    resource = finding.resource
    if resource.kind == "broker":
        return resource.name in {str(node) for node in lost}
    numbers = {number for number in str(dict(finding.facts).get("partitions", "")).split(",") if number}
    partitions = [
        info
        for topic in snapshot.topics
        if topic.name == resource.name
        for info in topic.partitions
        if str(info.partition.partition) in numbers
    ]
    return bool(partitions) and all(lost & (set(info.replicas) - set(info.isr)) or not info.isr for info in partitions)
