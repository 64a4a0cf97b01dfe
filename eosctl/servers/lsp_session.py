"""The session of an editor with the language server: its bounded input, how it ends, and what the library logs."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from eosctl.errors import UsageError
from eosctl.model.redaction import redact_text
from eosctl.render.escaping import visible

if TYPE_CHECKING:
    from pygls.protocol import LanguageServerProtocol

MESSAGE_LIMIT_BYTES: Final = 64 << 20
LINE_LIMIT_BYTES: Final = 4_000
"""Python converts no longer numbers."""
#: The protocol has two header fields.
HEADER_LIMIT_LINES: Final = 64
_LONGEST_LINE: Final = 400


class Ending:
    """How an editor ends the session; pygls discards the exit status that it computes."""

    def __init__(self) -> None:
        self._is_announced = False
        self.is_abrupt = False

    def shutdown(self) -> None:
        """Take the request that announces the end."""
        self._is_announced = True

    def exit(self) -> None:
        """Take the notification that ends the session."""
        self.is_abrupt = not self._is_announced


class BoundedInput:
    """Standard input whose messages have a limit, since the memory for a message is allocated before it arrives."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._header_lines = 0

    def readline(self) -> bytes:
        """Return the next line of a header, or the first part of a long one.

        Raises:
            UsageError: The header has too many lines.
        """
        self._header_lines += 1
        if self._header_lines > HEADER_LIMIT_LINES:
            raise UsageError(
                f"The editor sent a header of more than {HEADER_LIMIT_LINES} lines.",
                "It does not speak the Language Server Protocol.",
                "Let the editor start eosctl lsp, without a terminal.",
            )
        return self._stream.readline(LINE_LIMIT_BYTES)

    def read(self, size: int) -> bytes:
        """Return a message.

        Raises:
            UsageError: It is too large.
        """
        if not 0 <= size <= MESSAGE_LIMIT_BYTES:
            raise UsageError(
                f"The editor announced a message of {size:,} bytes.",
                f"At most {MESSAGE_LIMIT_BYTES:,} are accepted.",
                "Close very large files, or restart the editor.",
            )
        self._header_lines = 0
        return self._stream.read(size)


def answering_protocol() -> type[LanguageServerProtocol]:
    """Return the library's protocol with an answer to requests of a wrong form, which it only logs.

    The editor would wait forever for the hover of a place that is not one.
    """
    from pygls.exceptions import JsonRpcException
    from pygls.protocol import LanguageServerProtocol

    class AnsweringProtocol(LanguageServerProtocol):
        def structure_message(self, data: dict[str, Any]) -> Any:
            try:
                return super().structure_message(data)
            except JsonRpcException as error:
                request = data.get("id")
                if "method" in data and isinstance(request, int | str):
                    self._send_response(request, error=error.to_response_error())
                raise

    return AnsweringProtocol


def keep_log_short() -> None:
    """Report what pygls could not handle in one line, since an editor's mistake is not a defect in eosctl.

    Requests that the end of a session cancels are not reported.
    """
    for name in ("pygls", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one.formatter, OneLine) for one in logger.handlers):
            handler = logging.StreamHandler()
            handler.setFormatter(OneLine())
            handler.addFilter(_was_not_canceled)
            logger.addHandler(handler)
        logger.setLevel(logging.WARNING)
        logger.propagate = False


def _was_not_canceled(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


class OneLine(logging.Formatter):
    """The first line of a record, and the error that it reports."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, at most 400 characters, with secrets masked and hidden characters written out."""
        text = next(iter(record.getMessage().splitlines()), "")
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text += f": {type(error).__name__}: {error}"
        line = visible(redact_text(" ".join(text.split())))
        return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "..."
