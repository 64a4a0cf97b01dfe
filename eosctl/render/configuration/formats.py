"""The formats of ``config lint``."""

from __future__ import annotations

from enum import StrEnum


class LintFormat(StrEnum):
    """What ``-o`` accepts for ``config lint``."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    SARIF = "sarif"
    GITHUB = "github"
    MARKDOWN = "markdown"
    PROMETHEUS = "prometheus"
