"""The options for evidence in addition to the cluster's own: logs, and metrics of programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

SOURCES: Final = "Evidence beside the cluster"
_source_option = partial(typer.Option, rich_help_panel=SOURCES)
LogPaths = Annotated[
    list[Path] | None,
    _source_option(
        "--logs", metavar="PATH", help="Logs of brokers and applications: files, archives, folders, or -; repeatable."
    ),
]
LogZone = Annotated[
    str | None,
    _source_option("--zone", metavar="ZONE", help="Zone of stamps in logs that have none, e.g. Europe/Berlin."),
]
MetricUrls = Annotated[
    list[str] | None,
    _source_option(
        "--metrics",
        "--jmx",
        metavar="URL",
        help="Metrics of a program: http://HOST:PORT/metrics, http://HOST:PORT/jolokia, a Prometheus server or "
        "jmx://HOST:PORT; repeatable.",
    ),
]
MetricCredentials = Annotated[
    Path | None,
    _source_option(
        "--credentials",
        metavar="FILE",
        help="A properties file with username= and password=, or token=, for --metrics.",
        exists=True,
    ),
]
