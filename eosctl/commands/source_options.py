"""The options for evidence in addition to the cluster's own: metrics of programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

SOURCES: Final = "Further evidence"
source_option = partial(typer.Option, rich_help_panel=SOURCES)
MetricUrls = Annotated[
    tuple[str, ...],
    source_option(
        "--metrics",
        "--jmx",
        metavar="URL",
        help="Metrics endpoint: http://HOST:PORT/metrics, http://HOST:PORT/jolokia, a Prometheus server, or "
        "jmx://HOST:PORT; repeatable.",
    ),
]
MetricCredentials = Annotated[
    Path | None,
    source_option(
        "--credentials",
        metavar="FILE",
        help="Properties file with username= and password=, or token=, for --metrics.",
        exists=True,
    ),
]
