"""``eosctl check acl``: the access rules that an application needs, and whether a cluster has them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.commands.emit import emit
from eosctl.commands.invocation import Invocation
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
        list[str] | None, _option("--read", metavar="TOPIC", help="A topic that it reads; repeatable.")
    ] = None
    writes: Annotated[
        list[str] | None, _option("--write", metavar="TOPIC", help="A topic that it writes; repeatable.")
    ] = None
    application_id: Annotated[
        str | None, _option("--application-id", metavar="ID", help="Of Kafka Streams: application.id.")
    ] = None
    connector: Annotated[
        str | None, _option("--connector", metavar="NAME", help="Of Connect: the connector's name.")
    ] = None
    config_topic: Annotated[
        str | None, _option("--config-topic", metavar="TOPIC", help="Of Connect: config.storage.topic.")
    ] = None
    offset_topic: Annotated[
        str | None, _option("--offset-topic", metavar="TOPIC", help="Of Connect: offset.storage.topic.")
    ] = None
    status_topic: Annotated[
        str | None, _option("--status-topic", metavar="TOPIC", help="Of Connect: status.storage.topic.")
    ] = None
    kafka_version: Annotated[
        str | None, _option("--kafka-version", metavar="VERSION", help="The oldest broker, e.g. 2.7.")
    ] = None


def acl(
    invocation: Invocation,
    kind: Annotated[ApplicationKind, typer.Argument(metavar="KIND", help="What the application does.")],
    principal: Annotated[
        str, typer.Option("--principal", metavar="USER", help="As whom, e.g. User:orders.", rich_help_panel=APPLICATION)
    ],
    application: ApplicationOptions,
    evidence: EvidenceOptions,
    result: ResultOptions,
) -> None:
    """Print the smallest set of access rules with which an application runs, and what fails without each.

    KIND is producer (transactional), idempotent-producer, consumer, processor (reads and writes in transactions),
    streams (Kafka Streams with exactly-once), or connect-source (an exactly-once source, and the workers of Kafka
    Connect that run it; --group is their group.id). A name that ends in * stands for all that begin so. With a
    cluster or a snapshot, the rules there are compared: exit code 3 when one is missing or denied, 4 when the
    cluster's rules could not be read.
    """
    request = AccessRequest(kind, principal, *application, evidence.cluster.connection, evidence.snapshot)
    plan = perform(plan_access_rules, request, invocation)
    found = (plan.rules, principal, plan.address, plan.snapshot)
    text = render_access(*found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, () if plan.snapshot is None else plan.snapshot.gaps, plan.exit_code)
