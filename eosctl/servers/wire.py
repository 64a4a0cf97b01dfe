"""Standard input and output of the server for assistants: lines that the SDK can read, and answers to those it cannot.

The SDK drops a message of a wrong form without an answer, so its client would wait forever; and where the client has
closed its end of standard output, the SDK waits for the end of standard input, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, NamedTuple

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
_CHUNK_BYTES: Final = 1 << 16
#: Lines that are read ahead of the server.
_AHEAD: Final = 16


class Refused(NamedTuple):
    """The answer to a line that is not a message.

    Attributes:
        code: The code of JSON-RPC.
        why: The reason in words.
        request: The id of the request; None if the line has none that can be named.
    """

    code: int
    why: str
    request: int | str | None = None

    def line(self) -> str:
        """Return the answer as a line of JSON."""
        error = {"code": self.code, "message": self.why}
        return json.dumps({"jsonrpc": "2.0", "id": self.request, "error": error}) + "\n"


def refusal_of(line: str) -> Refused | None:
    """Return the answer to a line that is not a message of the protocol; None for a message."""
    from mcp_types import JSONRPCNotification, jsonrpc_message_adapter

    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Refused(PARSE_ERROR, f"The line is not JSON: {str(error)[:80]}.")
    if not isinstance(document, dict):
        return Refused(INVALID_REQUEST, "A message is one JSON object in a line; batches are not part of the protocol.")
    given = document.get("id")
    request = given if isinstance(given, int | str) and not isinstance(given, bool) else None
    if isinstance(request, str) and not _is_text(request):
        request = None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if not _is_text(json.dumps(document, ensure_ascii=False)):
            return Refused(INVALID_REQUEST, "A text in the message has half of a surrogate pair.", request)
        return Refused(
            INVALID_REQUEST,
            'A request has "jsonrpc": "2.0", an id that is a text or a whole number, the name of a method, '
            "and params that are an object.",
            request,
        )
    if "id" in document and isinstance(message, JSONRPCNotification):
        return Refused(INVALID_REQUEST, "The id of a request is a text or a whole number.")
    return None


def _is_text(text: str) -> bool:
    """Return whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Wire:
    """Lines of standard input, and standard output, as the SDK uses a file of text.

    The lines end with standard input, or once the client has closed standard output. Meanwhile the process's own
    standard input is empty, and its own standard output is standard error, so that no library writes between two
    messages.
    """

    def __init__(self) -> None:
        """Take standard input and output away from the process."""
        self._reading, self._writing = os.dup(0), os.dup(1)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._one_at_a_time = asyncio.Lock()
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the messages; other lines are answered."""
        loop = asyncio.get_running_loop()
        free = threading.Semaphore(_AHEAD)

        def put(line: bytes | None) -> None:
            free.acquire()
            with suppress(RuntimeError):  # The server has ended.
                loop.call_soon_threadsafe(self._lines.put_nowait, line)

        # A daemon, since only the client can end its wait.
        threading.Thread(target=read_lines, args=(self._reading, put), name="stdin", daemon=True).start()
        while (line := await self._lines.get()) is not None and not self._is_closed:
            free.release()
            text = line.decode("utf-8", "replace")
            if not text.strip():
                continue
            if refused := refusal_of(text):
                await self.write(refused.line())
            else:
                yield text

    async def write(self, text: str) -> None:
        """Write whole lines; without a reader, drop them and end the input."""
        async with self._one_at_a_time:
            if self._is_closed:
                return
            try:
                await asyncio.to_thread(_write_all, self._writing, text.encode("utf-8", "replace"))
            except OSError:
                self._is_closed = True
                self._lines.put_nowait(None)

    async def flush(self) -> None:
        """Do nothing: no line is held back."""


def read_lines(descriptor: int, put: Callable[[bytes | None], None]) -> None:
    """Pass each line of a stream on as it arrives, without its end, and None after the last one."""
    begun: list[bytes] = []
    while chunk := _read(descriptor):
        first, *others = chunk.split(b"\n")
        begun.append(first)
        for line in others:
            put(b"".join(begun))
            begun = [line]
    if any(begun):
        put(b"".join(begun))
    put(None)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except OSError:
        return b""  # A terminal that is gone.


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
