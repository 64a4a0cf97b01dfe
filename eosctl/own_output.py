"""Distinguish eosctl's own results from other files, so that a mistyped path never costs a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from eosctl.errors import UsageError

#: Named in the head of every page.
GENERATOR: Final = '<meta name="generator" content="eosctl">'
_HEAD_BYTES: Final = 4096
# How a result begins: JSON, SARIF, YAML, markdown, JUnit, pages, Prometheus, GitHub, grades, scripts, and bundles.
_BEGINNINGS: Final = (
    rb'\{\s*"schema":\s*"eosctl\.',
    rb'\{\s*"\$schema":[^{]*"runs":\s*\[\s*\{\s*"tool":\s*\{\s*"driver":\s*\{\s*"name":\s*"eosctl"',
    rb"schema: eosctl\.",
    rb"# eosctl [a-z]",
    rb'<\?xml [^>]*>\s*<testsuites [^>]*name="eosctl ',
    rb"<!doctype html>.*" + re.escape(GENERATOR.encode()),
    rb"# HELP eosctl_",
    rb"::(?:error|warning|notice) [^\n]*title=EOS-",
    rb"(?:# )?(?:Grade [A-F] \(|No grade)",
    rb"#!/bin/sh\n(?:eosctl|kafka-)",
    rb"PK\x03\x04.{26}snapshot\.json",
)
_OWN: Final = re.compile(b"|".join(b"(?:" + one + b")" for one in _BEGINNINGS), re.DOTALL)
# Two results of one command often begin with the same line; so do any two pages, scripts, and JSON documents.
_COMMON: Final = (b"<", b"{", b"[", b"#!", b"---")
_LINE_BYTES: Final = 16


def refuse_foreign_file(path: Path, content: bytes) -> None:
    """Refuse to replace a file that is not a result of eosctl.

    Devices, pipes, empty files, and files with this very content may be written to.

    Args:
        path: Where the result goes; it need not exist.
        content: The result, or its beginning.

    Raises:
        UsageError: The file is something else.
        OSError: It cannot be read.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head or _is_own(head, content):
        return
    raise UsageError(
        f"{path} exists, and is not a result of eosctl.",
        "It is not replaced.",
        "Choose another path, or remove the file first.",
    )


def _is_own(head: bytes, content: bytes) -> bool:
    if head == content[:_HEAD_BYTES] or _OWN.match(head):
        return True
    first, line = head.partition(b"\n")[0], content.partition(b"\n")[0]
    return first == line and len(first) >= _LINE_BYTES and not first.startswith(_COMMON)
