"""The diagnoses of several clusters, one row for each."""

from __future__ import annotations

import msgspec

from eosctl.errors import ExitCode


class FleetFinding(msgspec.Struct, frozen=True):
    """A finding of one cluster; `is_new` is None unless it was compared with the previous run."""

    check_id: str
    title: str
    severity: str
    resource: str
    message: str
    fix: str
    is_new: bool | None = None


class ClusterRow(msgspec.Struct, frozen=True, kw_only=True):
    """The diagnosis of one cluster, or the reason why it was not read.

    Attributes:
        profile: The profile that names the cluster.
        exit_code: The exit code that `eosctl doctor` has for this cluster alone.
        cluster_id: Its id; empty if it was not read.
        grade: A to F, or `-` without a grade.
        score: 0 to 100; None without a grade.
        critical: The number of critical findings.
        error: The number of findings of severity error.
        warning: The number of warnings.
        info: The number of findings for information.
        evaluated: The number of evaluated checks.
        skipped: The number of checks without enough evidence.
        first: The worst finding with its check and resource; empty without findings.
        failure: Why the cluster was not read; empty if it was.
        next_step: What to do about that.
        findings: The findings that count, the worst first.
        not_evaluated: The checks without enough evidence, each with the reason.
        last_at_ms: The time of the previous run, in ms since the epoch; None if the runs were not compared.
        gone: The findings of the previous run that no longer apply.
    """

    profile: str
    exit_code: int
    cluster_id: str = ""
    grade: str = "-"
    score: int | None = None
    critical: int = 0
    error: int = 0
    warning: int = 0
    info: int = 0
    evaluated: int = 0
    skipped: int = 0
    first: str = ""
    failure: str = ""
    next_step: str = ""
    findings: tuple[FleetFinding, ...] = ()
    not_evaluated: tuple[str, ...] = ()
    last_at_ms: int | None = None
    gone: tuple[str, ...] = ()


#: From the code that matters most. An unread cluster may hide anything, so it comes before findings.
_PRECEDENCE = (ExitCode.BAD_INPUT, ExitCode.FAILED, ExitCode.FINDINGS, ExitCode.INCOMPLETE)


def common_exit_code(rows: tuple[ClusterRow, ...]) -> ExitCode:
    """Return one exit code for all clusters: the one that matters most, 0 if all have 0."""
    codes = {row.exit_code for row in rows}
    return next((code for code in _PRECEDENCE if code in codes), ExitCode.DONE)
