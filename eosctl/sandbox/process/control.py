"""The control socket: a request is a line of JSON, and so is its response."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from eosctl.errors import EosctlError, ExitCode, UsageError

Command = Callable[[dict[str, Any]], Awaitable[Any]]
LONGEST_LINE: Final = 1 << 22
# A response takes milliseconds; a busy machine takes many times as long.
ANSWER_TIMEOUT_S: Final = 120.0
_LONGEST_RESPONSE: Final = 1 << 28


class ControlError(EosctlError):
    """The sandbox process returned an error or did not respond."""


async def serve_control(path: Path, commands: Mapping[str, Command]) -> asyncio.Server:
    """Listen on a Unix socket that only this user can open.

    Args:
        path: The socket's path; a stale socket is replaced.
        commands: Commands by name; a command receives the arguments object and returns a JSON value.

    Raises:
        UsageError: The path is a regular file.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(json.dumps(await _carry_out(line, commands)).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            return
        finally:
            writer.close()

    if path.is_socket():
        path.unlink(missing_ok=True)
    elif path.exists():
        raise UsageError(f"{path} exists and is not a socket.", "It is not replaced.", "Choose another path.")
    before = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(answer, path, limit=LONGEST_LINE)
    finally:
        os.umask(before)


async def _carry_out(line: bytes, commands: Mapping[str, Command]) -> dict[str, Any]:
    try:
        request = json.loads(line)
        name, arguments = request["command"], request.get("arguments", {})
        if name not in commands:
            known = ", ".join(sorted(commands))
            raise UsageError(
                f"The sandbox has no command {name!r}.",
                f"It has: {known}.",
                "Restart it, if another release started it.",
            )
        return {"ok": True, "result": await commands[name](arguments)}
    except EosctlError as error:
        words = {"what": error.what, "why": error.why, "next_step": error.next_step}
        return {"ok": False, "error": words | {"exit_code": error.exit_code}}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return {"ok": False, "error": {"what": "The request cannot be read.", "why": repr(error), "next_step": ""}}


def call_control(
    path: Path, command: str, arguments: Mapping[str, Any] | None = None, timeout_s: float = ANSWER_TIMEOUT_S
) -> Any:
    """Send a command to a running sandbox and return its response.

    Raises:
        ControlError: It returned an error, does not listen, or did not respond in time.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(path))
            connection.sendall(_request(command, arguments))
            with connection.makefile("rb") as lines:
                line = lines.readline()
    except OSError as error:
        raise _no_answer(path, error) from error
    return _result(line)


async def request_control(path: Path, command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Send a command as `call_control` does, without blocking the event loop or a time limit.

    Raises:
        ControlError: The process returned an error, does not listen, or ended.
        UsageError: The process refused bad input.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST_RESPONSE)
        try:
            writer.write(_request(command, arguments))
            line = await reader.readline()
        finally:
            writer.close()
    except OSError as error:
        raise _no_answer(path, error) from error
    return _result(line, UsageError)


def _request(command: str, arguments: Mapping[str, Any] | None) -> bytes:
    return json.dumps({"command": command, "arguments": dict(arguments or {})}).encode() + b"\n"


def _no_answer(path: Path, error: OSError) -> ControlError:
    return ControlError(
        f"The sandbox does not answer on {path}.", str(error), "See whether it runs: eosctl sandbox status"
    )


def _result(line: bytes, refusal: type[EosctlError] = ControlError) -> Any:
    if not line:
        raise ControlError(
            "The sandbox closed its control socket without an answer.",
            "It may have just stopped.",
            "See whether it runs: eosctl sandbox status",
        )
    answer = json.loads(line)
    if answer["ok"]:
        return answer["result"]
    error = answer["error"]
    failure = refusal if error.get("exit_code") == ExitCode.BAD_INPUT else ControlError
    raise failure(error["what"], error["why"], error["next_step"])
