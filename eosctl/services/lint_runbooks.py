"""Find errors in runbooks before a user runs them."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.findings.judged import Judged
from eosctl.model.severity import Severity
from eosctl.runbooks.lint_diagnosis import diagnose_runbooks
from eosctl.runbooks.load import find_runbook, library
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.gate import judge_findings, read_gate
from eosctl.services.gate_options import GateOptions


class RunbooksLinted(NamedTuple):
    """The result of a lint of runbooks: the names of those that were judged, and what was found."""

    names: tuple[str, ...]
    judged: Judged


def lint_runbooks(
    names: tuple[str, ...] = (),
    gate: GateOptions = GateOptions(),  # noqa: B008  immutable
    callbacks: Callbacks = SILENT,
) -> RunbooksLinted:
    """Judge runbooks: unknown names, steps that lead nowhere, changes without a confirmation, and harmful procedures.

    Args:
        names: Ids of the library, or files; the whole library if empty.
        gate: The demands on the result.
        callbacks: Only the clock is called.

    Raises:
        UsageError: No runbook has this name.
        ConfigFileError: A file is not a runbook, or the rules or the baseline cannot be read.
    """
    files = read_gate(gate, Severity.WARNING, has_score=False)
    sources = tuple(map(find_runbook, names)) if names else library()
    now_ms = callbacks.now_ms()
    judged = judge_findings(diagnose_runbooks(sources, now_ms), files, now_ms)
    return RunbooksLinted(tuple(source.name for source in sources), judged)
