"""``eosctl demo``: the whole story on a cluster of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import Invocation
from eosctl.services.demonstrate import demonstrate


def demo(
    invocation: Invocation,
    folder: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where programs, logs and the report go; replaced each time.")
    ] = Path("demo-output"),
) -> None:
    """Tell the whole story: start a cluster, break it, diagnose it, mend it, read its logs.

    Every step is a command that you could type yourself, on a sandbox that is gone afterwards, also after Ctrl-C. It
    takes about a minute, needs neither Kafka nor Java, and touches nothing but its folder. Exit code: 1 when a step
    does not end as it should.
    """
    color = invocation.style().color

    def tell(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    demonstrate(folder, tell, lambda text: f"\033[1m{text}\033[0m" if color else f"== {text}")
