"""The part of the Docker SDK with which aiokafka's tests start a broker: the container is a cluster of eosctl."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

_PORT = "--port-base"


class Container:
    """A running cluster."""

    def exec_run(self, *_: Any, **__: Any) -> tuple[int, bytes]:
        """Do nothing: the set-up of Kerberos and of access control lists is not available."""
        return 0, b""

    def stop(self) -> None:
        """Stop the cluster."""
        _run_eosctl(os.environ["EOSCTL_DOWN"].split("\n"))


def _run(*, environment: Mapping[str, Any] = {}, **_: Any) -> Container:
    if "ADVERTISED_PORT" in environment:  # Otherwise it would only create certificates.
        command = os.environ["EOSCTL_UP"].split("\n")
        command[command.index(_PORT) + 1] = str(environment["ADVERTISED_PORT"])
        _run_eosctl(command)
    return Container()


def _run_eosctl(command: list[str]) -> None:
    # The stand-ins must not be on the path of eosctl itself.
    project = os.environ["EOSCTL_PROJECT"]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": project}, cwd=project, check=True)


def from_env() -> SimpleNamespace:
    """Return a client that can only run a broker."""
    return SimpleNamespace(
        containers=SimpleNamespace(run=_run), images=SimpleNamespace(pull=lambda _: None), close=lambda: None
    )


models = SimpleNamespace(containers=SimpleNamespace(Container=Container))
