"""Load the metric catalog (``metrics.toml``, ``missing.toml``) and find metrics by any of their names."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, Final

from eosctl.model.metric import Metric, MetricKind, MissingMetric, exporter_name, parse_release

_OBJECT: Final = re.compile(r"(?P<domain>[\w.]+):type=(?P<type>[\w-]+)(?P<keys>(?:,[\w-]+=\{[\w-]+\})*)")
_NAME_KEY: Final = re.compile(r'\bname="?([\w-]+)')
_LABELS: Final = re.compile(r"\{.*\}$")
_REMARK: Final = re.compile(r"\s*\(prometheus\)$", re.IGNORECASE)
#: Suffixes that the widespread rules of exporters add or cut, e.g. kafka_network_requestmetrics_requestspersec_count.
_SUFFIXES: Final = ("total", "count", "value", "oneminuterate", "99thpercentile", "mean", "max")


@cache
def load_metrics() -> tuple[Metric, ...]:
    """Return every metric that exists, in the catalog's order."""
    return tuple(metric for bean in _load("metrics.toml")["bean"] for metric in _metrics(bean))


@cache
def load_missing() -> tuple[MissingMetric, ...]:
    """Return the names that are quoted and do not exist."""
    by_name: dict[str, list[Metric]] = {}
    for metric in load_metrics():
        by_name.setdefault(metric.name, []).append(metric)
    return tuple(
        MissingMetric(
            tuple(body["names"]), body["how"], tuple(m for name in body.get("instead", ()) for m in by_name[name])
        )
        for body in _load("missing.toml")["missing"]
    )


def _load(file: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("eosctl.knowledge") / file).read_text(encoding="utf-8"))


def _metrics(bean: dict[str, Any]) -> Iterator[Metric]:
    found = _OBJECT.fullmatch(bean["object"])
    if found is None:
        raise ValueError(f"metrics.toml: {bean['object']!r} is not an object name")
    keys = tuple(part.split("=")[0] for part in found["keys"].split(",") if part)
    for body in bean["metrics"]:
        yield Metric(
            name=body["name"],
            component=bean["component"],
            domain=found["domain"],
            bean_type=found["type"],
            keys=keys,
            kind=MetricKind(body["kind"]),
            unit=body["unit"],
            means=body["means"],
            healthy=body["healthy"],
            since=parse_release(bean.get("since")),
            until=parse_release(bean.get("until")),
            above=body.get("above"),
            below=body.get("below"),
        )


def find_metrics(text: str) -> tuple[Metric, ...]:
    """Return the metrics that a name means: a bean, an attribute, both, or any exporter's name of a series.

    >>> [metric.name for metric in find_metrics("kafka_server_replicamanager_underreplicatedpartitions")]
    ['UnderReplicatedPartitions']
    """
    for wanted in _wanted(text):
        found = tuple(metric for metric in load_metrics() if wanted in _keys(metric))
        if found:
            return found
    return ()


def suggest_metrics(text: str) -> tuple[str, ...]:
    """Return names that are spelled like a word, the likeliest first."""
    names = {_key(metric.name): metric.name for metric in load_metrics()}
    key = _key(text.split(",")[-1])
    close = difflib.get_close_matches(key, names, n=4, cutoff=0.6)
    part = [name for name in names if len(key) >= 3 and key in name]
    return tuple(dict.fromkeys(names[name] for name in (*close, *part)))[:5]


def _wanted(text: str) -> Iterator[str]:
    """Yield what may be meant, the most exact first."""
    stripped = _REMARK.sub("", text.strip())
    yield _key(stripped)
    name = _NAME_KEY.search(stripped)
    if name:
        yield _key(name[1])
    bare = _LABELS.sub("", stripped)
    yield _key(bare)
    yield from (_key(bare).removesuffix(suffix) for suffix in _SUFFIXES if _key(bare).endswith(suffix))
    if " " in bare:
        yield _key(bare.split()[-1].split(",")[0])


@cache
def _keys(metric: Metric) -> frozenset[str]:
    whole = exporter_name(metric.domain, metric.bean_type, metric.name)
    names = [metric.name, whole, whole + "_total", metric.bean, f"{metric.bean_type} {metric.name}"]
    if not metric.is_yammer:
        names += [f"{metric.bean} {metric.name}", metric.name.removesuffix("-total")]
    return frozenset(map(_key, names))


def _key(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
