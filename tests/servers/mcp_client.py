"""The SDK's client, in front of ``eosctl mcp`` as a process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.servers.conftest import ROOT, program

T = TypeVar("T")


class Got(NamedTuple):
    """What a call returned."""

    is_error: bool
    text: str
    coverage: str
    json: Any


def serve(work: Callable[[Client], Awaitable[T]], *words: str, mode: Any = "auto", cwd: Path = ROOT) -> T:
    """Start the server with options, and let a client work with it."""
    command, arguments, environment = program("mcp", *words)
    process = StdioServerParameters(command=command, args=arguments, env=environment, cwd=cwd)

    async def run() -> T:
        async with Client(stdio_client(process), mode=mode) as client:
            return await work(client)

    return asyncio.run(run())


def call(*calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = (), mode: Any = "auto") -> list[Got]:
    """Call tools one after the other."""

    async def work(client: Client) -> list[Got]:
        return [_got(await client.call_tool(name, arguments)) for name, arguments in calls]

    return serve(work, *options, mode=mode)


def _got(result: Any) -> Got:
    text, coverage = (part.text for part in result.content)
    return Got(result.is_error, text, coverage, result.structured_content)
