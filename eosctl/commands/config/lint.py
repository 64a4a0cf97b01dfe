"""``eosctl config lint``: judge configuration files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions, note_read_as, note_suppressed, write_baseline_file
from eosctl.commands.gate import GateAtError
from eosctl.commands.invocation import Invocation, write_result
from eosctl.commands.options import EvidenceOptions
from eosctl.commands.session import perform
from eosctl.errors import UsageError
from eosctl.model.deployment import Role
from eosctl.render.configuration.lint import render_lint
from eosctl.render.formats import FindingFormat
from eosctl.services.lint_configuration import LintRequest, lint_configuration


def lint(
    invocation: Invocation,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.", exists=True)],
    kafka_version: Annotated[
        str | None,
        typer.Option(
            "--kafka-version",
            metavar="VERSION",
            help="The release whose defaults and rules hold, e.g. 3.9; else the newest.",
        ),
    ] = None,
    client_version: Annotated[
        str | None,
        typer.Option(
            "--client-version",
            metavar="VERSION",
            help="The release of Java clients, Streams and Connect, where it is not the brokers'.",
        ),
    ] = None,
    librdkafka_version: Annotated[
        str | None, typer.Option("--librdkafka-version", metavar="VERSION", help="The release of librdkafka, e.g. 1.9.")
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="FILE=ROLE", help="What a file is, where detection needs help; repeatable."),
    ] = None,
    with_cluster: Annotated[
        bool, typer.Option("--with-cluster", help="Judge the files together with the brokers of a running cluster.")
    ] = False,
    *,
    evidence: EvidenceOptions,
    result: FindingResultOptions,
    gate: GateAtError,
) -> None:
    """Judge configuration files by the rules of exactly-once, brokers and applications together.

    Reads .properties, .conf, .yml, .json, .toml, .ini, .env, .sql and .tf: Kafka's own files, Spring Boot, Strimzi,
    Kubernetes, Compose, Connect, Flink, librdkafka, Terraform. A comment on the line above a setting suppresses one
    rule for it: "# eosctl: ignore EOS-CFG-001 REASON". Exit code: 0 without findings at --fail-on, 2 when a file is
    malformed, or when files about Kafka are all that was given and none was understood, 3 with findings, 4 with
    --require-complete when a value lies outside of the files or a file about Kafka was not understood.
    """
    cluster = evidence.cluster
    request = LintRequest(
        tuple(paths),
        kafka_version,
        client_version,
        librdkafka_version,
        _roles(roles or []),
        with_cluster or evidence.snapshot is not None or cluster.bootstrap is not None,
        cluster.connection,
        evidence.snapshot,
        gate.options,
    )
    linted, found, exit_code = perform(lint_configuration, request, invocation)
    write_baseline_file(found, result.write_baseline)
    text = render_lint(linted, result.output, invocation.style(), header=result.header)
    write_result(text, result.output_file)
    note_suppressed(linted.diagnosis, result.output)
    if result.output is FindingFormat.JUNIT:
        note_read_as(linted.read_as)
    raise typer.Exit(exit_code)


def _roles(given: list[str]) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for text in given:
        file, equals, word = text.rpartition("=")
        if not equals or word not in set(Role):
            names = ", ".join(role.value for role in Role)
            raise UsageError(f"--role {text} is not FILE=ROLE.", f"Roles: {names}.", "E.g. --role app.conf=producer")
        roles[file] = Role(word)
    return roles
