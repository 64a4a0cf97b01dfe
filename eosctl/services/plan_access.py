"""Plan the access rules that an application needs, and compare them with those of a cluster."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.connect_access import ConnectSource, plan_connect_access
from eosctl.analysis.minimal_access import (
    READING,
    TRANSACTIONAL,
    Application,
    plan_access,
    states_of,
    streams_application,
)
from eosctl.analysis.own_access import own_rules
from eosctl.analysis.release import Release, oldest_release
from eosctl.errors import ExitCode, UsageError
from eosctl.findings.bootstrap import bootstrap_of, connection_words
from eosctl.model.access import ApplicationKind, Name, NeededRule, RuleState
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.argument_access import TESTING, Given, argument_rules
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.releases import release_if_named

OWN_PRINCIPAL: Final = "User:eosctl"
KINDS: Final = frozenset({EvidenceKind.ACCESS_RULES})


class AccessRequest(msgspec.Struct, frozen=True):
    """An application. A name that ends in ``*`` matches all names with this prefix; None means not given.

    Attributes:
        kind: What the application does.
        name: The runbook that `runbook-run` runs.
        principal: Its principal, e.g. ``User:orders``; empty for ``User:eosctl`` with commands of eosctl.
        transactional_id: Its transactional id.
        group: Its group; for a source connector, ``group.id`` of the workers.
        reads: The topics that it reads.
        writes: The topics that it writes.
        application_id: ``application.id`` of Kafka Streams.
        connector: The name of a source connector.
        config_topic: ``config.storage.topic`` of the workers.
        offset_topic: ``offset.storage.topic`` of the workers.
        status_topic: ``status.storage.topic`` of the workers.
        kafka_version: The release of the oldest broker; None for that of the cluster, or the newest without one.
        connection: The cluster to compare with; none without this and without a snapshot.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
    """

    kind: ApplicationKind
    name: str | None = None
    principal: str = ""
    transactional_id: str | None = None
    group: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    application_id: str | None = None
    connector: str | None = None
    config_topic: str | None = None
    offset_topic: str | None = None
    status_topic: str | None = None
    kafka_version: str | None = None
    connection: Connection = Connection()
    snapshot_file: Path | None = None


class AccessPlan(NamedTuple):
    """The result of planning.

    Attributes:
        rules: Each rule, with its state in the cluster; None if no cluster was compared.
        principal: The principal that the application connects as.
        address: The cluster's address and client configuration, as shell words.
        snapshot: The evidence of the cluster; None without one.
        exit_code: 3 if a rule is missing or denied, 4 if the cluster's rules could not be read, else 0.
    """

    rules: tuple[tuple[NeededRule, RuleState | None], ...]
    principal: str
    address: str
    snapshot: ClusterSnapshot | None
    exit_code: ExitCode


def plan_access_rules(request: AccessRequest, callbacks: Callbacks = SILENT) -> AccessPlan:
    """Return the smallest set of access rules with which an application runs.

    Raises:
        UsageError: The options do not describe an application of this kind.
        EosctlError: The cluster cannot be read.
    """
    principal = request.principal or (OWN_PRINCIPAL if request.kind.is_own else "")
    if not principal.startswith("User:"):
        raise UsageError(
            f"{principal} is not a principal." if principal else f"{request.kind.value} needs --principal.",
            "Kafka writes principals with their type.",
            f"Write --principal User:{principal or 'NAME'}",
        )
    _refuse_half(request)
    release = release_if_named(request.kafka_version, callbacks.remark)
    connection, snapshot = request.connection, None
    if connection.is_given or request.snapshot_file is not None:
        found = collect_evidence(EvidenceRequest(connection, request.snapshot_file, KINDS), callbacks)
        # Hidden topics do not belong to the answer.
        snapshot = replace(found, gaps=tuple(gap for gap in found.gaps if gap.kind in KINDS))
        release = release or oldest_release(snapshot)
    needed = _needed(request, release)
    if not needed:
        callbacks.remark(f"{request.kind.value} sends no request of its own to a cluster, and needs no right.")
    known = None if snapshot is None else snapshot.access_rules
    address = "HOST:PORT" if snapshot is None else bootstrap_of(snapshot)
    if connection.bootstrap is not None:
        address = shlex.join(connection_words(connection.bootstrap, str(connection.command_config or "")))
    states = states_of(needed, principal, known)
    code = ExitCode.DONE
    if snapshot is not None and known is None:
        code = ExitCode.INCOMPLETE
    elif any(state in (RuleState.MISSING, RuleState.DENIED) for state in states):
        code = ExitCode.FINDINGS
    if known is not None and not known.enabled:
        callbacks.remark("The cluster has no authorizer: all operations are allowed, and these rules have no effect.")
    return AccessPlan(tuple(zip(needed, states, strict=True)), principal, address, snapshot, code)


def _needed(request: AccessRequest, release: Release | None) -> tuple[NeededRule, ...]:
    reads = tuple(_name("--read", one) for one in request.reads or ())
    writes = tuple(_name("--write", one) for one in request.writes or ())
    if request.kind.is_own:
        group = None if request.group is None else _name("--group", request.group)
        given = Given(request.name or "", reads, writes, group, release)
        return own_rules(request.kind, release) or argument_rules(request.kind, given)
    if request.connector is not None:
        source = ConnectSource(
            group_id=_whole("--group", request.group or ""),
            connector=_name("--connector", request.connector),
            writes=writes,
            configs=_whole("--config-topic", request.config_topic or ""),
            offsets=_whole("--offset-topic", request.offset_topic or ""),
            status=_whole("--status-topic", request.status_topic or ""),
        )
        return tuple(plan_connect_access(source))
    if request.application_id is not None:
        own_id = _whole("--application-id", request.application_id)
        return tuple(plan_access(streams_application(request.principal, own_id, reads, writes)))
    application = Application(
        kind=request.kind,
        principal=request.principal,
        transactional_id=None
        if request.transactional_id is None
        else _name("--transactional-id", request.transactional_id),
        group=None if request.group is None else _name("--group", request.group),
        reads=reads,
        writes=writes,
        release=release,
    )
    return tuple(plan_access(application))


def _name(option: str, text: str) -> Name:
    name = Name(text[:-1], prefixed=True) if text.endswith("*") and text != "*" else Name(text)
    if not name.text or any(char.isspace() for char in name.text):
        raise UsageError(f"{option} {text!r} is not a name.", "Names are not empty and have no blanks.", "Correct it.")
    return name


def _whole(option: str, text: str) -> str:
    name = _name(option, text)
    if name.prefixed:
        raise UsageError(
            f"{option} {text!r} is not one name.",
            "The application has exactly one of it.",
            "Write the full name, without a star.",
        )
    return name.text


def _refuse_half(request: AccessRequest) -> None:
    """Refuse an application that lacks an option of its kind, or has an option of another kind."""
    kind = request.kind
    given: Mapping[str, str | Sequence[str] | None] = {
        "NAME": request.name,
        "--transactional-id": request.transactional_id,
        "--write": request.writes,
        "--group": request.group,
        "--application-id": request.application_id,
        "--read": request.reads,
        "--connector": request.connector,
        "--config-topic": request.config_topic,
        "--offset-topic": request.offset_topic,
        "--status-topic": request.status_topic,
    }
    streams = kind is ApplicationKind.STREAMS
    connect = kind is ApplicationKind.CONNECT_SOURCE
    tested = kind in TESTING
    wanted = {
        "NAME": kind is ApplicationKind.RUNBOOK_RUN,
        "--transactional-id": kind in TRANSACTIONAL and not streams,
        "--write": tested or (kind is not ApplicationKind.CONSUMER and not kind.is_own),
        "--group": (kind in READING and not streams) or connect,
        "--application-id": streams,
        "--read": tested or kind in READING or kind is ApplicationKind.DECODE_SEGMENT,
    }
    for option, value in given.items():
        needed = wanted.get(option, connect)
        if option == "--group" and tested:
            continue
        if bool(value) != needed:
            said = "is required for" if needed else "does not apply to"
            raise UsageError(
                f"{option} {said} {kind.value}.", "Rules are planned from it.", "See eosctl check acl --help"
            )
