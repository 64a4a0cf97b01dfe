"""What releases declare of a setting, folded into spans as the tables hold it, and unfolded again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

TABLES: Final = Path(__file__).resolve().parents[2] / "eosctl" / "knowledge" / "settings"
MACHINE_DEPENDENT: Final = frozenset(
    {"state.dir", "ssl.enabled.protocols", "ssl.protocol", "auto.include.jmx.reporter"}
)
"""Settings with a default that depends on the machine that prints it."""
ABSENT: Final[Mapping[str, Any]] = {"default": None, "absent": True}
"""The value of a span for releases without the setting."""


class Declared(NamedTuple):
    """One setting as one release declares it.

    Attributes:
        name: The setting.
        type: Kafka's type in lower case.
        default: None means null.
        required: Whether there is no default, so users must set it.
        bounds: The text of the validator, empty without one.
        importance: `high`, `medium`, or `low`; empty where the software has no such grade.
    """

    name: str
    type: str
    default: str | None
    required: bool
    bounds: str
    importance: str = ""


def release_numbers(text: str) -> tuple[int, int]:
    """Return major and minor number of a release such as `4.3.1`."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def fold(seen: Sequence[tuple[str, Declared]], labels: Sequence[str]) -> dict[str, Any]:
    """Fold what releases declare of one setting into spans; each names the first release that declares it so.

    A release between two others may lack a setting, as patches of older branches get some.

    Args:
        seen: Release (`4.3`) and declaration, oldest first, never empty.
        labels: All releases of the table, oldest first.
    """
    last = seen[-1][1]
    by_label = dict(seen)
    spans: list[dict[str, Any]] = []
    for label in labels[labels.index(seen[0][0]) : labels.index(seen[-1][0]) + 1]:
        declared = by_label.get(label)
        span = ABSENT if declared is None else _span(declared)
        if not spans or {key: value for key, value in spans[-1].items() if key != "since"} != span:
            spans.append({"since": label, **span})
    folded: dict[str, Any] = {"type": last.type, "spans": spans}
    if last.importance:
        folded["importance"] = last.importance
    after = labels.index(seen[-1][0]) + 1
    if after < len(labels):
        folded["removed"] = labels[after]
    return folded


def unfold(name: str, folded: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Declared]:
    """Return what each release declares of a setting, by release; the reverse of `fold`, with the last type."""
    end = labels.index(folded["removed"]) if "removed" in folded else len(labels)
    starts = [labels.index(span["since"]) for span in folded["spans"]]
    found: dict[str, Declared] = {}
    for at, span in enumerate(folded["spans"]):
        if span.get("absent"):
            continue
        until = starts[at + 1] if at + 1 < len(starts) else end
        declared = Declared(
            name,
            folded["type"],
            span["default"],
            span.get("required", False),
            span.get("bounds", ""),
            folded.get("importance", ""),
        )
        found |= dict.fromkeys(labels[starts[at] : until], declared)
    return found


def write_table(component: str, table: Mapping[str, Any]) -> None:
    """Write the table of one component."""
    (TABLES / f"{component}.json").write_text(json.dumps(table, indent=1, sort_keys=False) + "\n", encoding="utf-8")


def _span(declared: Declared) -> dict[str, Any]:
    span: dict[str, Any] = {"default": None if declared.name in MACHINE_DEPENDENT else declared.default}
    if declared.bounds:
        span["bounds"] = declared.bounds
    if declared.required:
        span["required"] = True
    return span
