"""``eosctl schema`` and ``eosctl version``: what the program prints, and what it is."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.errors import unknown_name
from eosctl.render.machine import render_json
from eosctl.render.schemas import SHAPES, schema_of, titled
from eosctl.render.tool import SCHEMA_COLUMNS, VERSION_COLUMNS, SchemaItem, VersionItem
from eosctl.services.about import FILE_SCHEMAS, list_versions


def schema(
    invocation: Invocation,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name; all are listed by default.")] = None,
    *,
    result: ResultOptions,
) -> None:
    """Show the JSON Schema of a result, or list the schemas.

    Examples:
        eosctl schema
        eosctl schema diagnosis
    """
    if name is None:
        items = [SchemaItem(key, commands) for key, (_, commands) in SHAPES.items()]
        items += [SchemaItem(key, file.files) for key, file in FILE_SCHEMAS.items()]
        ordered = tuple(sorted(items, key=lambda item: item.name))
        emit_list(("schemas", "schema"), ordered, SCHEMA_COLUMNS, result, invocation)
    if name not in FILE_SCHEMAS and name not in SHAPES:
        raise unknown_name("schema", name, [*SHAPES, *FILE_SCHEMAS], "List them: eosctl schema")
    shape = titled(name, FILE_SCHEMAS[name].describe()) if name in FILE_SCHEMAS else schema_of(name)
    write_result(render_json(shape), result.output_file)


def version(invocation: Invocation, result: ResultOptions) -> None:
    """Show the versions of eosctl, Python, and key libraries.

    Examples:
        eosctl version
        eosctl version -o json
    """
    items = tuple(VersionItem(*one) for one in list_versions())
    emit_list(("versions", "version"), items, VERSION_COLUMNS, result, invocation)
