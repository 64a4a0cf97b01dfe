"""From JMX beans to samples under the names that jmx_exporter gives them without rules."""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.metric import exporter_name, safe_name
from eosctl.model.metric_page import MetricSample

_KEY: Final = re.compile(r'([^=,]+)=("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)')


def bean_sample(object_name: str, attribute: str, value: object) -> MetricSample | None:
    """Return an attribute as a sample; None if it is not a number, or if the object name has no type."""
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
