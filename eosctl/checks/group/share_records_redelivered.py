"""EOS-GRP-009."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.share_deliveries import BROKER_LIMIT, GROUP_LIMIT, Deliveries, delivery_limits, repeated_records
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Group
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, time_text

LOCK_DURATION = "share.record.lock.duration.ms"


@check(
    "EOS-GRP-009",
    "Share group delivers records again and again",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset(
        {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.SHARE_STATE, EvidenceKind.BROKER_CONFIGS}
    ),
    tags=("offsets", "share"),
    references=(GROUP_LIMIT, BROKER_LIMIT, LOCK_DURATION, "KIP-932"),
)
def share_records_redelivered(case: Case) -> Iterator[Problem]:
    """Find records of share groups that consumers take and do not acknowledge.

    What it checks:
        The newest 5,000 offsets of each partition of __share_group_state: records that wait for another delivery after
        half of share.delivery.count.limit. Records that a consumer holds at the moment are not in that log.

    Why it matters for exactly-once:
        Each delivery may have been processed in part, so effects are repeated. At the limit, brokers give the record
        up. Until then the start offset does not pass it, and brokers deliver smaller batches to find it.

    Example:
        Processing takes longer than share.record.lock.duration.ms, and every lock expires before the acknowledgement.

    Fix:
        Correct what fails in the consumer. Raise share.record.lock.duration.ms, renew acknowledgements, or fetch fewer
        records where processing is slow.

    Verify:
        eosctl check run EOS-GRP-009 passes.
    """
    for group, limit in delivery_limits(case.snapshot):
        for found in repeated_records(group, limit):
            yield _problem(group, found, limit, case)


def _problem(group: Group, found: Deliveries, limit: int, case: Case) -> Problem:
    where = found.share.partition
    lock = group.setting(LOCK_DURATION)
    held = () if lock is None or lock.value is None else (Evidence(lock.name, lock.value, "DescribeConfigs"),)
    return Problem(
        resource=Resource("group", f"{group.group_id} on {where}"),
        message=f"{count_text(found.record_count, 'record')} of {where} came back from consumers of {group.group_id} "
        f"up to {count_text(found.most_deliveries, 'time')} of {limit}.",
        cause="Consumers release the records, or their locks expire before the acknowledgement.",
        impact=f"After {limit} deliveries the records are given up; until then the group does not pass them.",
        evidence=(
            *(
                Evidence(
                    f"offsets {one.first_offset} to {one.last_offset}",
                    f"available after delivery {one.delivery_count} of {limit}",
                    f"__share_group_state, {time_text(one.written_at_ms)}",
                )
                for one in found.ranges[:8]
            ),
            *held,
        ),
        remedy=(
            "Correct what fails in the consumer.",
            f"Raise {LOCK_DURATION}, or fetch fewer records, if processing is slow.",
        ),
        verify=(Command(f"eosctl check run EOS-GRP-009 -b {case.bootstrap}"),),
        facts=(
            ("group", group.group_id),
            ("partition", str(where)),
            ("record_count", found.record_count),
            ("most_deliveries", found.most_deliveries),
            ("delivery_limit", limit),
        ),
    )
