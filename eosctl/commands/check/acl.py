"""``eosctl check acl``: the access rules that an application needs, and whether a cluster has them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.analysis.minimal_access import READING, TRANSACTIONAL, ApplicationKind
from eosctl.commands.incomplete import note_gaps
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SnapshotFile,
    Timeout,
    parse_duration_ms,
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eosctl.analysis.minimal_access import Name

APPLICATION = "Application"


def acl(
    context: typer.Context,
    kind: Annotated[ApplicationKind, typer.Argument(metavar="KIND", help="What the application does.")],
    principal: Annotated[
        str, typer.Option("--principal", metavar="USER", help="As whom, e.g. User:orders.", rich_help_panel=APPLICATION)
    ],
    transactional_id: Annotated[
        str | None, typer.Option("--transactional-id", metavar="ID", help="Its id.", rich_help_panel=APPLICATION)
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="GROUP", help="Its group.", rich_help_panel=APPLICATION)
    ] = None,
    reads: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="TOPIC", help="A topic that it reads; repeatable.", rich_help_panel=APPLICATION),
    ] = None,
    writes: Annotated[
        list[str] | None,
        typer.Option(
            "--write", metavar="TOPIC", help="A topic that it writes; repeatable.", rich_help_panel=APPLICATION
        ),
    ] = None,
    application_id: Annotated[
        str | None,
        typer.Option(
            "--application-id", metavar="ID", help="Of Kafka Streams: application.id.", rich_help_panel=APPLICATION
        ),
    ] = None,
    connector: Annotated[
        str | None,
        typer.Option(
            "--connector", metavar="NAME", help="Of Connect: the connector's name.", rich_help_panel=APPLICATION
        ),
    ] = None,
    config_topic: Annotated[
        str | None,
        typer.Option(
            "--config-topic", metavar="TOPIC", help="Of Connect: config.storage.topic.", rich_help_panel=APPLICATION
        ),
    ] = None,
    offset_topic: Annotated[
        str | None,
        typer.Option(
            "--offset-topic", metavar="TOPIC", help="Of Connect: offset.storage.topic.", rich_help_panel=APPLICATION
        ),
    ] = None,
    status_topic: Annotated[
        str | None,
        typer.Option(
            "--status-topic", metavar="TOPIC", help="Of Connect: status.storage.topic.", rich_help_panel=APPLICATION
        ),
    ] = None,
    kafka_version: Annotated[
        str | None,
        typer.Option(
            "--kafka-version", metavar="VERSION", help="The oldest broker, e.g. 2.7.", rich_help_panel=APPLICATION
        ),
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Print the smallest set of access rules with which an application runs, and what fails without each.

    KIND is producer (transactional), idempotent-producer, consumer, processor (reads and writes in transactions),
    streams (Kafka Streams with exactly-once), or connect-source (an exactly-once source, and the workers of Kafka
    Connect that run it; --group is their group.id). A name that ends in * stands for all that begin so. With a
    cluster or a snapshot, the rules there are compared: exit code 3 when one is missing or denied, 4 when the
    cluster's rules could not be read.
    """
    from eosctl.analysis.bootstrap import bootstrap_of, connection_words
    from eosctl.analysis.connect_access import ConnectSource, plan_connect_access
    from eosctl.analysis.minimal_access import Application, plan_access, states_of, streams_application
    from eosctl.model.evidence import EvidenceKind
    from eosctl.render.diagnosis.access import access_item, render_access
    from eosctl.render.envelope import listing
    from eosctl.services.releases import release_of

    invocation = invocation_of(context)
    if not principal.startswith("User:"):
        raise UsageError(
            f"{principal} is no principal.", "Kafka writes principals with their type.", f"Write User:{principal}"
        )
    _refuse_half(
        kind,
        {
            "--transactional-id": transactional_id,
            "--write": writes,
            "--group": group,
            "--application-id": application_id,
            "--read": reads,
            "--connector": connector,
            "--config-topic": config_topic,
            "--offset-topic": offset_topic,
            "--status-topic": status_topic,
        },
    )
    read_names = tuple(_name("--read", one) for one in reads or ())
    write_names = tuple(_name("--write", one) for one in writes or ())
    if connector is not None:
        needed = plan_connect_access(
            ConnectSource(
                _whole("--group", group or ""),
                _name("--connector", connector),
                write_names,
                _whole("--config-topic", config_topic or ""),
                _whole("--offset-topic", offset_topic or ""),
                _whole("--status-topic", status_topic or ""),
            )
        )
    elif application_id is not None:
        own_id = _whole("--application-id", application_id)
        needed = plan_access(streams_application(principal, own_id, read_names, write_names))
    else:
        needed = plan_access(
            Application(
                kind,
                principal,
                None if transactional_id is None else _name("--transactional-id", transactional_id),
                None if group is None else _name("--group", group),
                read_names,
                write_names,
                None if kafka_version is None else release_of(kafka_version, note),
            )
        )
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = None
    if connection.is_given or snapshot is not None:
        evidence = load_or_capture(
            connection,
            snapshot,
            frozenset({EvidenceKind.ACCESS_RULES}),
            now_ms=invocation.now_ms,
            second_look_after_ms=parse_duration_ms(DEFAULT_SECOND_LOOK),
        )
    rules = None if evidence is None else evidence.access_rules
    address = "HOST:PORT" if evidence is None else bootstrap_of(evidence)
    if bootstrap is not None:
        address = shlex.join(connection_words(bootstrap, str(command_config or "")))
    states = states_of(needed, principal, rules)
    items = tuple(access_item(one, principal, state, address) for one, state in zip(needed, states, strict=True))
    result = listing("access-rules", "check acl", invocation.now_ms(), items, evidence)
    write_result(render_access(result, output, invocation.style()), output_file)
    note_gaps(output, () if evidence is None else evidence.gaps)
    if rules is not None and not rules.enabled:
        note("The cluster has no authorizer: everybody may do everything, and these rules have no effect.")
    if evidence is not None and rules is None:
        raise typer.Exit(ExitCode.INCOMPLETE)
    if any(item.state in ("missing", "denied") for item in items):
        raise typer.Exit(ExitCode.FINDINGS)


def _name(option: str, text: str) -> Name:
    from eosctl.analysis.minimal_access import Name

    name = Name(text[:-1], prefixed=True) if text.endswith("*") and text != "*" else Name(text)
    if not name.text or any(char.isspace() for char in name.text):
        raise UsageError(f"{option} {text!r} is no name.", "Names are not empty and have no blanks.", "Correct it.")
    return name


def _whole(option: str, text: str) -> str:
    name = _name(option, text)
    if name.prefixed:
        raise UsageError(
            f"{option} {text!r} is not one name.",
            "What an application owns is named after it, or there is one of it.",
            "Write the name in full, without a star.",
        )
    return name.text


def _refuse_half(kind: ApplicationKind, given: Mapping[str, str | list[str] | None]) -> None:
    """Refuse an application of which something is not known, or that has what its kind has not."""
    streams = kind is ApplicationKind.STREAMS
    connect = kind is ApplicationKind.CONNECT_SOURCE
    wanted = {
        "--transactional-id": kind in TRANSACTIONAL and not streams,
        "--write": kind is not ApplicationKind.CONSUMER,
        "--group": (kind in READING and not streams) or connect,
        "--application-id": streams,
        "--read": kind in READING,
    }
    for option, value in given.items():
        needed = wanted.get(option, connect)
        if bool(value) != needed:
            said = "is needed for" if needed else "makes no sense for"
            raise UsageError(
                f"{option} {said} {kind.value}.", "Rules are planned from it.", "See eosctl check acl --help"
            )
