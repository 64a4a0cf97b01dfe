"""The formats that results are rendered in."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class OutputFormat(StrEnum):
    """What ``-o`` accepts for every command."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"


class FindingFormat(StrEnum):
    """What ``-o`` accepts where findings are the result."""

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
"""Formats that may carry colour and wrap to the terminal; all others are byte for byte the same everywhere."""
