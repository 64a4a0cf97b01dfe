"""``eosctl config lint``: judge configuration files."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from msgspec.structs import replace

from eosctl.command_line.invocation import Invocation, write_report, write_result
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_roles
from eosctl.commands.diagnosis_output import FindingResultOptions, note_read_as, note_suppressed, write_baseline_file
from eosctl.commands.gate import ErrorGate
from eosctl.commands.options import ConnectionOptions, ReportFile, SnapshotFile
from eosctl.commands.session import perform
from eosctl.render.configuration.lint import render_lint
from eosctl.render.formats import FindingFormat
from eosctl.services.lint_configuration import LintRequest, lint_configuration

LintOptions = Annotated[
    LintRequest,
    options(
        paths=typer.Argument(metavar="PATH...", help="Files and folders; - is standard input."),
        kafka_version=typer.Option(
            "--kafka-version",
            metavar="VERSION",
            help="Kafka release that provides defaults and rules, e.g. 3.9; the newest by default.",
        ),
        client_version=typer.Option(
            "--client-version",
            metavar="VERSION",
            help="Release of Java clients, Streams, and Connect, if it differs from the brokers'.",
        ),
        librdkafka_version=typer.Option(
            "--librdkafka-version", metavar="VERSION", help="Release of librdkafka, e.g. 1.9."
        ),
        with_cluster=typer.Option(
            "--with-cluster", help="Check the files together with the brokers of a running cluster."
        ),
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        gate=ErrorGate,
    ),
]


def lint(
    invocation: Invocation,
    request: LintOptions,
    roles: Annotated[
        tuple[str, ...],
        typer.Option("--role", metavar="FILE=ROLE", help="Role of a file, if it is not detected; repeatable."),
    ] = (),
    report: ReportFile = None,
    *,
    result: FindingResultOptions,
) -> None:
    """Check configuration files for exactly-once problems.

    Reads .properties, .conf, .yml, .json, .toml, .ini, .env, .sql, and .tf files: Kafka's own files, Spring Boot,
    Strimzi, Kubernetes, Compose, Connect, Flink, librdkafka, and Terraform. Brokers and applications are checked
    together. A comment on the line above a setting suppresses one rule: # eosctl: ignore ID REASON

    Links to folders are not followed. Exit codes: 0 no finding at or above --fail-on, 1 a check crashed, 2 a file is
    malformed or not understood, or a folder has no files, 3 findings, 4 if all settings are in files that were not
    given, if there is only output of tools that no rule judges, or incomplete with --require-complete.

    Examples:
        eosctl config lint conf/
        eosctl config lint server.properties app.yml --kafka-version 3.9 -o sarif
        eosctl config lint app.conf --role app.conf=consumer
    """
    compared = request.snapshot_file is not None or request.connection.bootstrap is not None
    request = replace(request, roles=parse_roles(roles), with_cluster=request.with_cluster or compared)
    linted, found, exit_code = perform(lint_configuration, request, invocation)
    write_baseline_file(found, result.write_baseline)
    render = partial(render_lint, linted)
    write_result(render(result.output, invocation.style(), header=result.header), result.output_file)
    write_report(report, render)
    note_suppressed(linted.diagnosis, result.output)
    if result.output is FindingFormat.JUNIT:
        note_read_as(linted.read_as)
    raise typer.Exit(exit_code)
