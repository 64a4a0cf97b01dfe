"""Expressions on the series of other exporter configurations (`names.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import msgspec

from eosctl.model.metric import SeriesNames

#: Metrics of clients: their JVMs have the configuration of eosctl, also where brokers have another one.
_OF_CLIENTS: Final = ("kafka_producer_", "kafka_consumer_", "kafka_streams_")
_INNER: Final = r'(?:\{((?:[^}"]|"[^"]*")*)\})?'
_SELECTOR: Final = re.compile(rf"(?<![\w:])(kafka_\w+){_INNER}(\[\w+\])?")
_MATCHER: Final = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_SLOT: Final = re.compile(r"\{([^}]*)\}")
_BY_NAME: Final = re.compile(r"\bby \([^)]*\bname\b")
_BY_JOB: Final = re.compile(r"\b(by|on) \(job\b")
_NAME: Final = "<name>"


class ExtraPanel(msgspec.Struct, frozen=True):
    """A graph of series that only this program has."""

    title: str
    expr: str
    legend: str
    topic: str = ""


class Naming(msgspec.Struct, frozen=True):
    """The names of a configuration.

    Attributes:
        title: The configuration, in words.
        source: Where its rules were read.
        cluster: The label that names a cluster.
        clusters: Grafana's query of the clusters.
        topics: Grafana's query of the topics.
        groups: Labels that distinguish clusters within a job.
        series: The series here for one of jmx_exporter without rules.
        labels: Renamed labels.
        merged: The label of a series that holds several keys of the bean, by the plain series.
        records: Expressions of recording rules that replace those on missing series.
        panels: Further graphs of a dashboard.
    """

    title: str
    source: str
    cluster: str
    clusters: str
    topics: str
    groups: tuple[str, ...] = ()
    series: Mapping[str, str] = msgspec.field(default_factory=dict)
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    merged: Mapping[str, str] = msgspec.field(default_factory=dict)
    records: Mapping[str, str] = msgspec.field(default_factory=dict)
    panels: tuple[ExtraPanel, ...] = ()


class Renamed(NamedTuple):
    """An expression on a configuration's series, and the plain series that it does not have."""

    expression: str
    missing: tuple[str, ...] = ()


class Matcher(NamedTuple):
    """A label matcher of PromQL."""

    label: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f'{self.label}{self.operator}"{self.value}"'


@cache
def load_naming(names: SeriesNames) -> Naming | None:
    """Return the names of a configuration; None for those of eosctl's own, which need no other."""
    if names is SeriesNames.EOSCTL:
        return None
    data = tomllib.loads((resources.files("eosctl.monitoring") / "names.toml").read_text(encoding="utf-8"))
    return msgspec.convert(data[names.value], Naming)


def rename(expression: str, naming: Naming | None) -> Renamed:
    """Return an expression on the series of a configuration.

    Args:
        expression: PromQL on the series of jmx_exporter without rules, of clients, and of eosctl's exporter.
        naming: The configuration; None leaves the expression as it is.
    """
    if naming is None:
        return Renamed(expression)
    missing: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        series, matchers, window = found[1], _matchers(found[2] or ""), found[3] or ""
        if series.startswith(_OF_CLIENTS):
            return found[0]
        if series not in naming.series:
            missing.append(series)
            return found[0]
        return _selector(series, matchers, window, naming, keeps_name=is_by_name)

    is_by_name = _BY_NAME.search(expression) is not None
    text = _SELECTOR.sub(replaced, expression)
    if naming.groups:
        text = _BY_JOB.sub(lambda found: f"{found[1]} ({', '.join(('job', *naming.groups))}", text)
    return Renamed(text, tuple(dict.fromkeys(missing)))


def with_matchers(expression: str, matchers: Iterable[Matcher], series: re.Pattern[str]) -> str:
    """Return an expression with further matchers in the selectors of all series that a pattern matches."""
    added = ",".join(map(str, matchers))

    def extended(found: re.Match[str]) -> str:
        inner = ",".join(part for part in (found[2] or "", added) if part)
        return f"{found[1]}{{{inner}}}"

    if not added:
        return expression
    pattern = re.compile(rf"(?<![\w:\"])({series.pattern})(?![\w:(]){_INNER}")
    return pattern.sub(extended, expression).replace("{__name__", f"{{{added},__name__")


def _matchers(text: str) -> list[Matcher]:
    return [Matcher(*found) for found in _MATCHER.findall(text)]


def _selector(series: str, matchers: list[Matcher], window: str, naming: Naming, *, keeps_name: bool) -> str:
    template = naming.series[series]
    name = next((one for one in matchers if one.label == "name"), None)
    others = [one for one in matchers if one.label != "name"]
    if series in naming.merged:
        others = _merged(naming.merged[series], name, others)
    others = [one._replace(label=naming.labels.get(one.label, one.label)) for one in others]
    if _NAME in template and (name is None or name.operator == "=~"):
        return _any_of(template, name, others)
    value = "" if name is None else _lower(name.value)
    filled = _filled(template.replace(_NAME, value), others, window)
    if keeps_name and name is not None and not window:
        return f'label_replace({filled}, "name", "{name.value}", "", "")'
    return filled


def _any_of(template: str, name: Matcher | None, others: list[Matcher]) -> str:
    """Return a selector of several series, whose varying part becomes the label `name`."""
    before, _, after = template.partition(_NAME)
    after = _SLOT.sub("", after)
    choice = "(.+)" if name is None else f"({_lower(name.value)})"
    pattern = f"{before}{choice}{after}"
    inner = ",".join(map(str, (Matcher("__name__", "=~", pattern), *others)))
    return f'label_replace({{{inner}}}, "name", "$1", "__name__", "{pattern}")'


def _filled(template: str, matchers: list[Matcher], window: str) -> str:
    def filled(slot: re.Match[str]) -> str:
        inner = ",".join(part for part in (slot[1], *map(str, matchers)) if part)
        return (f"{{{inner}}}" if inner else "") + window

    return _SLOT.sub(filled, template)


def _merged(label: str, name: Matcher | None, matchers: list[Matcher]) -> list[Matcher]:
    """Return the matchers on one label that holds the request and its error or version."""
    by_label = {one.label: one for one in matchers}
    request = by_label["request"].value if "request" in by_label else "[^,]+"
    error = by_label.get("error")
    key = "error" if name is not None and name.value == "ErrorsPerSec" else "version"
    value = error.value if error is not None and error.operator in ("=", "=~") else ".+"
    found = [Matcher(label, "=~", f"({request}), {key}=({value})")]
    if error is not None and error.operator == "!=":
        found.append(Matcher(label, "!~", f".+, error={error.value}"))
    return [*found, *(one for one in matchers if one.label not in ("request", "error"))]


def _lower(name: str) -> str:
    return name.lower().replace("-", "_")
