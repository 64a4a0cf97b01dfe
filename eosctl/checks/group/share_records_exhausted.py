"""EOS-GRP-008."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.share_deliveries import BROKER_LIMIT, GROUP_LIMIT, Deliveries, delivery_limits, exhausted_records
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.bootstrap import CONSUMER_CONFIG, bootstrap_of
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Group
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, time_text


@check(
    "EOS-GRP-008",
    "Records of a share group reached the delivery limit",
    Area.GROUP,
    Severity.ERROR,
    needs=frozenset(
        {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.SHARE_STATE, EvidenceKind.BROKER_CONFIGS}
    ),
    tags=("offsets", "share"),
    references=(GROUP_LIMIT, BROKER_LIMIT, "KIP-932"),
)
def share_records_exhausted(case: Case) -> Iterator[Problem]:
    """Find records that a share group gave up after their last delivery.

    What it checks:
        The newest 5,000 offsets of each partition of __share_group_state: records that were archived when their
        delivery count reached share.delivery.count.limit. A rejected record has a lower count, unless it was rejected
        at its last delivery.

    Why it matters for exactly-once:
        Brokers archive such a record and deliver it to no consumer of the group again. The group continues behind it,
        and its lag shows nothing: the record is lost to the application.

    Example:
        A consumer fails on one record. Its lock expires five times, and the record is archived.

    Fix:
        Read the records at the named offsets with a plain consumer, process them, and correct the consumer. Let it
        reject records that it can never process, and raise the limit where consumers fail for reasons that pass.

    Verify:
        eosctl check run EOS-GRP-008 passes once newer records of the group have replaced the old ones in the log.
    """
    for group, limit in delivery_limits(case.snapshot):
        for found in exhausted_records(group, limit):
            yield _problem(group, found, limit, case)


def _problem(group: Group, found: Deliveries, limit: int, case: Case) -> Problem:
    where, first = found.share.partition, found.ranges[0]
    newest_ms = max(one.written_at_ms for one in found.ranges)
    reached = bootstrap_of(case.snapshot, CONSUMER_CONFIG)
    return Problem(
        resource=Resource("group", f"{group.group_id} on {where}"),
        message=f"{group.group_id} gave up {count_text(found.record_count, 'record')} of {where} after "
        f"{found.most_deliveries} deliveries, the last of them at {time_text(newest_ms)}.",
        cause="Consumers released the records, or did not acknowledge them before their locks expired.",
        impact="No consumer of the group receives them again, and the lag does not show them.",
        evidence=tuple(
            Evidence(
                f"offsets {one.first_offset} to {one.last_offset}",
                f"archived at delivery {one.delivery_count} of {limit}",
                f"__share_group_state, {time_text(one.written_at_ms)}",
            )
            for one in found.ranges[:8]
        ),
        remedy=(
            "Read the records at these offsets with a plain consumer, and process them.",
            f"Correct the consumer, or raise {GROUP_LIMIT} if it fails for reasons that pass.",
        ),
        commands=(
            Command(
                f"kafka-console-consumer.sh --bootstrap-server {reached} --topic {quote(where.topic)} "
                f"--partition {where.partition} --offset {first.first_offset} --max-messages "
                f"{first.last_offset - first.first_offset + 1}",
                "the first of the records",
            ),
        ),
        verify=(Command(f"eosctl check run EOS-GRP-008 -b {case.bootstrap}"),),
        facts=(
            ("group", group.group_id),
            ("partition", str(where)),
            ("record_count", found.record_count),
            ("delivery_limit", limit),
        ),
    )
