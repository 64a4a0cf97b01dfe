"""Judge the incidents and unexplained records of logs by the project's rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import ExitCode
from eosctl.findings.logs_report import LogsReport
from eosctl.logs.diagnosis import counted, diagnose_logs
from eosctl.model.log_findings import SkippedFile
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.gate import judge_run, read_gate, without_suppressed
from eosctl.services.gate_options import GateOptions
from eosctl.services.log_categories import log_categories
from eosctl.services.mine_logs import MineRequest, report_logs

_ACTING: Final = ("act", "critical")
"""The severities of categories that call for action."""


class LogsJudged(NamedTuple):
    """The result of a report of logs.

    Attributes:
        report: The logs without what is suppressed, with the digest of their messages.
        far_away: Files whose records lie far from the period; empty if any event was found.
        exit_code: The exit code that `eosctl logs report` ends with.
    """

    report: LogsReport
    far_away: tuple[SkippedFile, ...]
    exit_code: ExitCode


def judge_logs(
    request: MineRequest,
    gate: GateOptions = GateOptions(),  # noqa: B008  immutable
    baseline: Sequence[Path] | None = None,
    callbacks: Callbacks = SILENT,
) -> LogsJudged:
    """Read logs, compare them with those of a healthy time, and judge what they hold.

    Findings fail the run only where the options or the rules name a severity. A file that could not be read to its
    end always does, unless ``exit_zero`` is given.

    Args:
        request: The logs.
        gate: The demands on the result; its own baseline is a file of known findings.
        baseline: Logs of a healthy time, of any period; None without a comparison.
        callbacks: Called while the logs are read.

    Raises:
        ConfigFileError: The rules cannot be read.
        EosctlError: As `mine_logs`.
    """
    # What is wrong with the rules must show before any verdict.
    files = read_gate(gate, None, has_score=False)
    mined, digest = report_logs(request, baseline, callbacks)
    now_ms = callbacks.now_ms()
    acting = tuple(one for one in log_categories() if one.severity in _ACTING)
    found = diagnose_logs(mined.findings, [one.id for one in acting], now_ms)
    diagnosis = without_suppressed(found, files, now_ms)
    report = LogsReport(counted(mined.findings, diagnosis), digest, diagnosis, acting, now_ms)
    code = judge_run(diagnosis, files.gate).exit_code
    # How much of the logs must be understood is not for the grade to say: a report of logs has none.
    if code in (ExitCode.DONE, ExitCode.BAD_INPUT) and not gate.exit_zero:
        code = mined.exit_code
    return LogsJudged(report, mined.far_away, code)
