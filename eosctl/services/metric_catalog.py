"""The metrics that matter for exactly-once: list them, and name the ones that do not exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.knowledge.metrics import load_metrics, load_missing, suggest_metrics
from eosctl.knowledge.reference.index import explained_elsewhere
from eosctl.model.known_bug import parse_version, version_text
from eosctl.model.metric import Metric, MissingMetric
from eosctl.monitoring.derived import DERIVED

COMPONENTS: Final = ("broker", "producer", "consumer", "streams")


class NamedMissing(NamedTuple):
    """A name that is often quoted but that no release has."""

    name: str
    missing: MissingMetric


def list_metrics(component: str | None = None, kafka: str | None = None) -> tuple[Metric, ...]:
    """Return the metrics of a component and a release; of all without.

    Raises:
        UsageError: The component or the version is unknown.
    """
    if component is not None and component not in COMPONENTS:
        raise UsageError(f"There is no component {component!r}.", "", f"Choose one of {', '.join(COMPONENTS)}.")
    try:
        version = None if kafka is None else parse_version(kafka)
    except ValueError as error:
        raise UsageError(f"{kafka!r} is not a version.", "", "Write it as 3.9.2.") from error
    return tuple(
        metric
        for metric in load_metrics()
        if component in (None, metric.component) and (version is None or metric.exists_in(version))
    )


def list_missing() -> tuple[NamedMissing, ...]:
    """Return the names that are often quoted but that no release has."""
    return tuple(NamedMissing(name, one) for one in load_missing() for name in one.names)


def known_name(name: str) -> str:
    """Return the name of a metric, or of a derived value, as in the catalog.

    Raises:
        UsageError: No metric has the name; the message names similar ones.
    """
    names = {name.lower(): name for name in (*(one.name for one in load_metrics()), *(one.name for one in DERIVED))}
    if name.lower() not in names:
        raise _unknown(name)
    return names[name.lower()]


def parse_limits(texts: Iterable[str]) -> dict[str, float]:
    """Return limits by the names of metrics, from ``NAME=NUMBER``.

    Raises:
        UsageError: A text is not of this form, or no metric has the name.
    """
    limits = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            limits[known_name(name)] = float(number)
        except ValueError:
            raise UsageError(
                f"--limit {text!r} is not NAME=NUMBER.", "", "Write e.g. LastStableOffsetLag=1000."
            ) from None
    return limits


def why_absent(name: str) -> str:
    """Return why programs may lack a metric."""
    metric = next((one for one in load_metrics() if one.name == name), None)
    if metric is None:
        return "It is derived: --over 10s takes the two readings that some values need."
    versions = [
        f"{word} {version_text(release)}"
        for word, release in (("since", metric.since), ("before", metric.until))
        if release is not None
    ]
    span = f" of releases {', '.join(versions)}" if versions else ""
    return f"A {metric.component}{span} has it, many beans only after the event that they count."


def _unknown(name: str) -> UsageError:
    similar = ", ".join(suggest_metrics(name))
    return UsageError(
        f"Unknown metric {name!r}.",
        f"Did you mean {similar}?" if similar else "",
        f"List all: eosctl metrics list{explained_elsewhere(name)}",
    )
