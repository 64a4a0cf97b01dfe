"""Diagnose a cluster, saved evidence, configuration files, logs, and metrics together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.diagnosis_timeline import build_diagnosis_timeline
from eosctl.analysis.read_as import read_as
from eosctl.checks.declaration import Case, Check
from eosctl.checks.files_with_cluster import joined, judge_files
from eosctl.checks.live_brokers import LIVE_RULES, judge_live_brokers
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import ALL_CHECKS, CONFIGURATION_CHECKS
from eosctl.checks.runner import diagnose as run_checks
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.collect.printed.evidence import PrintedEvidence
from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.findings.bootstrap import complete_commands
from eosctl.findings.diagnosis import Diagnosis, Grade
from eosctl.findings.finding import Command, Finding
from eosctl.findings.grade import limited_by_files, of_excerpt
from eosctl.findings.grouping import ACTIONS, Action, FindingGroup, evidence_action, first_actions, group_findings
from eosctl.findings.linted import Unreadable
from eosctl.findings.manual import ManualItem
from eosctl.findings.report import Report
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.advice import name_runbooks
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.check_selection import choose_checks, evidence_for
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection, names_a_cluster
from eosctl.services.gate import GateFiles, judge_run, read_gate, without_suppressed
from eosctl.services.gate_options import GateOptions
from eosctl.services.notify import diagnosis_lines, resolve_address, send
from eosctl.services.run_history import compare_with_last, sentences
from eosctl.services.sources import Sources, check_sources, read_sources
from eosctl.services.tool_output import reading_of, sort_paths, with_settings, without_evidence
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.files_read import FilesRead
from eosctl.settings.files.inline_suppressions import read_inline_suppressions
from eosctl.settings.files.piped import with_pipes

NEXT_COMMANDS: Final = 3
_NOTHING: Final = ("The files hold no settings of Kafka and no evidence of a cluster: nothing was judged.",)

_STANDARD_INPUT: Final = Path("-")


class DiagnoseRequest(msgspec.Struct, frozen=True):
    """The evidence to judge, and the demands on the result.

    Evidence can be a cluster, a saved snapshot, configuration files, logs, and metrics, in any combination. Without
    any of them, the cluster that the environment names is read.

    Attributes:
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        paths: Configuration files, files with the output of Kafka's tools, and folders of them.
        sources: Logs and metrics.
        checks: Ids, areas, and tags of checks, for which only the evidence that they need is collected; ``()`` for
            all. Those of configuration files need paths. None runs all checks on all evidence.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        save_snapshot: A file to keep the evidence in.
        gate: What decides the exit code.
        command: The name that reports show.
        since_last: Whether the remarks compare the findings with the cluster's previous run.
        notify: A webhook, or a reference to it, to which a result that fails is sent; with `since_last`, a result that
            changed. None for no message.
    """

    connection: Connection = Connection()
    snapshot_file: Path | None = None
    paths: tuple[Path, ...] = ()
    sources: Sources = Sources()
    checks: tuple[str, ...] | None = None
    second_look_after_ms: int = 500
    save_snapshot: Path | None = None
    gate: GateOptions = GateOptions()
    command: str = "doctor"
    since_last: bool = False
    notify: str | None = None


class Diagnosed(NamedTuple):
    """The result of a diagnosis.

    Attributes:
        report: The diagnosis without suppressed findings, with causes, first actions, timeline, and next commands.
        checks: The checks that ran.
        found: All findings, also those that are suppressed or in the baseline; the worst first.
        unreadable: Configuration files that could not be read, each with the error.
        exit_code: The exit code that `eosctl doctor` ends with.
        remarks: Remarks on the exit code that no finding shows.
    """

    report: Report
    checks: tuple[Check, ...]
    found: tuple[Finding, ...]
    unreadable: tuple[Unreadable, ...]
    exit_code: ExitCode
    remarks: tuple[str, ...]

    @property
    def manuals(self) -> tuple[ManualItem, ...]:
        """The manuals of the checks that ran."""
        return tuple(map(manual_of, self.checks))

    @property
    def diagnosis(self) -> Diagnosis:
        """The results of the checks, without suppressed findings."""
        return self.report.diagnosis

    @property
    def grade(self) -> Grade:
        """The grade with its arithmetic."""
        return self.diagnosis.grade

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that count, the worst first."""
        return self.diagnosis.findings


class _Evidence(NamedTuple):
    """What was collected, and the checks for it."""

    snapshot: ClusterSnapshot | None
    checks: tuple[Check, ...]
    log_reading: str = ""
    printed_reading: str = ""


