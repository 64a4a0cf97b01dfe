"""A metric value, and the text format of Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """An attribute of an MBean, named as by jmx_exporter without rules: `domain_type_Attribute{key="value",…}`.

    `labels` are the MBean's other keys.
    """

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


def sample(metric: str, value: float, /, **labels: str) -> Sample:
    """Build a sample with its labels sorted by name, as jmx_exporter prints them."""
    return Sample(metric, tuple(sorted(labels.items())), value)


def render_samples(samples: Iterable[Sample]) -> str:
    """Render a scrape, with the samples of a name grouped below its type."""
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
