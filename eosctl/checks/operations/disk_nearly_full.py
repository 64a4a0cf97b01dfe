"""EOS-OPS-005."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-OPS-005",
    "Volume of a log directory is nearly full",
    Area.OPERATIONS,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.LOG_DIRS}),
    since=(3, 3),
    tags=(
        "capacity",
        "availability",
    ),
    references=(
        "KIP-827",
        "log.dirs",
    ),
)
def disk_nearly_full(case: Case) -> Iterator[Problem]:
    """Find brokers that soon cannot write.

    What it checks:
        How full the volume of each log directory is, against 85 per cent.

    Why it matters for exactly-once:
        A broker that cannot write loses the directory with all leaders and coordinators on it. A transaction log that
        cannot be written leaves decisions without markers.

    Example:
        A hanging transaction has kept the cleaner from a changelog for days.

    Fix:
        Free space: shorter retention, more disks, fewer replicas; find topics that are no longer compacted.

    Verify:
        eosctl check run EOS-OPS-005 passes.
    """
    for directory in case.snapshot.log_directories:
        if directory.error or directory.total_bytes <= 0 or directory.usable_bytes < 0:
            continue
        used = 100 - 100 * directory.usable_bytes // directory.total_bytes
        if used > case.limits.disk_used_percent:
            yield Problem(
                resource=Resource("broker", str(directory.broker_id)),
                # Not "is full": what the system reserves, or a quota denies, is neither used nor usable.
                message=f"Broker {directory.broker_id} has only {100 - used} % of the volume of {directory.path} left.",
                impact="When nothing is left the broker loses the directory.",
                evidence=(
                    Evidence(
                        "usable", f"{directory.usable_bytes:,} of {directory.total_bytes:,} bytes", "DescribeLogDirs"
                    ),
                    Evidence("logs", f"{directory.log_bytes:,} bytes", "DescribeLogDirs"),
                ),
                remedy=("Free disk space, and find topics that are no longer compacted.",),
                commands=(Command(f"eosctl txn hanging --all -b {case.bootstrap}", "does one hold the cleaner?"),),
                verify=(Command(f"eosctl check run EOS-OPS-005 -b {case.bootstrap}"),),
                incident=directory.path,
                facts=(("broker", directory.broker_id), ("path", directory.path), ("used_percent", used)),
            )
