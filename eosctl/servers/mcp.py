"""The Model Context Protocol over standard input and output: the tools of `tools`, by the official SDK."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from eosctl import __version__
from eosctl.errors import EosctlError, UsageError
from eosctl.servers.answers import Reply, Tool, call, failed_reply
from eosctl.servers.calls import Calls
from eosctl.servers.tools import TOOLS
from eosctl.servers.wire import Wire
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

INSTRUCTIONS: Final = (
    "eosctl diagnoses exactly-once (EOS) deployments of Apache Kafka. Every tool only reads. A result has two texts: "
    "the JSON that the command prints, and the exit code with what was and was not read. Exit code 0 covers only what "
    "was read: report what was not. Changes to a cluster are made by a person with the commands that findings name."
)


def serve(connection: Connection) -> None:
    """Serve the tools until standard input ends.

    Args:
        connection: The cluster of calls that name no profile.

    Raises:
        UsageError: The extra `mcp` is not installed.
    """
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        raise UsageError("eosctl mcp needs the extra mcp.", "", "Install it: pip install 'eosctl[mcp]'") from error

    async def run() -> None:
        server = _server(connection)
        wire = cast("anyio.AsyncFile[str]", Wire())
        async with stdio_server(wire, wire) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def _server(connection: Connection) -> Server[Any]:
    from mcp.server.lowlevel import Server
    from mcp_types import ListToolsResult

    calls: Calls[Reply] = Calls()

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(_: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        work = partial(call, TOOLS, params.name, params.arguments or {}, connection)
        try:
            return _result(await calls.run(work))
        except EosctlError as error:
            return _result(failed_reply(error))

    return Server(
        "eosctl", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _described(tool: Tool) -> Any:
    from mcp_types import Tool as ListedTool
    from mcp_types import ToolAnnotations

    hints = ToolAnnotations(
        title=tool.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=hints,
    )


def _result(reply: Reply) -> CallToolResult:
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(
        content=[TextContent(text=reply.result), TextContent(text=reply.coverage)],
        structured_content=json.loads(reply.result) if reply.is_object else None,
        is_error=reply.is_error,
    )
