"""The exit code of a run: what its options, the project's rules, and a baseline demand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError, ExitCode, unknown_name
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.findings.gate import Gate, falls_short, judge_gate
from eosctl.findings.gate_rules import GateRules, Suppression
from eosctl.findings.grouping import first_actions, group_findings
from eosctl.findings.judged import Judged
from eosctl.findings.suppression import suppress
from eosctl.model.severity import Severity
from eosctl.services.gate_options import GateOptions
from eosctl.settings.files.baseline import read_baseline
from eosctl.settings.files.gate_file import GATE_FILE, read_gate_rules
from eosctl.text import time_text

_OPEN_AREAS: Final = ("logs", "checklist")
"""Areas whose kinds are not listed anywhere: incidents in logs, and items of checklists."""


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """Return the kinds of findings that have no check of their own, by area; only suppressions ask for them."""
    from eosctl.findings.runbook_flaw import FlawKind
    from eosctl.lab.history.anomaly import Kind
    from eosctl.lab.history.feed import Fault

    return {
        "fsck": frozenset(CONSEQUENCES),
        "runbook": frozenset(FlawKind),
        "verify": frozenset(Kind) | frozenset(Fault),
    }


class GateFiles(NamedTuple):
    """The gate with everything that its files say.

    Attributes:
        gate: The demands on the run.
        suppressions: Findings that the project accepts.
        baseline: Fingerprints of known findings.
    """

    gate: Gate
    suppressions: tuple[Suppression, ...]
    baseline: frozenset[str]


class Verdict(NamedTuple):
    """The exit code of a run, with remarks on what no finding shows."""

    exit_code: ExitCode
    remarks: tuple[str, ...] = ()


def read_gate(options: GateOptions, fail_on: Severity | None = Severity.ERROR, *, has_score: bool = True) -> GateFiles:
    """Complete the options from the project's rules, and read the baseline.

    Args:
        options: The options as given.
        fail_on: The lowest severity that fails the run where neither options nor rules name one; None where findings
            do not fail it.
        has_score: Whether the run gives a score, which the rules may limit.

    Raises:
        ConfigFileError: The rules or the baseline cannot be read.
    """
    path = options.rules or Path(GATE_FILE)
    rules = read_gate_rules(path) if path.exists() else GateRules()
    gate = Gate(
        options.fail_on or rules.fail_on or fail_on,
        options.exit_zero,
        options.require_complete,
        (rules.min_score if options.min_score is None else options.min_score) if has_score else None,
    )
    known = frozenset() if options.baseline is None else read_baseline(options.baseline)
    return GateFiles(gate, _with_ids(rules.suppressions, path), known)


def _with_ids(suppressions: tuple[Suppression, ...], path: Path) -> tuple[Suppression, ...]:
    """Return the suppressions with the ids of the checks that they name.

    Raises:
        ConfigFileError: A name is not that of a check. An unknown id hides nothing, and the run reports it.
    """
    if not suppressions:
        return ()
    from eosctl.checks.registry import CATALOG, check_id_of, find_check, names_of  # a log scan needs no check

    for one in suppressions:
        area, slash, _ = one.check_id.partition("/")
        is_kind = slash and area in (*_kinds(), *_OPEN_AREAS)
        if find_check(one.check_id) is None and not is_kind and not one.check_id.startswith("EOS-"):
            error = unknown_name("check", one.check_id, names_of(CATALOG), "List them: eosctl check list")
            raise ConfigFileError(f"A suppression in {path}: {error.what}", error.why, error.next_step)
    return tuple(replace(one, check_id=check_id_of(one.check_id)) for one in suppressions)


def without_suppressed(diagnosis: Diagnosis, files: GateFiles, at_ms: int) -> Diagnosis:
    """Return a diagnosis without the findings that the project accepts.

    Args:
        diagnosis: The results of the checks.
        files: The suppressions and the baseline.
        at_ms: The time, in ms since the epoch: suppressions expire.
    """
    counted = suppress(diagnosis, files.suppressions, files.baseline, time_text(at_ms)[:10])
    unknown = tuple(
        f"The suppression of {one.check_id} ({one.scope}) names no check, and hides nothing: correct it."
        for one in files.suppressions
        if not _is_known(one.check_id)
    )
    return replace(counted, remarks=(*counted.remarks, *unknown))


def _is_known(check_id: str) -> bool:
    """Return whether findings may have this id."""
    from eosctl.checks.registry import find_check

    area, _, kind = check_id.partition("/")
    return kind in _kinds().get(area, ()) or area in _OPEN_AREAS or find_check(check_id) is not None


def judge_run(diagnosis: Diagnosis, gate: Gate) -> Verdict:
    """Return the exit code of a run; a low score and a check that crashed are named: no finding shows them."""
    is_low = falls_short(diagnosis, gate) and not gate.exit_zero
    remarks = [f"{diagnosis.grade}: below --min-score {gate.min_score}"] if is_low else []
    remarks += [f"{one.check_id} was not judged: {one.reason}" for one in diagnosis.results if one.has_crashed]
    return Verdict(judge_gate(diagnosis, gate), tuple(remarks))


def judge_findings(diagnosis: Diagnosis, files: GateFiles, at_ms: int) -> Judged:
    """Return what counts of a diagnosis, by cause, with the first actions and the exit code.

    Args:
        diagnosis: The results of the checks.
        files: The demands on the run, with suppressions and baseline.
        at_ms: The time, in ms since the epoch: suppressions expire.
    """
    counted = without_suppressed(diagnosis, files, at_ms)
    groups = group_findings(counted.findings)
    verdict = judge_run(counted, files.gate)
    actions = first_actions(groups)
    return Judged(
        diagnosis=counted,
        found=diagnosis.findings,
        groups=groups,
        actions=actions,
        exit_code=verdict.exit_code,
        at_ms=at_ms,
        remarks=verdict.remarks,
    )
