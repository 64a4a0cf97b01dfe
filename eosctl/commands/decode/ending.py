"""How the decoders write and end."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NoReturn

import typer

from eosctl.errors import DecodeError
from eosctl.render.escaping import lines_text, utf8_text
from eosctl.services.decode_input import DamageLog, StoppedAtDamage

#: Text is handed on in pieces of about this many characters.
_PIECE_CHARACTERS = 1 << 16


def _write(pieces: list[str]) -> None:
    """Write text; a terminal gets no control characters, which `-o kafka` writes byte for byte as Kafka's tool does."""
    text = "".join(pieces)
    sys.stdout.write(lines_text(text) if sys.stdout.isatty() else utf8_text(text))


def write_and_end(pieces: Iterable[str], damage: DamageLog) -> NoReturn:
    """Write text to standard output as it comes, in larger pieces; end with exit code 1 if anything was damaged.

    Raises:
        DecodeError: A file cannot be read.
    """
    held: list[str] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size > _PIECE_CHARACTERS:
                _write(held)
                held, size = [], 0
    except StoppedAtDamage:
        pass
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        _write(held)
        raise DecodeError(
            f"Cannot read {error.filename or 'the input'}.",
            error.strerror or str(error),
            "Name files that exist and that you may read.",
        ) from error
    _write(held)
    sys.stdout.flush()
    raise typer.Exit(1 if damage.count else 0)
