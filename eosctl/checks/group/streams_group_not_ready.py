"""EOS-GRP-010."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.streams_topics import find_topic_problems
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.group_details import TopicProblems
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Group
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some

NOT_READY = "NotReady"
DESCRIBED = "StreamsGroupDescribe"


@check(
    "EOS-GRP-010",
    "Streams group is not ready",
    Area.GROUP,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.GROUPS, EvidenceKind.TOPICS}),
    tags=("streams",),
    references=("group.protocol", "KIP-1071"),
)
def streams_group_not_ready(case: Case) -> Iterator[Problem]:
    """Find streams groups that assign no tasks because topics of their topology are missing or wrong.

    What it checks:
        Groups of the Streams protocol in state NotReady, and internal topics whose number of partitions differs from
        the number of tasks in any state. The topology of the group is compared with the topics of the cluster. Which
        source topics are joined is not described; different numbers of partitions are then named as a possible reason.

    Why it matters for exactly-once:
        Members of such a group get no tasks: input is not processed, and transactions of the last run can stay open
        until they time out.

    Example:
        A source topic was deleted, or its partitions were increased after the changelog topics were created.

    Fix:
        Create the missing source topics. Missing internal topics are created with the next heartbeat if the members may
        create topics. After a change of the number of partitions, reset the application with
        kafka-streams-application-reset.sh.

    Verify:
        eosctl check run EOS-GRP-010 passes.
    """
    for group in case.snapshot.groups:
        if group.topology is None:
            continue
        problems = find_topic_problems(case.snapshot, group.topology)
        if group.state == NOT_READY or problems.mismatches:
            yield _problem(group, problems, case)


def _problem(group: Group, found: TopicProblems, case: Case) -> Problem:
    return Problem(
        resource=Resource("group", group.group_id),
        message=f"{group.group_id} is {'not ready' if group.state == NOT_READY else group.state}: {_reason(found)}.",
        severity=None if group.state == NOT_READY else Severity.WARNING,
        cause="Topics were deleted, changed, or not created; heartbeats report which in their status.",
        impact="Its members get no tasks, and its input is not processed."
        if group.state == NOT_READY
        else "It gets no tasks after the next rebalance that validates its topics.",
        evidence=(
            Evidence("state", group.state, DESCRIBED),
            *(
                Evidence(
                    one.topic,
                    f"{count_text(one.partition_count, 'partition')}, {count_text(one.expected_count, 'task')}",
                    "Metadata",
                )
                for one in found.mismatches
            ),
        ),
        remedy=_remedies(found),
        commands=(
            Command(
                f"eosctl group describe {quote(group.group_id)} -b {case.bootstrap}", "its topology and its members"
            ),
        ),
        verify=(Command(f"eosctl check run EOS-GRP-010 -b {case.bootstrap}"),),
        facts=(
            ("group", group.group_id),
            ("state", group.state),
            ("missing_sources", len(found.missing_sources)),
            ("missing_internal", len(found.missing_internal)),
            ("wrong_partition_counts", len(found.mismatches)),
        ),
    )


def _reason(found: TopicProblems) -> str:
    reasons = []
    if found.missing_sources:
        reasons.append(f"source {name_some('topic', found.missing_sources)} missing")
    if found.missing_internal:
        reasons.append(f"internal {name_some('topic', found.missing_internal)} missing")
    if found.mismatches:
        names = [f"{one.topic} ({one.partition_count}, not {one.expected_count})" for one in found.mismatches]
        reasons.append(f"wrong number of partitions in {name_some('topic', names)}")
    if not reasons and found.uneven:
        named = [f"{topic} ({count})" for _, counts in found.uneven for topic, count in counts]
        reasons.append(f"perhaps joined source topics have different numbers of partitions: {', '.join(named)}")
    return "; ".join(reasons) or "all topics of its topology exist, and no other reason was read"


def _remedies(found: TopicProblems) -> tuple[str, ...]:
    remedies = []
    if found.missing_sources:
        remedies.append("Create the missing source topics.")
    if found.missing_internal:
        remedies.append("Grant the members Create on the missing internal topics, or create them.")
    if found.mismatches:
        remedies.append("Stop the application, and reset it with kafka-streams-application-reset.sh.")
    return tuple(remedies) or ("Read the status in the log of a member; StreamsGroupHeartbeat names the reason.",)
