"""Define the output formats."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath
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


_BY_ENDING: Final = {
    ".csv": FindingFormat.CSV,
    ".json": FindingFormat.JSON,
    ".md": FindingFormat.MARKDOWN,
    ".sarif": FindingFormat.SARIF,
    ".tsv": FindingFormat.TSV,
    ".xml": FindingFormat.JUNIT,
    ".yaml": FindingFormat.YAML,
    ".yml": FindingFormat.YAML,
}


def format_of_file(path: PurePath) -> FindingFormat:
    """Return the format that the ending of a report's name stands for; HTML for all other names."""
    return _BY_ENDING.get(path.suffix.lower(), FindingFormat.HTML)


FOR_PEOPLE: Final = frozenset({"table", "wide"})
"""Formats that may have colors and wrap to the terminal; all others are the same on every terminal."""
