"""``eosctl schema`` and ``eosctl version``: what the program prints, and what it is."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from eosctl import __version__
from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import unknown_name
from eosctl.render.formats import OutputFormat

SNAPSHOT = "snapshot"


def schema(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which; all are listed without.")] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the JSON Schema of a result, or list what there is."""
    from eosctl.collect.bundles.snapshot_file import snapshot_json_schema
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.machine import render_json
    from eosctl.render.schemas import SHAPES, schema_of, titled
    from eosctl.render.tool import SCHEMA_COLUMNS, SchemaItem

    if name == SNAPSHOT:
        write_result(render_json(titled(SNAPSHOT, snapshot_json_schema())), output_file)
        return
    if name is not None:
        if name not in SHAPES:
            raise unknown_name("schema", name, [*SHAPES, SNAPSHOT], "List them: eosctl schema")
        write_result(render_json(schema_of(name)), output_file)
        return
    invocation = invocation_of(context)
    items = [SchemaItem(key, commands) for key, (_, commands) in SHAPES.items()]
    items.append(SchemaItem(SNAPSHOT, "doctor --save-snapshot"))
    result = listing("schemas", "schema", invocation.now_ms(), tuple(sorted(items, key=lambda item: item.name)))
    write_result(render_listing(result, SCHEMA_COLUMNS, output, invocation.style()), output_file)


def version(
    context: typer.Context,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the versions of eosctl, Python and the libraries that matter."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.tool import LIBRARIES, VERSION_COLUMNS, VersionItem

    invocation = invocation_of(context)
    items = [VersionItem("eosctl", __version__), VersionItem("python", platform.python_version())]
    for library in LIBRARIES:
        try:
            items.append(VersionItem(library, version_of(library)))
        except PackageNotFoundError:
            items.append(VersionItem(library, "not installed"))
    result = listing("versions", "version", invocation.now_ms(), tuple(items))
    write_result(render_listing(result, VERSION_COLUMNS, output, invocation.style()), output_file)
