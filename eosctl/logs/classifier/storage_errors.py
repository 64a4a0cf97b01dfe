"""Name the reason why a log directory failed, by the operating system's error (``storage_errors.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class StorageError(NamedTuple):
    """An error of the operating system on a log directory.

    Attributes:
        words: How it is printed; empty for any other error.
        cause: The root cause of the incident.
        why: What follows the name of the directory in the explanation.
        next: The next step, before the restart of the broker.
    """

    words: tuple[str, ...]
    cause: str
    why: str
    next: str


def storage_error(found: Iterable[str]) -> StorageError:
    """Return the most precise of the errors whose words records have, or the general one.

    >>> storage_error(["Permission denied"]).cause
    'log-dir-permission-denied'
    """
    words = {*found, ""}
    return next(one for one in storage_errors() if not words.isdisjoint(one.words))


@cache
def storage_errors() -> Sequence[StorageError]:
    """Return all errors, the most precise one first."""
    text = files("eosctl.logs.classifier").joinpath("storage_errors.toml").read_text("utf-8")
    return tuple(StorageError(**{**one, "words": tuple(one["words"])}) for one in tomllib.loads(text).values())
