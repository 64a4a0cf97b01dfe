"""How programs reach a sandbox: its address, and what a secured listener asks for."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from eosctl.errors import UsageError
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.process.security_files import client_file, client_variables
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.sandbox.security.protocol import ListenerSecurity
from eosctl.settings.clusters.client_resolution import resolve_client


def client_file_of(spec: SandboxSpec) -> Path | None:
    """Return the client file of a secured sandbox, None for one that is open to all."""
    return None if spec.security == ListenerSecurity() else client_file(Path(spec.data_dir))


def client_config_of(sandbox: RunningSandbox, environment: Mapping[str, str] = os.environ) -> ClientConfig:
    """Return how this program itself reaches a sandbox; of the environment only the timeouts count."""
    timeouts = {name: value for name, value in environment.items() if re.fullmatch("EOSCTL_.*TIMEOUT_MS", name)}
    return resolve_client(timeouts, bootstrap=sandbox.bootstrap, command_config=client_file_of(sandbox.spec)).config


def environment_of(sandbox: RunningSandbox) -> dict[str, str]:
    """Return the variables that a client needs: the address, and what a secured listener asks for."""
    spec = sandbox.spec
    names = ("BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS", "EOSCTL_BOOTSTRAP_SERVERS")
    return dict.fromkeys(names, sandbox.bootstrap) | client_variables(Path(spec.data_dir), spec.security, spec.users)


def run_program(command: Sequence[str], sandbox: RunningSandbox) -> int:
    """Run a program with the address of a sandbox in its environment.

    Returns:
        Its exit code; 128 plus the number of the signal that ended it, as a shell reports it.

    Raises:
        UsageError: The program cannot be started.
    """
    try:
        done = subprocess.run(command, env=os.environ | environment_of(sandbox), check=False)
    except OSError as error:
        raise UsageError(f"Cannot run {command[0]}.", error.strerror or str(error), "Check the command.") from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode
