"""``eosctl config``: judge configuration files, compare them, and explain settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.config.releases import release_of
from eosctl.commands.diagnosis_output import note_suppressed, write_baseline_file
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnOrRules,
    RequireComplete,
    RulesFile,
    WriteBaseline,
)
from eosctl.commands.invocation import invocation_of, note, tell, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    FindingOutput,
    Header,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SnapshotFile,
    Timeout,
    parse_duration_ms,
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import ExitCode, UsageError, unknown_name
from eosctl.model.deployment import Role
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.parameter import Release
    from eosctl.settings.sources import Releases

KafkaVersion = Annotated[
    str | None,
    typer.Option(
        "--kafka-version",
        metavar="VERSION",
        help="The release whose defaults and rules hold, e.g. 3.9; else the newest.",
    ),
]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.", exists=True)]


def lint(
    context: typer.Context,
    paths: Paths,
    kafka_version: KafkaVersion = None,
    client_version: Annotated[
        str | None,
        typer.Option(
            "--client-version",
            metavar="VERSION",
            help="The release of Java clients, Streams and Connect, where it is not the brokers'.",
        ),
    ] = None,
    librdkafka_version: Annotated[
        str | None,
        typer.Option("--librdkafka-version", metavar="VERSION", help="The release of librdkafka, e.g. 1.9."),
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="FILE=ROLE", help="What a file is, where detection needs help; repeatable."),
    ] = None,
    with_cluster: Annotated[
        bool, typer.Option("--with-cluster", help="Judge the files together with the brokers of a running cluster.")
    ] = False,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    fail_on: FailOnOrRules = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    rules: RulesFile = None,
) -> None:
    """Judge configuration files by the rules of exactly-once, brokers and applications together.

    Reads .properties, .conf, .yml, .json, .toml, .ini, .env, .sql and .tf: Kafka's own files, Spring Boot, Strimzi,
    Kubernetes, Compose, Connect, Flink, librdkafka, Terraform. A comment on the line above a setting suppresses one
    rule for it: "# eosctl: ignore EOS-CFG-001 REASON". Exit code: 0 without findings at --fail-on, 2 when a file is
    malformed, or when files about Kafka are all that was given and none was understood, 3 with findings, 4 with
    --require-complete when a value lies outside of the files or a file about Kafka was not understood.
    """
    from eosctl.analysis.read_as import read_as
    from eosctl.checks.configuration.cluster import broker_components, topic_components
    from eosctl.checks.files_with_cluster import masked
    from eosctl.checks.judge import judge, undecided
    from eosctl.findings.diagnosis import Diagnosis
    from eosctl.findings.grade import grade
    from eosctl.findings.summary import summarise
    from eosctl.model.deployment import Deployment
    from eosctl.model.evidence import EvidenceKind
    from eosctl.model.read_as import sentence
    from eosctl.render.configuration.lint import render_lint
    from eosctl.render.configuration.lint_view import Linted
    from eosctl.services.gate import judge_run, read_gate, without_suppressed
    from eosctl.services.gate_options import GateOptions
    from eosctl.settings.deployment_files import read_deployment
    from eosctl.settings.inline_suppressions import read_inline_suppressions
    from eosctl.settings.sources import Releases

    invocation = invocation_of(context)
    options = GateOptions(fail_on, exit_zero, require_complete, None, baseline, rules)
    gate = read_gate(options, has_score=False)
    releases = Releases(_release(kafka_version), _release(client_version), _release(librdkafka_version, "librdkafka"))
    files = read_deployment(paths, roles=_roles(roles or []), releases=releases)
    deployment = files.deployment
    if with_cluster or snapshot is not None or bootstrap is not None:
        evidence = load_or_capture(
            Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout),
            snapshot,
            frozenset({EvidenceKind.BROKER_CONFIGS, EvidenceKind.TOPIC_CONFIGS, EvidenceKind.API_VERSIONS}),
            now_ms=invocation.now_ms,
            second_look_after_ms=parse_duration_ms(DEFAULT_SECOND_LOOK),
        )
        running = (*broker_components(evidence), *topic_components(evidence))
        deployment = Deployment((*deployment.components, *running), deployment.tables)
    results = tuple(map(masked, judge(deployment)))
    now_ms = invocation.now_ms()
    inline = read_inline_suppressions(files.read)
    gate = gate._replace(suppressions=(*inline.suppressions, *gate.suppressions))
    diagnosis = Diagnosis("", now_ms, results, grade(results), summary=summarise(results), remarks=inline.remarks)
    write_baseline_file(diagnosis.findings, write_baseline)
    linted = Linted(
        without_suppressed(diagnosis, gate, now_ms),
        undecided(deployment),
        files.unreadable,
        files.read,
        files.without_settings,
        now_ms,
        read_as(files.deployment),
        files.not_understood,
    )
    write_result(render_lint(linted, output, invocation.style(), header=header), output_file)
    note_suppressed(linted.diagnosis, output)
    if output is FindingFormat.JUNIT:
        for one in linted.read_as:
            note(f"{one.file}: read as: {sentence(one)}")
    for broken in files.unreadable:
        tell(broken.error)
    if files.unreadable:
        raise typer.Exit(ExitCode.BAD_INPUT)
    code = judge_run(linted.diagnosis, gate.gate).exit_code
    if files.not_understood and not linted.read_as and not exit_zero:
        raise typer.Exit(ExitCode.BAD_INPUT)
    is_incomplete = require_complete and not exit_zero and bool(linted.undecided or files.not_understood)
    raise typer.Exit(ExitCode.INCOMPLETE if code is ExitCode.DONE and is_incomplete else code)


def explain(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The setting, e.g. transaction.timeout.ms.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show a setting: where it exists, its default by release, what it does to exactly-once, the rules that read it."""
    from eosctl.render.configuration.setting import explain_setting, render_setting
    from eosctl.render.envelope import listing
    from eosctl.render.machine import render_json, render_tsv, render_yaml

    invocation = invocation_of(context)
    items = explain_setting(key)
    if not items:
        from difflib import get_close_matches

        from eosctl.knowledge.parameter_tables import java_names

        near = ", ".join(get_close_matches(key, sorted(java_names()), 3))
        raise UsageError(
            f"No component of Kafka has the setting {key!r}.",
            f"Close to it: {near}." if near else "",
            "Write the name as it stands in configuration files.",
        )
    match output:
        case OutputFormat.JSON:
            text = render_json(listing("setting", "config explain", invocation.now_ms(), items))
        case OutputFormat.YAML:
            text = render_yaml(listing("setting", "config explain", invocation.now_ms(), items))
        case OutputFormat.TSV:
            text = render_tsv((item.component, span.since, span.default or "") for item in items for span in item.spans)
        case _:
            text = render_setting(key, items, invocation.style())
    write_result(text, output_file)


