"""Recognize what kind of result a file holds, by its beginning: a result takes the place of its own kind alone.

The kind is the format with the schema, command, or metric that the beginning names. So a table of settings never
replaces a record with people's answers, a bundle with the evidence of an incident, or notes about eosctl.
"""

from __future__ import annotations

import re
from typing import Final

#: How many bytes of a file decide.
HEAD_BYTES: Final = 4096
# In the head of every page.
_GENERATOR: Final = b'<meta name="generator" content="eosctl">'
# JSON, SARIF, YAML, markdown, JUnit, pages, Prometheus, GitHub, grades, scripts, and bundles. What differs between
# kinds of one format is captured.
_BEGINNINGS: Final = (
    rb'\{\s*"schema":\s*"(eosctl\.[a-z-]+)"',
    rb'\{\s*"\$schema":[^{]*"runs":\s*\[\s*\{\s*"tool":\s*\{\s*"driver":\s*\{\s*"name":\s*"eosctl"()',
    rb"schema: (eosctl\.[a-z-]+)\n",
    rb"# (eosctl [a-z][a-z -]*)\n",
    rb'<\?xml [^>]*>\s*<testsuites [^>]*name="(eosctl [a-z][a-z -]*)"',
    rb"<!doctype html>.*" + re.escape(_GENERATOR) + rb"()",
    rb"# HELP (eosctl_\w+) ",
    rb"::(?:error|warning|notice) [^\n]*title=EOS-()",
    rb"(?:# )?(?:Grade [A-F] \(|No grade)()",
    rb"#!/bin/sh\n(?:eosctl|kafka-)()",
    rb"PK\x03\x04.{26}snapshot\.json()",
    # Exports for Prometheus, Grafana, and Strimzi.
    rb"groups:\n- name: eosctl\n()",
    rb'\{\s*"uid": "eosctl-exactly-once"()',
    rb"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: eosctl-metrics\n()",
)
_OWN: Final = re.compile(b"|".join(b"(?:" + one + b")" for one in _BEGINNINGS), re.DOTALL)
# Two results of one command often begin with the same line; so do any two pages, scripts, and JSON documents.
_COMMON: Final = (b"<", b"{", b"[", b"#!", b"---")
_LINE_BYTES: Final = 16

#: The number of the format, and what it names.
Kind = tuple[int, bytes]


def kind_of(head: bytes) -> Kind | None:
    """Return the kind of result that begins like this; None for what eosctl did not write.

    >>> kind_of(b"schema: eosctl.config-lint\\n") == kind_of(b'{"schema": "eosctl.config-lint"')
    False
    """
    found = _OWN.match(head[:HEAD_BYTES])
    return None if found is None or found.lastindex is None else (found.lastindex, found[found.lastindex])


def is_same_kind(head: bytes, content: bytes) -> bool:
    """Return whether a file's beginning is that of an earlier result of the same kind as a new one."""
    if head == content[:HEAD_BYTES]:
        return True
    if (kind := kind_of(head)) is not None:
        return kind == kind_of(content)
    first, line = head.partition(b"\n")[0], content.partition(b"\n")[0]
    return first == line and len(first) >= _LINE_BYTES and not first.startswith(_COMMON)
