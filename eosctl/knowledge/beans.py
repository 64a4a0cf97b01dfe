"""From JMX beans to samples under the names that jmx_exporter gives them without rules."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from eosctl.model.metric_page import MetricSample

_RESERVED: Final = ("_total", "_created", "_bucket", "_info")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9:_]")
_KEY: Final = re.compile(r'([^=,]+)=("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)')


class BeanQuery(NamedTuple):
    """Beans to read: a JMX pattern of object names, and the attributes wanted of each."""

    pattern: str
    attributes: tuple[str, ...]


def exporter_name(domain: str, bean_type: str, attribute: str) -> str:
    """Return the name that jmx_exporter (1.x, without rules) gives to an attribute; keys but the type become labels.

    Its untyped values lose the suffixes that its library keeps for others, so ``task-created-total`` ends in ``_task``.
    """
    name = safe_name(f"{domain}_{bean_type}_{attribute}")
    while reserved := next((suffix for suffix in _RESERVED if name.endswith(suffix)), ""):
        name = name.removesuffix(reserved)
    return name


def safe_name(text: str) -> str:
    """Return a text as Prometheus takes it in names."""
    return _NO_NAME.sub("_", text)


def bean_sample(object_name: str, attribute: str, value: object) -> MetricSample | None:
    """Return an attribute as a sample; None of one that is no number, or of an object name without a type."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    domain, _, rest = object_name.partition(":")
    # jmx_exporter leaves the quotes of a quoted value in the label.
    keys = {match[1]: match[2] for match in _KEY.finditer(rest)}
    bean_type = keys.pop("type", None)
    if bean_type is None:
        return None
    labels = {safe_name(key): text for key, text in keys.items()}
    return MetricSample(exporter_name(domain, bean_type, attribute), labels, float(value))
