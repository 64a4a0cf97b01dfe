"""The options of the commands that submit a job to Spark."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from eosctl.services.spark_job import DeployMode

CLUSTER: Final = "Cluster"

_cluster_option = partial(typer.Option, rich_help_panel=CLUSTER)
Out = Annotated[str, typer.Option("--out", metavar="DIR", help="Directory of the result.")]
Master = Annotated[str, _cluster_option("--master", help="Spark's master, e.g. spark://host:7077 or yarn.")]
Deploy = Annotated[DeployMode, _cluster_option("--deploy-mode", "--deploy", help="Where the driver runs.")]
Settings = Annotated[
    list[str] | None,
    _cluster_option("--conf", metavar="NAME=VALUE", help="A Spark setting; repeatable."),
]
Connect = Annotated[
    str | None,
    _cluster_option(
        "--connect",
        metavar="URL",
        help="A Spark Connect server to run on instead of a master, e.g. sc://host:15002.",
    ),
]
Jars = Annotated[
    list[str] | None,
    _cluster_option("--jars", metavar="FILE", help="A jar that the job needs; repeatable."),
]
Packages = Annotated[
    list[str] | None,
    _cluster_option(
        "--packages",
        metavar="GROUP:ARTIFACT:VERSION",
        help="A package that Spark's own resolver fetches; repeatable.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the command and stop.")]
