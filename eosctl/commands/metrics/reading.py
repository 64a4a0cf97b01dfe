"""What ``metrics show`` and ``metrics watch`` share: addresses, credentials, limits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.options import parse_duration_ms
from eosctl.errors import EosctlError, UsageError

if TYPE_CHECKING:
    from eosctl.model.evidence import EvidenceGap

Urls = Annotated[
    list[str],
    typer.Argument(
        metavar="URL...",
        help="http://HOST:PORT/metrics (jmx_exporter, eosctl exporter), http://HOST:PORT/jolokia, http://HOST:PORT (a "
        "Prometheus server) or jmx://HOST:PORT.",
    ),
]
CredentialsFile = Annotated[
    Path | None,
    typer.Option(
        "--credentials",
        metavar="FILE",
        help="A properties file with username= and password=, or token=; never an argument, which everybody can read.",
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="NAME=NUMBER", help="Beyond this a metric is bad; repeatable."),
]
PageTimeout = Annotated[
    int, typer.Option("--timeout", metavar="DURATION", parser=parse_duration_ms, help="How long a program may take.")
]


def parse_limits(texts: Iterable[str]) -> dict[str, float]:
    """Parse ``NAME=NUMBER``.

    Raises:
        UsageError: It is none, or no metric has the name.
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


def known_name(name: str) -> str:
    """Return a metric's name as the catalogue spells it.

    Raises:
        UsageError: There is no such metric; the message names similar ones.
    """
    from eosctl.knowledge.metrics import load_metrics, suggest_metrics
    from eosctl.monitoring.derived import DERIVED

    names = {name.lower(): name for name in (*(one.name for one in load_metrics()), *(one.name for one in DERIVED))}
    if name.lower() not in names:
        similar = ", ".join(suggest_metrics(name))
        raise UsageError(
            f"{name!r} is no metric that eosctl knows.",
            f"Did you mean {similar}?" if similar else "",
            "List all: eosctl metrics list",
        )
    return names[name.lower()]


def error_of(gap: EvidenceGap) -> EosctlError:
    """Return the error of a program that could not be read, where it is the only one."""
    return EosctlError(gap.detail, "", gap.next_step)
