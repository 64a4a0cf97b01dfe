"""What Prometheus would have scraped of some programs: a value or a blank of each series at each scrape."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SCRAPE_S = 15
FIXTURES = Path(__file__).parents[1] / "fixtures" / "metrics"


def series_name(instance: str, name: str, labels: Iterable[tuple[str, str]], job: str = "kafka") -> str:
    """Return a series as PromQL writes it."""
    found = (("job", job), ("instance", instance), *labels)
    return name + "{" + ",".join(f"{key}={json.dumps(value)}" for key, value in found) + "}"


def value_text(value: float) -> str:
    """Return a value in promtool's notation."""
    return "NaN" if math.isnan(value) else f"{value:.12g}"


class Series:
    """Values of each series in promtool's notation, scrape by scrape."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.count = 0

    def add(self, found: Mapping[str, str]) -> None:
        """Note one scrape: the value of each series that is there."""
        for name in found.keys() | self.values.keys():
            values = self.values.setdefault(name, ["_"] * self.count)
            # A series that the last scrape had and this one lacks is stale immediately, as in Prometheus.
            values.append(found.get(name) or ("stale" if values and values[-1] not in ("_", "stale") else "_"))
        self.count += 1

    def texts(self) -> dict[str, str]:
        """Return each series' values as promtool's input."""
        return {name: " ".join(values) for name, values in sorted(self.values.items())}

    def save(self, name: str, kafka: str) -> Path:
        """Keep a recording among the fixtures."""
        document = {"kafka": kafka, "scrape_interval_s": SCRAPE_S, "count": self.count, "series": self.texts()}
        path = FIXTURES / f"{name}.json.gz"
        path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
        return path


def recorded(name: str) -> dict[str, Any]:
    """Return a recording of the fixtures."""
    found: dict[str, Any] = json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))
    return found