def diagnose(request: DiagnoseRequest, callbacks: Callbacks = SILENT) -> Diagnosed:
    """Collect evidence, run every check that applies, grade, and advise.

    Only read requests are sent to a cluster. A configuration file that cannot be read does not stop the others: it is
    reported, and the exit code is 2.

    Args:
        request: The evidence and the demands.
        callbacks: Called while the diagnosis runs.

    Raises:
        UsageError: The request contradicts itself, or names a check or a zone that does not exist.
        ConfigFileError: A snapshot, the rules, or the baseline cannot be read.
        EosctlError: No broker of the cluster answered.
    """
    check_sources(request.sources)
    _check_paths(request)
    address = None if request.notify is None else resolve_address(request.notify)
    chosen = None if request.checks is None else choose_checks(request.checks, of_files=bool(request.paths))
    checks = ALL_CHECKS if chosen is None else tuple(one for one in chosen if not one.is_about_configuration)
    piped = with_pipes(request.paths, {})
    paths, printed, texts, *_ = sort_paths(piped.paths, callbacks.now_ms(), piped.texts)
    files = _read_files(paths, piped.texts, callbacks)
    evidence = _with_printed(_collect(request, checks, callbacks), printed, checks, callbacks)
    if evidence.printed_reading:
        files = with_settings(files, printed, texts)
    # What is wrong with these must show before any verdict.
    gate = _with_comments(read_gate(request.gate), files, piped.texts, callbacks)
    if request.save_snapshot is not None and evidence.snapshot is not None:
        save_snapshot(evidence.snapshot, request.save_snapshot)
        callbacks.remark(f"snapshot: {request.save_snapshot}")
    callbacks.progress("checks")
    diagnosed = _judge(request, evidence, files, gate, callbacks.now_ms())
    changes: tuple[str, ...] = ()
    is_news = diagnosed.exit_code is not ExitCode.DONE
    if request.since_last:
        since = compare_with_last(diagnosed.diagnosis, callbacks.now_ms())
        changes = sentences(since, diagnosed.diagnosis)
        is_news = is_news if since.last_at_ms is None else bool(since.new or since.gone)
        diagnosed = diagnosed._replace(remarks=(*diagnosed.remarks, *changes))
    if address is not None and is_news:
        try:
            send(address, diagnosis_lines(diagnosed.diagnosis, changes))
        except EosctlError as error:
            callbacks.report_error(error)
            if diagnosed.exit_code is ExitCode.DONE:
                diagnosed = diagnosed._replace(exit_code=ExitCode.FAILED)
    return diagnosed


def diagnose_snapshot(snapshot: ClusterSnapshot, gate: GateFiles, now_ms: int) -> Diagnosed:
    """Run every check that applies on evidence that was collected already, grade, and advise.

    Args:
        snapshot: The evidence.
        gate: What decides the exit code.
        now_ms: The time of the report, in ms since the epoch.
    """
    return _judge(DiagnoseRequest(), _Evidence(snapshot, ALL_CHECKS), None, gate, now_ms)


def _with_comments(
    gate: GateFiles, files: FilesRead | None, texts: Mapping[str, str], callbacks: Callbacks
) -> GateFiles:
    """Return the gate with the suppressions in comments of files, as `config lint` respects them."""
    if files is None or not files.marked:
        return gate
    inline = read_inline_suppressions(files.marked, texts)
    for sentence in inline.remarks:
        callbacks.remark(sentence)
    return gate._replace(suppressions=(*inline.suppressions, *gate.suppressions))


def _check_paths(request: DiagnoseRequest) -> None:
    """Refuse paths that do not exist, and a standard input that is read twice."""
    missing = next((path for path in request.paths if path != _STANDARD_INPUT and not path.exists()), None)
    if missing is not None:
        raise UsageError(f"{missing} does not exist.", "", "Name a file, a folder, or - for standard input.")
    if [*request.paths, *request.sources.logs].count(_STANDARD_INPUT) > 1:
        raise UsageError("- was given twice.", "Standard input is one text.", "Save one of the two, and name the file.")


def _read_files(paths: Sequence[Path], texts: Mapping[str, str], callbacks: Callbacks) -> FilesRead | None:
    if not paths:
        return None
    files = read_deployment(paths, texts=texts)
    for broken in files.unreadable:
        callbacks.report_error(broken.error)
    for file in files.not_understood:
        callbacks.remark(f"{file} is about Kafka, and was not understood: no rule has judged it.")
    for one in files.unseen:
        callbacks.remark(f"{one}: no rule has judged it.")
    return files


def _collect(request: DiagnoseRequest, checks: tuple[Check, ...], callbacks: Callbacks) -> _Evidence:
    sources = request.sources
    snapshot = None
    is_alone = not request.paths and not sources.are_given
    if is_alone or request.snapshot_file is not None or names_a_cluster(request.connection):
        kinds = None if request.checks is None else evidence_for(checks)
        wanted = EvidenceRequest(request.connection, request.snapshot_file, kinds, request.second_look_after_ms)
        snapshot = collect_evidence(wanted, callbacks)
    elif request.save_snapshot is not None and not sources.are_given:
        raise UsageError("--save-snapshot was given, and no cluster.", "Files make no snapshot.", "Name a cluster.")
    if not sources.are_given:
        return _Evidence(snapshot, () if snapshot is None else checks)
    bare = ClusterSnapshot(captured_at_ms=callbacks.now_ms(), cluster_id="")
    read = read_sources(snapshot or bare, sources, callbacks)
    if snapshot is None:
        # The others would only be reported as skipped.
        checks = tuple(check for check in checks if check.needs and check.needs <= read.snapshot.collected)
    return _Evidence(read.snapshot, checks, read.log_reading)


