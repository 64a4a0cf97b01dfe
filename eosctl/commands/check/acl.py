"""``eosctl check acl``: the access rules that an application needs, and whether a cluster has them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.options import EvidenceOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.model.access import ApplicationKind
from eosctl.render.diagnosis.access import render_access
from eosctl.services.plan_access import AccessRequest, plan_access_rules

APPLICATION: Final = "Application"
_option = partial(typer.Option, rich_help_panel=APPLICATION)


class ApplicationOptions(NamedTuple):
    """The options that describe an application."""

    transactional_id: Annotated[str | None, _option("--transactional-id", metavar="ID", help="Its id.")] = None
    group: Annotated[str | None, _option("--group", metavar="GROUP", help="Its group.")] = None
    reads: Annotated[
        list[str] | None, _option("--read", metavar="TOPIC", help="Topic that the application reads; repeatable.")
    ] = None
    writes: Annotated[
        list[str] | None, _option("--write", metavar="TOPIC", help="Topic that the application writes; repeatable.")
    ] = None
    application_id: Annotated[
        str | None, _option("--application-id", metavar="ID", help="application.id, for Kafka Streams.")
    ] = None
    connector: Annotated[str | None, _option("--connector", metavar="NAME", help="Connector name, for Connect.")] = None
    config_topic: Annotated[
        str | None, _option("--config-topic", metavar="TOPIC", help="config.storage.topic, for Connect.")
    ] = None
    offset_topic: Annotated[
        str | None, _option("--offset-topic", metavar="TOPIC", help="offset.storage.topic, for Connect.")
    ] = None
    status_topic: Annotated[
        str | None, _option("--status-topic", metavar="TOPIC", help="status.storage.topic, for Connect.")
    ] = None
    kafka_version: Annotated[
        str | None, _option("--kafka-version", metavar="VERSION", help="Release of the oldest broker, e.g. 2.7.")
    ] = None


def acl(
    invocation: Invocation,
    kind: Annotated[ApplicationKind, typer.Argument(metavar="KIND", help="Kind of application.")],
    application: ApplicationOptions,
    evidence: EvidenceOptions,
    result: ResultOptions,
    principal: Annotated[
        str | None,
        _option("--principal", metavar="USER", help="Principal, e.g. User:orders; User:eosctl for doctor and repair."),
    ] = None,
) -> None:
    """Print the access rules that an application needs.

    Prints the smallest set of access rules, and what fails without each. KIND is producer (transactional),
    idempotent-producer, consumer, processor (reads and writes in transactions), streams (Kafka Streams with
    exactly-once), connect-source (an exactly-once source connector and the Connect workers that run it; --group is
    their group.id), doctor (eosctl itself, to read a cluster completely), or repair (also txn abort, complete, and
    fence). A name that ends in * matches every name with that prefix. For doctor and repair, the rules are also printed
    as a KafkaUser of Strimzi and as Terraform.

    With a cluster or a snapshot, the rules there are compared with the required ones. Exit codes: 0 all rules are
    present, 3 a rule is missing or denied, 4 the cluster's rules could not be read.

    Examples:
        eosctl check acl producer --principal User:orders --transactional-id orders --write orders
        eosctl check acl processor --principal User:app --group app --read in --write out --transactional-id app
        eosctl check acl doctor --principal User:eosctl
    """
    request = AccessRequest(kind, principal or "", *application, evidence.cluster.connection, evidence.snapshot)
    plan = perform(plan_access_rules, request, invocation)
    found = (plan.rules, plan.principal, plan.address, plan.snapshot)
    text = render_access(*found, invocation.now_ms(), result.output, invocation.style(), as_files=kind.is_own)
    emit(text, result, () if plan.snapshot is None else plan.snapshot.gaps, plan.exit_code)
