"""The text exposition format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.model.metric_reading import Gauge, GaugeSample, Labels


def gauge(name: str, help_text: str, samples: Iterable[GaugeSample]) -> str:
    """Render one gauge in the text exposition format; nothing without a sample."""
    return _family(name, "gauge", help_text, samples)


def counter(name: str, help_text: str, samples: Iterable[GaugeSample]) -> str:
    """Render one counter in the text exposition format; nothing without a sample."""
    return _family(name, "counter", help_text, samples)


def render_gauges(gauges: Iterable[Gauge]) -> str:
    """Render gauges and counters as one page."""
    return "".join((counter if one.is_counter else gauge)(one.name, one.help, one.samples) for one in gauges)


def _family(name: str, kind: str, help_text: str, samples: Iterable[GaugeSample]) -> str:
    lines = [f"{name}{_labels(sample.labels)} {sample.value}\n" for sample in samples]
    return f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n{''.join(lines)}" if lines else ""


def _labels(labels: Labels) -> str:
    text = ",".join(f'{name}="{_escape(value)}"' for name, value in labels)
    return f"{{{text}}}" if text else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
