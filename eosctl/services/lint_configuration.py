"""Judge configuration files of brokers and applications together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.read_as import read_as
from eosctl.checks.configuration.cluster import broker_components, topic_components
from eosctl.checks.files_with_cluster import masked
from eosctl.checks.judge import judge, undecided
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.linted import Linted
from eosctl.findings.summary import summarize
from eosctl.model.deployment import Role
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.gate import Verdict, judge_run, read_gate, without_suppressed
from eosctl.services.gate_options import GateOptions
from eosctl.services.releases import release_if_named
from eosctl.services.tool_output import judge_printed, sort_paths, with_printed, without_evidence
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.inline_suppressions import read_inline_suppressions
from eosctl.settings.files.piped import with_pipes
from eosctl.settings.values.sources import Releases

KINDS: Final = frozenset({EvidenceKind.BROKER_CONFIGS, EvidenceKind.TOPIC_CONFIGS, EvidenceKind.API_VERSIONS})

GAPS_NAMED: Final = 5


class LintRequest(msgspec.Struct, frozen=True):
    """The files to judge.

    Attributes:
        paths: Configuration files, files with the output of Kafka's tools, and folders of them.
        kafka_version: The release of the brokers, e.g. ``3.9``; None for the newest.
        client_version: The release of Java clients, Streams and Connect, if it is another.
        librdkafka_version: The release of librdkafka.
        roles: What files are, by their name, where detection needs help.
        with_cluster: Whether the brokers of a running cluster or of a snapshot are judged too.
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        gate: What decides the exit code.
        texts: Texts that replace the contents of files, by path: what an editor has not saved.
    """

    paths: tuple[Path, ...]
    kafka_version: str | None = None
    client_version: str | None = None
    librdkafka_version: str | None = None
    roles: Mapping[str, Role] = {}
    with_cluster: bool = False
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    gate: GateOptions = GateOptions()
    texts: Mapping[str, str] = {}


class LintResult(NamedTuple):
    """The result without suppressed findings, all findings, and the exit code."""

    linted: Linted
    found: tuple[Finding, ...]
    exit_code: ExitCode


def lint_configuration(request: LintRequest, callbacks: Callbacks = SILENT) -> LintResult:
    """Judge configuration files by the rules of exactly-once.

    A file that cannot be read does not stop the others: it is reported, and the exit code is 2.

    Raises:
        UsageError: A release is not one, or a snapshot and a cluster are both named.
        ConfigFileError: The rules or the baseline cannot be read.
        EosctlError: The cluster cannot be read.
    """
    paths, piped = with_pipes(request.paths, request.texts)
    request = replace(request, paths=paths, texts=piped)
    gate = read_gate(request.gate, has_score=False)
    releases = Releases(
        release_if_named(request.kafka_version, callbacks.remark),
        release_if_named(request.client_version, callbacks.remark),
        release_if_named(request.librdkafka_version, callbacks.remark, "librdkafka"),
    )
    others, printed, texts, notes, named = sort_paths(request.paths, callbacks.now_ms(), request.texts)
    read = read_deployment(others, roles=request.roles, releases=releases, texts=request.texts, shown=named)
    files = with_printed(read, printed, texts)
    for remark in without_evidence(printed):
        callbacks.remark(remark)
    deployment = files.deployment
    gaps: tuple[EvidenceGap, ...] = ()
    if request.with_cluster:
        evidence = collect_evidence(EvidenceRequest(request.connection, request.snapshot_file, KINDS), callbacks)
        gaps = tuple(gap for gap in evidence.gaps if gap.kind in KINDS or gap.kind is EvidenceKind.TOPICS)
        _remark_gaps(gaps, callbacks)
        running = (*broker_components(evidence), *topic_components(evidence))
        deployment = deployment.joined_by(running)
    shown = judge_printed(printed, texts)
    results = (*map(masked, judge(deployment)), *shown.results)
    now_ms = callbacks.now_ms()
    inline = read_inline_suppressions(files.marked, request.texts)
    gate = gate._replace(suppressions=(*inline.suppressions, *gate.suppressions))
    everything = Diagnosis(
        cluster_id="",
        captured_at_ms=now_ms,
        results=results,
        grade=grade(results),
        gaps=gaps,
        summary=summarize(results),
        remarks=inline.remarks,
    )
    linted = Linted(
        diagnosis=without_suppressed(everything, gate, now_ms),
        undecided=undecided(deployment),
        unreadable=files.unreadable,
        read=files.read,
        without_settings=files.without_settings,
        generated_at_ms=now_ms,
        read_as=(*read_as(files.deployment), *shown.read_as),
        not_understood=(*files.not_understood, *notes),
        unseen=files.unseen,
        manuals=tuple(map(manual_of, (*CONFIGURATION_CHECKS, *shown.checks))),
    )
    for broken in files.unreadable:
        callbacks.report_error(broken.error)
    outputs = frozenset(one.file for one in printed.outputs)
    verdict = judge_run(linted.diagnosis, gate.gate)
    return LintResult(linted, everything.findings, _exit_code(linted, request, verdict, outputs))


def _remark_gaps(gaps: Sequence[EvidenceGap], callbacks: Callbacks) -> None:
    """Name what was not read from the cluster, and so judged by no rule."""
    for gap in gaps[:GAPS_NAMED]:
        callbacks.remark(f"incomplete: {gap.sentence}")
    if len(gaps) > GAPS_NAMED:
        callbacks.remark(f"incomplete: and {len(gaps) - GAPS_NAMED:,} more")


def _exit_code(linted: Linted, request: LintRequest, verdict: Verdict, outputs: frozenset[str]) -> ExitCode:
    """Return the exit code; files that were not read or not understood never give an all-clear.

    A folder without any file is the wrong folder, and a pipe without settings of Kafka is the wrong pipe. Files without
    them are not: hooks name all that changed. They are incomplete only where completeness is required.
    The output of tools, in the files `outputs`, shows a part of a cluster.
    """
    code, demands = verdict.exit_code, request.gate
    if linted.unreadable:
        return ExitCode.BAD_INPUT
    if demands.exit_zero:
        return code
    if linted.is_unjudged:
        return ExitCode.INCOMPLETE if linted.is_tool_output else ExitCode.BAD_INPUT
    is_piped = all(str(path) in request.texts for path in request.paths)
    if not linted.read_as and (linted.not_understood or not linted.read or is_piped):
        is_of_tools = bool(outputs) and outputs.issuperset(linted.not_understood)
        return ExitCode.INCOMPLETE if is_of_tools else ExitCode.BAD_INPUT
    if not linted.read_as and linted.unseen:
        return ExitCode.INCOMPLETE  # all settings stand in files that were not given
    gaps = bool(linted.undecided or linted.not_understood or linted.unseen or not linted.read_as)
    is_incomplete = demands.require_complete and gaps
    return ExitCode.INCOMPLETE if code is ExitCode.DONE and is_incomplete else code
