"""Define the output formats."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class OutputFormat(StrEnum):
    """The values of ``-o`` for every command."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"


class FindingFormat(StrEnum):
    """The values of ``-o`` for commands that return findings."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    CSV = "csv"
    SARIF = "sarif"
    JUNIT = "junit"
    HTML = "html"
    GITHUB = "github"
    MARKDOWN = "markdown"
    PROMETHEUS = "prometheus"


FOR_PEOPLE: Final = frozenset({"table", "wide"})
"""Formats that may have colors and wrap to the terminal; all others are the same on every terminal."""
