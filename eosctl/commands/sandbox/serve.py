"""``eosctl sandbox serve``: one broker in the foreground, as the image apache/kafka runs it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.sandbox.options import Emulate
from eosctl.commands.session import callbacks
from eosctl.services.serve_image import ImageRequest, serve_image

ImageOptions = Annotated[
    ImageRequest,
    options(
        name=typer.Option("--name", help="Name of the sandbox for other commands."),
        emulate=Emulate,
        data_dir=typer.Option("--data-dir", help="Directory for the broker's files."),
    ),
]


def serve(invocation: Invocation, request: ImageOptions) -> None:
    """Run a broker as the image apache/kafka does.

    Takes the environment variables of that image: KAFKA_LISTENERS, KAFKA_ADVERTISED_LISTENERS, CLUSTER_ID, and every
    broker setting as KAFKA_NAME. Variables without an effect are named. Prints the server log, and runs until SIGTERM
    or Ctrl-C.

    Examples:
        eosctl sandbox serve
        eosctl sandbox serve --emulate 4.3 --data-dir /tmp/kafka
    """
    with callbacks(invocation.now_ms) as shown:
        code = serve_image(request, os.environ, write_result, shown)
    if code:
        raise typer.Exit(code)
