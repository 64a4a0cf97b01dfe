"""The text format of Prometheus (exposition format 0.0.4), as jmx_exporter prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.metric_page import MetricSample

_SAMPLE: Final = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+([^\s]+)(?:\s+-?\d+)?\s*", re.ASCII)
_LABEL: Final = re.compile(r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?', re.ASCII)
_ESCAPED: Final = re.compile(r"\\(.)")

Sample = MetricSample


def parse_samples(text: str) -> Iterator[Sample]:
    """Parse a scrape.

    Raises:
        ValueError: A line is malformed; the message contains its number.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _SAMPLE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"line {number} is not a sample: {line[:80]!r}")
        try:
            value = float(match[3])
        except ValueError:
            raise ValueError(f"line {number} has no number: {line[:80]!r}") from None
        yield Sample(match[1], _labels(match[2] or "", number), value)


def _labels(text: str, number: int) -> dict[str, str]:
    labels, position, end = {}, 0, len(text.rstrip())
    while position < end:
        match = _LABEL.match(text, position)
        if match is None:
            raise ValueError(f"line {number} has labels that cannot be read: {text[:80]!r}")
        labels[match[1]] = _ESCAPED.sub(lambda escaped: "\n" if escaped[1] == "n" else escaped[1], match[2])
        position = match.end()
    return labels
