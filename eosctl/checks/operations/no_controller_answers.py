"""EOS-OPS-010."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.findings.grade import at_most
from eosctl.model.evidence import ACTIVE_CONTROLLER, QUIET_CONTROLLER, EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-OPS-010",
    "No controller answers",
    Area.OPERATIONS,
    Severity.CRITICAL,
    needs=frozenset({EvidenceKind.QUORUM}),
    tags=("availability",),
    references=(
        "KIP-595",
        "controller.quorum.voters",
    ),
)
def no_controller_answers(case: Case) -> Iterator[Problem]:
    """Find clusters that have lost their controller quorum.

    What it checks:
        Whether the active controller answers DescribeQuorum, which brokers forward to it. Brokers that answer other
        requests must have waited for longer than an election takes. A refused request, an unreachable broker, and a
        cluster with ZooKeeper are not findings: the check is skipped. An answer that names no leader is one. Where the
        time for the whole command is over before, the silence is a warning: it may have been an election.

    Why it matters for exactly-once:
        Without a controller no leader is elected, no in-sync replica is removed, and no producer id block is handed
        out. Brokers keep showing leaders and in-sync replicas as they were: partitions whose leader has died look
        healthy, and their transactions never complete.

    Example:
        Two of three combined nodes are down. The third answers Metadata and names the dead ones as leaders.

    Fix:
        Where one node hangs (paused, blocked disk) and the others run, another controller is elected within half a
        minute: repeat the check, and restart the node that hangs. Otherwise start enough controllers for a majority of
        the voters. Do not elect leaders and do not reassign partitions before that: no controller can do it.

    Verify:
        eosctl check run EOS-OPS-010 passes.
    """
    if not case.controller_is_silent:
        yield from _not_heard(case)
        return
    silent = next((gap for gap in case.snapshot.gaps if gap.subject == ACTIVE_CONTROLLER), None)
    if silent is not None:
        shown = [("answer", silent.error or silent.reason.value), ("silence", silent.detail)]
    else:
        voters = () if case.snapshot.quorum is None else case.snapshot.quorum.voters
        shown = [("leader", "none"), ("voters", ", ".join(map(str, voters)) or "none")]
    away = {broker.node_id for broker in case.snapshot.brokers if not broker.reachable}
    partitions = [info for topic in case.snapshot.topics for info in topic.partitions]
    led = sum(info.leader_id in away for info in partitions)
    stuck = f" {count_text(led, 'partition')} of {len(partitions)} have a leader that does not answer." if led else ""
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=f"No controller answers. Leaders and in-sync replicas are those from before its loss.{stuck}",
        cause="The active controller hangs, fewer than a majority of the voters run, or brokers cannot reach them.",
        impact="No leader is elected, and transactions on partitions without a running leader never complete.",
        evidence=(
            *(Evidence(label, text, "DescribeQuorum") for label, text in shown),
            *(Evidence("does not answer", f"broker {node_id}", "ApiVersions") for node_id in sorted(away)),
        ),
        remedy=(
            *_hung(away),
            "Start enough controllers for a majority of the voters; check their logs, disks, and network.",
            "Do not elect leaders or reassign partitions before a controller answers.",
        ),
        commands=(Command(f"kafka-metadata-quorum.sh --bootstrap-server {case.bootstrap} describe --status"),),
        verify=(Command(f"eosctl check run EOS-OPS-010 -b {case.bootstrap}"),),
        facts=(("partitions_led_by_silent_brokers", led), ("silent_broker_count", len(away)), at_most("F")),
    )


def _not_heard(case: Case) -> Iterator[Problem]:
    """Yield the silence that was too short to be more than an election."""
    quiet = next((gap for gap in case.snapshot.gaps if gap.subject == QUIET_CONTROLLER), None)
    if quiet is None:
        return
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message="No controller answered in the time given to the command. Without one, what brokers show is old.",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        cause="The quorum is lost, the active controller or the asked brokers hang, or an election took place.",
        impact="If it is lost, no leader is elected, and transactions without a running leader stay open.",
        evidence=(Evidence("silence", quiet.detail, "DescribeQuorum"),),
        remedy=("Check again with a --timeout of 10 s or more: a lost quorum is silent for longer than an election.",),
        commands=(Command(f"eosctl check run EOS-OPS-010 -b {case.bootstrap} --timeout 30s"),),
        verify=(Command(f"eosctl check run EOS-OPS-010 -b {case.bootstrap}"),),
        facts=(at_most("D"),),
    )


def _hung(away: set[int]) -> tuple[str, ...]:
    """Return the step for the loss of one node, which is most often the controller that has not been replaced yet."""
    if len(away) != 1:
        return ()
    (node_id,) = away
    return (f"Restart node {node_id} if it hangs, and check again after 30 s: the others elect another controller.",)
