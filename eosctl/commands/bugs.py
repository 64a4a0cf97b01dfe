"""``eosctl bugs``: bugs of certain releases that hurt exactly-once."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.errors import UsageError
from eosctl.model.known_bug import Product
from eosctl.render.configuration.bugs import BUG_COLUMNS, bug_item
from eosctl.services.list_bugs import bugs_of, find_bug, is_bug_id

VERSIONS = "Versions"


def _version_option(name: str, product: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        f"--{name}-version", metavar="VERSION", help=f"Release of {product}, e.g. 3.7.1.", rich_help_panel=VERSIONS
    )
    return option


def bugs(
    invocation: Invocation,
    release: Annotated[
        str | None, typer.Argument(metavar="VERSION|ID", help="Kafka release, or a bug such as KAFKA-17507.")
    ] = None,
    kafka: Annotated[str | None, _version_option("kafka", "the brokers")] = None,
    clients: Annotated[str | None, _version_option("client", "Java clients")] = None,
    streams: Annotated[str | None, _version_option("streams", "Kafka Streams")] = None,
    connect: Annotated[str | None, _version_option("connect", "Kafka Connect")] = None,
    librdkafka: Annotated[str | None, _version_option("librdkafka", "librdkafka")] = None,
    flink_connector: Annotated[str | None, _version_option("flink-connector", "Flink's Kafka connector")] = None,
    *,
    result: ResultOptions,
) -> None:
    """List Kafka bugs that break exactly-once.

    Lists the bugs of the given releases, one bug by its id, or all known bugs. A VERSION stands for brokers, Java
    clients, Streams, and Connect.

    Examples:
        eosctl bugs 3.7.1
        eosctl bugs --kafka-version 3.7.1 --client-version 3.6.0
        eosctl bugs KAFKA-17507
    """
    bug = release if release is not None and is_bug_id(release) else None
    version = None if bug else release
    given = {
        Product.BROKER: kafka or version,
        Product.CLIENT: clients or version,
        Product.STREAMS: streams or version,
        Product.CONNECT: connect or version,
        Product.LIBRDKAFKA: librdkafka,
        Product.FLINK: flink_connector,
    }
    releases = {product: text for product, text in given.items() if text is not None}
    if bug and releases:
        raise UsageError("A bug and a release were given.", "", "Give one of them: eosctl bugs KAFKA-17507")
    found = find_bug(bug) if bug else bugs_of(releases)
    for remark in found.remarks:
        note(remark)
    items = tuple(bug_item(one.bug, one.version) for one in found.bugs)
    empty = "None of the known bugs is in these releases."
    emit_list(("bugs", "bugs"), items, BUG_COLUMNS, result, invocation, empty=empty)
