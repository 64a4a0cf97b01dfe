"""The part of the Docker SDK with which aiokafka's tests start a broker: the container is a sandbox."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

NAME = "client-suites"
SANDBOX = (os.environ["EOSCTL_PYTHON"], "-m", "eosctl", "sandbox")


class Container:
    """A running sandbox."""

    def exec_run(self, *_: Any, **__: Any) -> tuple[int, bytes]:
        """Do nothing: these tests do not use the Kerberos and ACL set-up."""
        return 0, b""

    def stop(self) -> None:
        """Stop the sandbox."""
        subprocess.run([*SANDBOX, "down", "--name", NAME], check=True)


def _run(*, environment: Mapping[str, Any], **_: Any) -> Container:
    settings: Sequence[str] = ("--config", f"num.partitions={environment['NUM_PARTITIONS']}")
    port = str(environment["ADVERTISED_PORT"])
    command = ("up", "--name", NAME, "--brokers", "1", "--port-base", port, "--ephemeral", "--ttl", "30m", *settings)
    subprocess.run([*SANDBOX, *command], check=True)
    return Container()


def from_env() -> SimpleNamespace:
    """Return a client that can only run a broker."""
    return SimpleNamespace(
        containers=SimpleNamespace(run=_run), images=SimpleNamespace(pull=lambda _: None), close=lambda: None
    )


models = SimpleNamespace(containers=SimpleNamespace(Container=Container))