def diff(
    context: typer.Context,
    left: Annotated[Path, typer.Argument(metavar="A", help="A configuration file.", exists=True, dir_okay=False)],
    right: Annotated[Path, typer.Argument(metavar="B", help="Another one.", exists=True, dir_okay=False)],
    left_version: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="The release of A: Kafka's, or librdkafka's.")
    ] = None,
    right_version: Annotated[str | None, typer.Option("--to", metavar="VERSION", help="The release of B.")] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Compare what two files mean: values with defaults resolved, each by its own release."""
    from eosctl.render.configuration.difference import DIFFERENCE_COLUMNS, differences
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.settings.deployment_files import read_deployment

    invocation = invocation_of(context)
    sides = []
    for path, version in ((left, left_version), (right, right_version)):
        read = read_deployment([path], releases=_all_of(version))
        if read.unreadable:
            raise read.unreadable[0].error
        sides.append(read.deployment)
    result = listing("config-diff", "config diff", invocation.now_ms(), differences(*sides))
    text = render_listing(result, DIFFERENCE_COLUMNS, output, invocation.style(), empty="No difference in meaning.")
    write_result(text, output_file)


def render(
    profile: Annotated[
        str | None, typer.Argument(metavar="[PROFILE]", help="Which; all are listed without.", show_default=False)
    ] = None,
    output_file: OutputFile = None,
) -> None:
    """Print a vetted configuration with the reason for each setting, or list what there is."""
    from eosctl.render.page import Grid, render_page
    from eosctl.settings.vetted_profiles import load_vetted_profiles

    profiles = load_vetted_profiles()
    if profile is None:
        rows = tuple((one.name, one.file, one.intent) for one in profiles)
        write_result(render_page([Grid(rows, ("PROFILE", "FILE", "INTENT"))]), output_file)
        return
    chosen = next((one for one in profiles if one.name == profile), None)
    if chosen is None:
        raise unknown_name("profile", profile, (one.name for one in profiles), "List them: eosctl config render")
    write_result(chosen.text, output_file)


def _all_of(version: str | None) -> Releases:
    """Return what one number means where it is not said whose: that of whatever a file configures."""
    from eosctl.settings.sources import Releases

    release = _release(version, "Kafka", "librdkafka")
    return Releases(release, release, release)


def _release(text: str | None, *software: str) -> Release | None:
    return None if text is None else release_of(text, *software)


def _roles(given: list[str]) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for text in given:
        file, equals, word = text.rpartition("=")
        if not equals or word not in set(Role):
            names = ", ".join(role.value for role in Role)
            raise UsageError(f"--role {text} is not FILE=ROLE.", f"Roles: {names}.", "E.g. --role app.conf=producer")
        roles[file] = Role(word)
    return roles
