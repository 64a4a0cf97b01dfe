"""What ``metrics show`` and ``metrics watch`` share: addresses, credentials, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eosctl.commands.options import duration_option
from eosctl.services.read_metrics import MetricsRequest

Urls = Annotated[
    list[str],
    typer.Argument(
        metavar="URL...",
        help="Metrics endpoints: http://HOST:PORT/metrics (jmx_exporter, eosctl exporter), http://HOST:PORT/jolokia, "
        "http://HOST:PORT (a Prometheus server), or jmx://HOST:PORT.",
    ),
]
CredentialsFile = Annotated[
    Path | None,
    typer.Option("--credentials", metavar="FILE", help="Properties file with username= and password=, or token=."),
]
Limits = Annotated[
    list[str] | None, typer.Option("--limit", metavar="NAME=NUMBER", help="Limit of a metric; repeatable.")
]
PageTimeout = Annotated[int, duration_option("--timeout", help="Maximum time for one endpoint.")]


class ReadingOptions(NamedTuple):
    """The options for reading programs."""

    limit: Limits = None
    credentials: CredentialsFile = None
    timeout: PageTimeout = 10_000

    def request(self, urls: list[str]) -> MetricsRequest:
        """Return the request for these programs."""
        return MetricsRequest(tuple(urls), tuple(self.limit or ()), self.credentials, self.timeout)