def _with_printed(
    evidence: _Evidence, printed: PrintedEvidence, checks: tuple[Check, ...], callbacks: Callbacks
) -> _Evidence:
    """Return the evidence with what Kafka's tools printed; a cluster that was read goes before it."""
    for sentence in without_evidence(printed):
        callbacks.remark(sentence)
    if printed.snapshot is None:
        return evidence
    if evidence.snapshot is not None:
        callbacks.remark(f"{reading_of(printed)}; it was not used, as other evidence was given.")
        return evidence
    known = tuple(check for check in checks if check.needs and check.needs <= printed.snapshot.collected)
    return _Evidence(printed.snapshot, known, printed_reading=reading_of(printed))


def _first(diagnosis: Diagnosis, groups: Sequence[FindingGroup]) -> tuple[Action, ...]:
    blind = evidence_action(diagnosis)
    return first_actions(groups) if blind is None else (blind, *first_actions(groups))[:ACTIONS]


def _judge(
    request: DiagnoseRequest, evidence: _Evidence, files: FilesRead | None, gate: GateFiles, now_ms: int
) -> Diagnosed:
    snapshot, checks = evidence.snapshot, evidence.checks
    case = Case(snapshot or ClusterSnapshot(captured_at_ms=now_ms, cluster_id=""))
    diagnosis = name_runbooks(run_checks(checks, case), case.bootstrap)
    if files is not None:
        cluster = snapshot if snapshot is not None and snapshot.brokers else None
        of_files = _checks_of_files(request)
        diagnosis = joined(diagnosis, judge_files(files.deployment, cluster, of_files))
        checks = (*checks, *of_files)
    elif request.checks is None and snapshot is not None:
        live = judge_live_brokers(snapshot)
        diagnosis = joined(diagnosis, live)
        checks = (*checks, *LIVE_RULES) if live else checks
    found = diagnosis.findings
    diagnosis = complete_commands(without_suppressed(diagnosis, gate, now_ms), case.snapshot)
    if evidence.printed_reading:
        diagnosis = replace(diagnosis, grade=of_excerpt(diagnosis.grade))
    unreadable, not_understood = ((), ()) if files is None else (files.unreadable, files.not_understood)
    diagnosis = replace(diagnosis, grade=limited_by_files(diagnosis.grade, len(unreadable), len(not_understood)))
    groups = group_findings(diagnosis.findings, case.snapshot)
    report = Report(
        command=request.command,
        diagnosis=diagnosis,
        snapshot=case.snapshot,
        verdicts=case.open_transactions,
        generated_at_ms=now_ms,
        groups=groups,
        actions=_first(diagnosis, groups),
        next_commands=_next_commands(diagnosis),
        file_count=0 if files is None else len(files.read),
        log_reading=evidence.log_reading,
        printed_reading=evidence.printed_reading,
        timeline=build_diagnosis_timeline(case.snapshot, diagnosis.findings, case.open_transactions),
        read_as=() if files is None else read_as(files.deployment),
        unreadable=unreadable,
        not_understood=not_understood,
    )
    is_empty = snapshot is None and (files is None or not files.deployment.components)
    if is_empty or unreadable:
        return Diagnosed(
            report=report,
            checks=checks,
            found=found,
            unreadable=unreadable,
            exit_code=ExitCode.BAD_INPUT,
            remarks=_NOTHING if is_empty else (),
        )
    verdict = judge_run(diagnosis, gate.gate)
    code = verdict.exit_code
    if code is ExitCode.DONE and gate.gate.require_complete and not gate.gate.exit_zero and _is_partial(files):
        code = ExitCode.INCOMPLETE
    return Diagnosed(report=report, checks=checks, found=found, unreadable=(), exit_code=code, remarks=verdict.remarks)


def _is_partial(files: FilesRead | None) -> bool:
    """Return whether rules have not judged a file about Kafka, or a value that lies elsewhere."""
    return files is not None and bool(files.not_understood or files.unseen)


def _checks_of_files(request: DiagnoseRequest) -> tuple[Check, ...]:
    if not request.checks:
        return CONFIGURATION_CHECKS
    return tuple(one for one in choose_checks(request.checks, of_files=True) if one.is_about_configuration)


def _next_commands(diagnosis: Diagnosis) -> tuple[Command, ...]:
    first = (finding.commands[0] for finding in diagnosis.findings if finding.commands)
    return tuple(dict.fromkeys(first))[:NEXT_COMMANDS]
