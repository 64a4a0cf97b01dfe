"""The tools: each turns arguments into the request of a service, and its result into what the command prints.

All of them read. No tool takes an address or credentials: a cluster is the one that the user started the server with,
or a profile that the user saved, so a text that an assistant has read cannot send credentials elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import CheckStatus, Diagnosis
from eosctl.findings.log_reading import reading_text, unread_text
from eosctl.model.read_as import ReadAs, sentence
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.configuration.lint import render_lint
from eosctl.render.diagnosis.formats import render_diagnosis
from eosctl.render.envelope import listing
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.render.logs.formats import render_logs_report
from eosctl.render.logs.report import skipped_texts
from eosctl.render.machine import render_json
from eosctl.render.transactions.hanging import render_hanging
from eosctl.servers.answers import Answer, Tool
from eosctl.servers.arguments import (
    DecodeArguments,
    DoctorArguments,
    ExplainArguments,
    HangingArguments,
    LintArguments,
    LogsArguments,
    local_paths,
)
from eosctl.servers.decoding import decode_files
from eosctl.services.callbacks import Callbacks
from eosctl.services.connection import Connection
from eosctl.services.diagnose import DiagnoseRequest, diagnose
from eosctl.services.explain import answer as explain_question
from eosctl.services.gate_options import GateOptions
from eosctl.services.hanging import HangingRequest, find_hanging
from eosctl.services.judge_logs import judge_logs
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.services.mine_logs import MineRequest
from eosctl.services.short_answers import in_language
from eosctl.services.sources import Sources
from eosctl.text import count_text

#: A program does not see that evidence is missing unless the exit code shows it.
COMPLETE: Final = GateOptions(require_complete=True)
ANY_INCIDENT: Final = GateOptions(fail_on=Severity.WARNING, require_complete=True)


def _doctor(given: DoctorArguments, connection: Connection, callbacks: Callbacks) -> Answer:
    request = DiagnoseRequest(
        connection=_cluster(given.profile, given.snapshot, connection),
        snapshot_file=_snapshot(given.snapshot),
        paths=local_paths(given.paths),
        sources=Sources(local_paths(given.logs), given.zone),
        gate=COMPLETE,
    )
    found = diagnose(request, callbacks)
    for remark in found.remarks:
        callbacks.remark(remark)
    report = found.report
    read = [*_cluster_lines(report.snapshot), *_files(report.read_as)]
    read += [text for text in (report.log_reading, report.printed_reading) if text]
    unread = [gap.sentence for gap in found.diagnosis.gaps]
    unread += [f"{one.file}: {one.error.what}" for one in found.unreadable]
    unread += _skipped(found.diagnosis)
    if not found.grade.is_given:
        unread.append(f"no grade: {found.grade.cap}")
    text = render_diagnosis(report, found.manuals, FindingFormat.JSON)
    return Answer(text, found.exit_code, tuple(read), tuple(unread))


def _hanging(given: HangingArguments, connection: Connection, callbacks: Callbacks) -> Answer:
    cluster = _cluster(given.profile, given.snapshot, connection)
    found = find_hanging(HangingRequest(cluster, _snapshot(given.snapshot), show_all=given.show_all), callbacks)
    snapshot = found.snapshot
    text = render_hanging(snapshot, found.verdicts, callbacks.now_ms(), OutputFormat.JSON, empty="")
    code = ExitCode.FINDINGS if found.needs_action else ExitCode.INCOMPLETE if snapshot.gaps else ExitCode.DONE
    return Answer(text, code, tuple(_cluster_lines(snapshot)), tuple(gap.sentence for gap in snapshot.gaps))


def _explain(given: ExplainArguments, _: Connection, callbacks: Callbacks) -> Answer:
    explanations = in_language(explain_question(given.question).explanations, given.language)
    text = render_json(listing("explanations", "explain", callbacks.now_ms(), explanations))
    certain = ", ".join(f"{one.entry.name} ({one.certainty.value})" for one in explanations)
    return Answer(text, ExitCode.DONE, (f"the question, as: {certain}",))


def _lint(given: LintArguments, _: Connection, callbacks: Callbacks) -> Answer:
    request = LintRequest(paths=local_paths(given.paths), kafka_version=given.kafka_version, gate=COMPLETE)
    result = lint_configuration(request, callbacks)
    linted, code = result.linted, result.exit_code
    read = [f"{count_text(len(linted.read), 'file')}, {len(linted.without_settings)} without settings of Kafka"]
    read += _files(linted.read_as)
    unread = [f"{one.file}: {one.error.what}" for one in linted.unreadable]
    unread += [f"{file}: about Kafka, and not understood" for file in linted.not_understood]
    unread += map(str, linted.unseen)
    unread += map(str, linted.undecided)
    unread += _skipped(linted.diagnosis)
    if not linted.read_as:
        unread.append("everything: no settings of Kafka were recognized")
        code = ExitCode.BAD_INPUT
    return Answer(render_lint(linted, FindingFormat.JSON), code, tuple(read), tuple(unread))


def _logs_report(given: LogsArguments, _: Connection, callbacks: Callbacks) -> Answer:
    baseline = local_paths(given.baseline) or None
    request = MineRequest(local_paths(given.paths), zone=given.zone)
    judged = judge_logs(request, ANY_INCIDENT, baseline, callbacks)
    findings, events = judged.report.findings, judged.report.findings.events
    read = [reading_text(findings)]
    if len(events) > given.max_events:
        read.append(f"the result lists {given.max_events:,} of {count_text(len(events), 'record')}; all were judged")
    unread = [*skipped_texts(findings.skipped), *filter(None, map(unread_text, findings.coverage))]
    shown = judged.report._replace(findings=findings._replace(events=events[: given.max_events]))
    code = ExitCode.INCOMPLETE if unread and judged.exit_code is ExitCode.DONE else judged.exit_code
    return Answer(render_logs_report(shown, FindingFormat.JSON), code, tuple(read), tuple(unread))


def _decode(given: DecodeArguments, _: Connection, callbacks: Callbacks) -> Answer:
    found = decode_files(given)
    read = f"{count_text(found.file_count, 'file')} as {found.decoder}, {count_text(len(found.lines), 'line')}"
    unread = [*found.damage]
    if found.is_cut:
        unread.append(f"everything after line {len(found.lines)}: max_lines was reached")
    code = ExitCode.FAILED if found.damage else ExitCode.INCOMPLETE if found.is_cut else ExitCode.DONE
    return Answer("".join(f"{line}\n" for line in found.lines), code, (read,), tuple(unread))


def _cluster(profile: str | None, snapshot: str | None, started_with: Connection) -> Connection:
    """Return the cluster of a call: its profile, or that of the server unless a snapshot is read."""
    if profile is not None:
        return Connection(profile=profile, timeout_ms=started_with.timeout_ms)
    return Connection() if snapshot is not None else started_with


def _snapshot(name: str | None) -> Path | None:
    return None if name is None else local_paths((name,))[0]


def _cluster_lines(snapshot: ClusterSnapshot) -> Iterator[str]:
    if snapshot.brokers:
        kinds = ", ".join(sorted(kind.value for kind in snapshot.collected))
        yield f"cluster {snapshot.cluster_id}, {count_text(snapshot.broker_count, 'broker')}: {kinds}"


def _files(parts: tuple[ReadAs, ...]) -> list[str]:
    return [f"{one.file}: {sentence(one)}" for one in parts]


def _skipped(diagnosis: Diagnosis) -> list[str]:
    """Count the checks that were skipped, by the reason."""
    reasons: dict[str, list[str]] = {}
    for result in diagnosis.results:
        if result.status is CheckStatus.SKIPPED:
            reasons.setdefault(result.reason, []).append(result.check_id)
    return [f"{count_text(len(ids), 'check')} skipped ({', '.join(ids)}): {reason}" for reason, ids in reasons.items()]


TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            name="doctor",
            title="Diagnose a Kafka cluster",
            description=(
                "Run every check for exactly-once on a cluster, a saved snapshot, configuration files, or logs. "
                "Returns a grade, findings with cause and fix, and the evidence that was missing. Sends read requests "
                "only."
            ),
            form=DoctorArguments,
            schema="diagnosis",
            answer=_doctor,
        ),
        Tool(
            name="hanging",
            title="Find transactions that block readers",
            description=(
                "Compare the open producers of every partition leader with the coordinators, twice. Returns each "
                "blocked partition with cause, evidence, and impact. Sends read requests only."
            ),
            form=HangingArguments,
            schema="open-transactions",
            answer=_hanging,
        ),
        Tool(
            name="explain",
            title="Explain a term of Kafka",
            description=(
                "Explain an error, exception, stack trace, log line, setting, check, metric, or any other term of "
                "Kafka's exactly-once semantics, with its effect on data and the next steps. Reads no file and no "
                "cluster."
            ),
            form=ExplainArguments,
            schema="explanations",
            answer=_explain,
        ),
        Tool(
            name="lint",
            title="Check configuration files",
            description=(
                "Judge configuration files of brokers and applications together: Kafka's own formats, Spring Boot, "
                "Strimzi, Kubernetes, Compose, Connect, Flink, librdkafka, Terraform. Returns findings by file and "
                "line."
            ),
            form=LintArguments,
            schema="config-lint",
            answer=_lint,
        ),
        Tool(
            name="logs_report",
            title="Find root causes in logs",
            description=(
                "Read logs of brokers and applications together. Returns incidents with root cause, evidence, and "
                "next steps, and how much of each file was recognized."
            ),
            form=LogsArguments,
            schema="logs",
            answer=_logs_report,
        ),
        Tool(
            name="decode",
            title="Decode Kafka's files",
            description=(
                "Decode segments, indexes, snapshots, checkpoints, and the internal topics from a data directory. "
                "Returns one JSON object per line; damage is reported with its position."
            ),
            form=DecodeArguments,
            schema="",
            answer=_decode,
        ),
    )
}
