"""Read the newest samples of a Prometheus server with an instant query, grouped by scraped program."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

import msgspec

from eosctl.collect.metrics.endpoint_http import fetch, refuse_endless
from eosctl.errors import EosctlError
from eosctl.model.metric_page import MetricSample
from eosctl.settings.clusters.endpoint_credentials import EndpointCredentials


class _Series(msgspec.Struct, frozen=True):
    """The labels of a series with its name, and its newest sample: a time in seconds and a number as text."""

    metric: dict[str, str]
    value: tuple[float, str]


class _Data(msgspec.Struct, frozen=True):
    result: tuple[_Series, ...]


class _Answer(msgspec.Struct, frozen=True):
    """The answer to an instant query: https://prometheus.io/docs/prometheus/latest/querying/api/."""

    data: _Data


def read_prometheus_server(
    url: str, series: Iterable[str], timeout_ms: int, credentials: EndpointCredentials
) -> dict[str, tuple[MetricSample, ...]]:
    """Query series by name.

    Args:
        url: `http://HOST:PORT`, with the server's path prefix if it has one.
        series: The names.
        timeout_ms: Maximum time of the request.
        credentials: Credentials for the server.

    Returns:
        The samples of each `instance`, with all of their labels.

    Raises:
        EosctlError: The server does not respond, or is not a Prometheus server.
    """
    base = url.rstrip("/").removesuffix("/api/v1")
    query = f'{{__name__=~"{"|".join(sorted(set(series)))}"}}'
    form = urlencode({"query": query, "timeout": f"{timeout_ms}ms"}).encode()
    body = fetch(f"{base}/api/v1/query", timeout_ms, credentials, form, "application/x-www-form-urlencoded")
    found: dict[str, list[MetricSample]] = {}
    try:
        refuse_endless(body)
        for one in msgspec.json.decode(body, type=_Answer).data.result:
            labels = one.metric
            sample = MetricSample(labels.pop("__name__"), labels, float(one.value[1]))
            found.setdefault(labels.get("instance", "-"), []).append(sample)
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as error:
        raise EosctlError(
            f"{url} does not answer as a Prometheus server does.",
            "It is another program, e.g. an exporter.",
            "Write http://HOST:PORT of the server, or http://HOST:PORT/metrics of an exporter.",
        ) from error
    return {instance: tuple(samples) for instance, samples in sorted(found.items())}
