"""A measured value, and the text format in which Prometheus reads many of them (exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One attribute of one bean as jmx_exporter names it without rules: `domain_type_Attribute{key="value",…}`.

    `labels` are the bean's other keys.
    """

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


def sample(metric: str, value: float, /, **labels: str) -> Sample:
    """Build a sample with its labels in order of their names, as jmx_exporter prints them."""
    return Sample(metric, tuple(sorted(labels.items())), value)


def render_samples(samples: Iterable[Sample]) -> str:
    """Render a scrape: the samples of a name stand together below its type."""
    by_name: dict[str, list[Sample]] = {}
    for found in samples:
        by_name.setdefault(found.name, []).append(found)
    lines = []
    for name, group in sorted(by_name.items()):
        lines.append(f"# TYPE {name} untyped")
        lines += [_line(found) for found in group]
    return "\n".join(lines) + "\n"


def _line(found: Sample) -> str:
    labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in found.labels)
    return f"{found.name}{{{labels}}} {float(found.value)}" if labels else f"{found.name} {float(found.value)}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
