"""The log of the language server's library on standard error: one line for each record, without tracebacks."""

from __future__ import annotations

import logging
from typing import Final

from eosctl.model.redaction import redact_text
from eosctl.render.escaping import visible

_LONGEST_LINE: Final = 400


def keep_log_short() -> None:
    """Report what pygls could not handle in one line, since an editor's mistake is not a defect in eosctl."""
    logger = logging.getLogger("pygls")
    if not any(isinstance(one.formatter, OneLine) for one in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(OneLine())
        logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    logger.propagate = False


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
