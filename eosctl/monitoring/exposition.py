"""Gauges in the formats of prometheus_client (extra `exporter`): text and OpenMetrics, compressed on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

from eosctl.model.metric_reading import Gauge
from eosctl.monitoring.endpoint import Fields, Page, Present

_REFUSED: Final = re.compile(r"q=0(\.0*)?")
_TOTAL: Final = "_total"


def can_negotiate() -> bool:
    """Return whether prometheus_client is installed."""
    return find_spec("prometheus_client") is not None


def negotiated_page(gauges: Callable[[], tuple[Gauge, ...]]) -> Present:
    """Return what presents gauges in the format that a client prefers.

    Args:
        gauges: Returns the present gauges.

    Raises:
        ImportError: prometheus_client is not installed.
    """
    from prometheus_client import CollectorRegistry, make_wsgi_app

    registry = CollectorRegistry()
    registry.register(_Collector(gauges))
    application = make_wsgi_app(registry)

    def render(accept: str, encoding: str) -> Page:
        given: list[tuple[str, str]] = []
        environment = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/metrics",
            "QUERY_STRING": "",
            "HTTP_ACCEPT": accept,
            "HTTP_ACCEPT_ENCODING": encoding,
        }
        body = b"".join(application(environment, lambda _status, headers: given.extend(headers)))
        return Page(body, (*given, ("Vary", "Accept, Accept-Encoding")))

    def present(fields: Fields) -> Page:
        encoding = "gzip" if accepts_gzip(fields.get("accept-encoding", "")) else ""
        try:
            return render(fields.get("accept", ""), encoding)
        except (TypeError, ValueError):
            return render("", encoding)  # prometheus_client fails on versions that are not numbers.

    return present


def accepts_gzip(encodings: str) -> bool:
    """Return whether Accept-Encoding has gzip; a quality of zero refuses it (RFC 9110)."""
    for coding in encodings.lower().split(","):
        word, *parameters = (part.replace(" ", "") for part in coding.split(";"))
        if word == "gzip" and not any(_REFUSED.fullmatch(one) for one in parameters):
            return True
    return False


class _Collector:
    """The gauges of the moment as families of prometheus_client."""

    def __init__(self, gauges: Callable[[], tuple[Gauge, ...]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for one in self._gauges():
            if not one.samples:
                continue
            labels = [name for name, _ in one.samples[0].labels]
            family = (
                CounterMetricFamily(one.name.removesuffix(_TOTAL), one.help, labels=labels)
                if one.is_counter
                else GaugeMetricFamily(one.name, one.help, labels=labels)
            )
            for sample in one.samples:
                family.add_metric([value for _, value in sample.labels], sample.value)
            yield family
