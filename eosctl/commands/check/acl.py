"""``eosctl check acl``: the access rules that an application needs, and whether a cluster has them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.options import ConnectionOptions, ResultOptions, SnapshotFile
from eosctl.commands.session import perform
from eosctl.render.diagnosis.access import render_access
from eosctl.services.plan_access import AccessRequest, plan_access_rules

APPLICATION: Final = "Application"
_option = partial(typer.Option, rich_help_panel=APPLICATION)


AccessOptions = Annotated[
    AccessRequest,
    options(
        kind=typer.Argument(metavar="KIND", help="Kind of application."),
        name=typer.Argument(metavar="[NAME]", help="Runbook of runbook-run."),
        transactional_id=_option("--transactional-id", metavar="ID", help="Its id."),
        group=_option("--group", metavar="GROUP", help="Its group."),
        reads=_option("--read", metavar="TOPIC", help="Topic that the application reads; repeatable."),
        writes=_option("--write", metavar="TOPIC", help="Topic that the application writes; repeatable."),
        application_id=_option("--application-id", metavar="ID", help="application.id, for Kafka Streams."),
        connector=_option("--connector", metavar="NAME", help="Connector name, for Connect."),
        config_topic=_option("--config-topic", metavar="TOPIC", help="config.storage.topic, for Connect."),
        offset_topic=_option("--offset-topic", metavar="TOPIC", help="offset.storage.topic, for Connect."),
        status_topic=_option("--status-topic", metavar="TOPIC", help="status.storage.topic, for Connect."),
        kafka_version=_option("--kafka-version", metavar="VERSION", help="Release of the oldest broker, e.g. 2.7."),
        principal=_option(
            "--principal", metavar="USER", help="Principal, e.g. User:orders; User:eosctl for own commands."
        ),
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
    ),
]


def acl(invocation: Invocation, request: AccessOptions, result: ResultOptions) -> None:
    """Print the access rules that an application needs.

    Prints the smallest set of access rules, and what fails without each. KIND is producer (transactional),
    idempotent-producer, consumer, processor (reads and writes in transactions), streams (Kafka Streams with
    exactly-once), connect-source (an exactly-once source connector and the Connect workers that run it; --group is
    their group.id), doctor (eosctl itself, to read a cluster completely), repair (also txn abort, complete, and fence),
    or one command, such as txn-hanging or runbook-run with NAME. A name that ends in * matches every name with that
    prefix. For eosctl's own commands, the rules are also printed as a KafkaUser of Strimzi and as Terraform.

    With a cluster or a snapshot, the rules there are compared with the required ones. Exit codes: 0 all rules are
    present, 3 a rule is missing or denied, 4 the cluster's rules could not be read.

    Examples:
        eosctl check acl producer --principal User:orders --transactional-id orders --write orders
        eosctl check acl processor --principal User:app --group app --read in --write out --transactional-id app
        eosctl check acl runbook-run hanging-transaction
    """
    plan = perform(plan_access_rules, request, invocation)
    found = (plan.rules, plan.principal, plan.address, plan.snapshot)
    text = render_access(*found, invocation.now_ms(), result.output, invocation.style(), as_files=request.kind.is_own)
    emit(text, result, () if plan.snapshot is None else plan.snapshot.gaps, plan.exit_code)
