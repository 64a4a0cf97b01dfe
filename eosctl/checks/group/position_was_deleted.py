"""EOS-GRP-003."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-GRP-003",
    "Group's position was deleted by retention",
    Area.GROUP,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.GROUP_OFFSETS, EvidenceKind.OFFSETS}),
    tags=(
        "offsets",
        "retention",
    ),
    references=(
        "KIP-320",
        "retention.ms",
        "auto.offset.reset",
    ),
)
def position_was_deleted(case: Case) -> Iterator[Problem]:
    """Find groups whose next record is gone.

    What it checks:
        Committed offsets below the log start offset of their partition.

    Why it matters for exactly-once:
        Retention does not wait for groups. The reader gets OFFSET_OUT_OF_RANGE and continues at auto.offset.reset:
        what was deleted is processed zero times, or everything that is left a second time.

    Example:
        A sink that stood still for longer than the topic's retention.ms.

    Fix:
        Decide where to continue and set it (kafka-consumer-groups.sh --reset-offsets); raise the retention above the
        longest standstill.

    Verify:
        eosctl check run EOS-GRP-003 passes.
    """
    for group in case.snapshot.groups:
        gone = []
        for committed in group.offsets:
            info = case.snapshot.partition(committed.partition)
            start = info.log_start_offset if info is not None else None
            if start is not None and committed.offset is not None and committed.offset < start:
                gone.append((str(committed.partition), start - committed.offset))
        if gone:
            lost = sum(count for _, count in gone)
            yield Problem(
                resource=Resource("group", group.group_id),
                message=f"{group.group_id} stands before {name_some('partition', [name for name, _ in gone])} begins.",
                impact=f"{count_text(lost, 'offset')} were deleted before it read them.",
                evidence=tuple(
                    Evidence(name, f"{count_text(count, 'offset')} gone", "OffsetFetch") for name, count in gone[:8]
                ),
                remedy=("Decide where the group continues, and raise the retention.",),
                commands=(
                    Command(
                        f"kafka-consumer-groups.sh --bootstrap-server {case.bootstrap} --group {quote(group.group_id)} "
                        "--describe",
                        "its positions",
                    ),
                ),
                verify=(Command(f"eosctl check run EOS-GRP-003 -b {case.bootstrap}"),),
                facts=(("group", group.group_id), ("deleted_offsets", lost)),
            )
