"""Fetch a page of metrics in the text format of Prometheus."""

from __future__ import annotations

from eosctl.collect.metrics.endpoint_http import fetch
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.errors import EosctlError
from eosctl.model.metric_page import MetricSample
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials


def fetch_samples(
    url: str, timeout_ms: int, credentials: EndpointCredentials = NO_CREDENTIALS
) -> tuple[MetricSample, ...]:
    """Fetch a page and parse it.

    Raises:
        EosctlError: The endpoint does not respond, or not with metrics.
    """
    body = fetch(url, timeout_ms, credentials)
    try:
        return tuple(parse_samples(body.decode("utf-8", "replace")))
    except ValueError as error:
        raise EosctlError(
            f"{url} does not answer with metrics.", str(error), "Give the page that Prometheus scrapes."
        ) from error
