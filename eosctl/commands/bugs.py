"""``eosctl bugs``: bugs of certain releases that hurt exactly-once."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.model.known_bug import Product, Version, parse_version
from eosctl.render.formats import OutputFormat

VERSIONS = "Versions"


def _version_option(name: str, product: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        f"--{name}", metavar="VERSION", help=f"The release of {product}, e.g. 3.7.1.", rich_help_panel=VERSIONS
    )
    return option


def bugs(
    context: typer.Context,
    release: Annotated[
        str | None,
        typer.Argument(metavar="VERSION", help="The release of Kafka: brokers, Java clients, Streams and Connect."),
    ] = None,
    kafka: Annotated[str | None, _version_option("kafka", "the brokers")] = None,
    clients: Annotated[str | None, _version_option("clients", "Java clients")] = None,
    streams: Annotated[str | None, _version_option("streams", "Kafka Streams")] = None,
    connect: Annotated[str | None, _version_option("connect", "Kafka Connect")] = None,
    librdkafka: Annotated[str | None, _version_option("librdkafka", "librdkafka")] = None,
    flink_connector: Annotated[str | None, _version_option("flink-connector", "Flink's Kafka connector")] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List bugs that hurt exactly-once: those of the releases given, or all that are known."""
    from eosctl.knowledge.known_bugs import load_known_bugs
    from eosctl.render.configuration.bugs import BUG_COLUMNS, bug_item
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing

    given = {
        Product.BROKER: kafka or release,
        Product.CLIENT: clients or release,
        Product.STREAMS: streams or release,
        Product.CONNECT: connect or release,
        Product.LIBRDKAFKA: librdkafka,
        Product.FLINK: flink_connector,
    }
    versions = {product: _parse(text) for product, text in given.items() if text is not None}
    invocation = invocation_of(context)
    if versions:
        items = [
            bug_item(bug, versions[bug.product])
            for bug in load_known_bugs()
            if bug.product in versions and bug.affects(versions[bug.product])
        ]
    else:
        items = [bug_item(bug) for bug in load_known_bugs()]
    result = listing("bugs", "bugs", invocation.now_ms(), tuple(items))
    empty = "None of the known bugs is in these releases."
    write_result(render_listing(result, BUG_COLUMNS, output, invocation.style(), empty=empty), output_file)


def _parse(text: str) -> Version:
    try:
        return parse_version(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a version.", "", "Write it as 3.7.1.") from error
