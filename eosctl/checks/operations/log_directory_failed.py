"""EOS-OPS-004."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-OPS-004",
    "Log directory has failed",
    Area.OPERATIONS,
    Severity.CRITICAL,
    needs=frozenset({EvidenceKind.LOG_DIRS}),
    tags=(
        "durability",
        "availability",
    ),
    references=(
        "KIP-112",
        "KIP-858",
        "log.dirs",
    ),
)
def log_directory_failed(case: Case) -> Iterator[Problem]:
    """Find brokers that have lost a directory.

    What it checks:
        The error of each log directory as its broker reports it.

    Why it matters for exactly-once:
        Its partitions are gone from this broker until it restarts with the directory; coordinators on it have moved,
        and the data is one replica short.

    Example:
        A disk that turned read-only.

    Fix:
        Replace the disk and restart the broker; its replicas are copied again.

    Verify:
        eosctl check run EOS-OPS-004 passes.
    """
    for directory in case.snapshot.log_directories:
        if directory.error:
            yield Problem(
                resource=Resource("broker", str(directory.broker_id)),
                message=f"{directory.path} of broker {directory.broker_id} has failed: {directory.error}.",
                impact="Its partitions are one replica short, or offline.",
                evidence=(Evidence(directory.path, directory.error, f"DescribeLogDirs broker {directory.broker_id}"),),
                remedy=("Replace the disk and restart the broker.",),
                commands=(Command(f"kafka-log-dirs.sh --bootstrap-server {case.bootstrap} --describe"),),
                verify=(Command(f"eosctl check run EOS-OPS-004 -b {case.bootstrap}"),),
                incident=directory.path,
                facts=(("broker", directory.broker_id), ("path", directory.path), ("error", directory.error)),
            )
