"""Sources of metrics, identified by their address.

- `http://HOST:PORT/metrics`: a page of jmx_exporter without rules, of `eosctl exporter`, or of the sandbox.
- `http://HOST:PORT/jolokia`: Jolokia.
- `http://HOST:PORT` (or `…/api/v1`): a Prometheus server that scrapes such pages.
- `jmx://HOST:PORT`: JMX of a JVM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from eosctl.collect.metrics.jmx import read_jmx
from eosctl.collect.metrics.jolokia import read_jolokia
from eosctl.collect.metrics.metric_page import fetch_samples
from eosctl.collect.metrics.prometheus_server import read_prometheus_server
from eosctl.errors import UsageError
from eosctl.model.metric import BeanQuery
from eosctl.model.metric_page import MetricPage
from eosctl.model.redaction import redact_text
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials


class SourceKind(Enum):
    """The type of a metric source."""

    PAGE = auto()
    JOLOKIA = auto()
    SERVER = auto()
    JMX = auto()


class MetricSource(NamedTuple):
    """An address and its type."""

    url: str
    kind: SourceKind

    @property
    def shown(self) -> str:
        """Return the address for outputs: a query may hold a token."""
        return redact_text(self.url)


class WantedMetrics(NamedTuple):
    """The metrics to read: beans for sources of beans, series names for others."""

    beans: Sequence[BeanQuery]
    series: Sequence[str]


def resolve_metric_source(url: str) -> MetricSource:
    """Determine the type of a source from its address.

    Raises:
        UsageError: The address has no known form, or contains a secret.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        known = parts.scheme in ("http", "https", "jmx") and bool(parts.hostname) and port != 0
        named = "@" in parts.netloc
    except ValueError:
        known, named, parts, port = False, "@" in url, SplitResult("", "", "", "", ""), None
    if named:
        raise UsageError(
            "The address of an endpoint has a user name or password in it.",
            "Other users of this machine can read the arguments of a program.",
            "Write username= and password= into a file and give it with --credentials.",
        )
    if not known or (parts.scheme == "jmx" and (port is None or parts.path not in ("", "/"))):
        raise UsageError(
            f"{url!r} is not an address of metrics.",
            "",
            "Write http://HOST:PORT/metrics (jmx_exporter), http://HOST:PORT/jolokia, http://HOST:PORT (a Prometheus "
            "server) or jmx://HOST:PORT.",
        )
    return MetricSource(url, _kind(parts))


def _kind(parts: SplitResult) -> SourceKind:
    path = parts.path.rstrip("/")
    if parts.scheme == "jmx":
        return SourceKind.JMX
    if path.endswith("/jolokia"):
        return SourceKind.JOLOKIA
    return SourceKind.SERVER if not path or path.endswith("/api/v1") else SourceKind.PAGE


def read_pages(
    source: MetricSource,
    wanted: WantedMetrics,
    now_ms: Callable[[], int],
    timeout_ms: int,
    credentials: EndpointCredentials = NO_CREDENTIALS,
) -> tuple[MetricPage, ...]:
    """Read a source: one page, or for a Prometheus server one page for each scraped program.

    Raises:
        EosctlError: It cannot be read; the message contains the reason and what to do.
    """
    url = source.url
    match source.kind:
        case SourceKind.SERVER:
            found = read_prometheus_server(url, wanted.series, timeout_ms, credentials)
            read_at_ms = now_ms()
            return tuple(MetricPage(instance, read_at_ms, samples) for instance, samples in found.items())
        case SourceKind.JMX:
            samples = read_jmx(url, wanted.beans, timeout_ms, credentials)
        case SourceKind.JOLOKIA:
            samples = read_jolokia(url, wanted.beans, timeout_ms, credentials)
        case SourceKind.PAGE:
            samples = fetch_samples(url, timeout_ms, credentials)
    return (MetricPage(source.shown, now_ms(), samples),)


def distinct(urls: Iterable[str]) -> list[MetricSource]:
    """Resolve addresses without duplicates."""
    return [resolve_metric_source(url) for url in dict.fromkeys(urls)]
