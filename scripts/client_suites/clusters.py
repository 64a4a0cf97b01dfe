"""Clusters for a suite: the sandbox, or real Kafka of the same release, at the addresses that the suite expects."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

SANDBOX: Final = ("--emulate", "4.3")
KAFKA: Final = ("--engine", "apache", "--kafka-version", "4.3.1")
ENGINES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"sandbox": SANDBOX, "kafka": KAFKA})
#: Longer than any suite; a cluster of an interrupted run ends on its own.
TTL: Final = "2h"
HOST: Final = "127.0.0.1"
#: The variable that names the client's properties in programs of `eosctl sandbox exec`.
CLIENT_FILE: Final = "KAFKA_CLIENT_CONFIG"


class ClusterPlan(NamedTuple):
    """What a suite expects of its cluster.

    Attributes:
        port: Port of the first broker; the others have the next ones.
        brokers: Number of brokers: 1 or 3.
        settings: Broker settings.
        real_settings: Settings of real brokers in addition, which have no login among themselves.
        racks: Racks of the brokers in turn.
        options: Further options of the command that starts it.
        user: User that logs in, if the options require a login.
    """

    port: int
    brokers: int = 1
    settings: Mapping[str, str] = MappingProxyType({})
    real_settings: Mapping[str, str] = MappingProxyType({})
    racks: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    user: str | None = None

    @property
    def bootstrap(self) -> str:
        """Return the addresses of all brokers."""
        return ",".join(f"{HOST}:{self.port + index}" for index in range(self.brokers))


def command_up(plan: ClusterPlan, engine: str) -> tuple[str, ...]:
    """Return the command that starts a cluster."""
    chosen = {**plan.settings, **(plan.real_settings if engine == "kafka" else {})}
    settings = [word for name, value in chosen.items() for word in ("--config", f"{name}={value}")]
    racks = [word for rack in plan.racks for word in ("--rack", rack)]
    user = () if plan.user is None else ("--user", plan.user)
    return (
        *(sys.executable, "-m", "eosctl", "sandbox", "up", "--name", name_of(plan), "--ephemeral", "--ttl", TTL),
        *("--brokers", str(plan.brokers), "--port-base", str(plan.port), *ENGINES[engine]),
        *(*settings, *racks, *plan.options, *user),
    )


def command_down(plan: ClusterPlan) -> tuple[str, ...]:
    """Return the command that stops it."""
    return (sys.executable, "-m", "eosctl", "sandbox", "down", "--name", name_of(plan))


def name_of(plan: ClusterPlan) -> str:
    """Return the name of the cluster."""
    return f"client-suites-{plan.port}"


@contextmanager
def running(plan: ClusterPlan, engine: str, state: Path) -> Iterator[ClusterPlan]:
    """Run a cluster for the duration of the block.

    Args:
        plan: The cluster.
        engine: A name of `ENGINES`.
        state: Directory for the cluster's files and process record.

    Raises:
        subprocess.CalledProcessError: It did not start: a port is in use, or Java or Maven is missing.
    """
    environment = cluster_environment(state)
    subprocess.run(command_up(plan, engine), env=environment, check=True, stdout=subprocess.DEVNULL)
    try:
        yield plan
    finally:
        subprocess.run(command_down(plan), env=environment, check=True, stdout=subprocess.DEVNULL)


class Login(NamedTuple):
    """What a client needs to log in to a running cluster.

    Attributes:
        authority: The PEM file with the authority of the brokers' certificates.
    """

    user: str
    password: str
    authority: Path


def login_of(plan: ClusterPlan, state: Path) -> Login:
    """Return the login of the plan's user.

    Raises:
        subprocess.CalledProcessError: The cluster does not run.
    """
    command = (
        sys.executable,
        "-m",
        "eosctl",
        "sandbox",
        "exec",
        "--name",
        name_of(plan),
        "--",
        "printenv",
        CLIENT_FILE,
    )
    shown = subprocess.run(command, env=cluster_environment(state), check=True, stdout=subprocess.PIPE, text=True)
    folder = Path(shown.stdout.strip()).parent
    words = re.findall(r'(\w+)="([^"]*)"', (folder / f"{plan.user}.properties").read_text("utf-8"))
    return Login(dict(words)["username"], dict(words)["password"], folder / "ca.pem")


def cluster_environment(state: Path) -> dict[str, str]:
    """Return the environment of a cluster's commands."""
    return os.environ | {"XDG_STATE_HOME": str(state)}


def run_limited(
    command: Sequence[str | Path], directory: Path, environment: Mapping[str, str], limit_s: float, log: Path
) -> str:
    """Run the program of a suite for a limited time, with its children; return its output, which `log` keeps.

    A program that exceeds the time is killed: its tests without a result have not run.
    """
    with (
        log.open("w+", encoding="utf-8", errors="replace") as output,
        subprocess.Popen(
            [str(word) for word in command],
            cwd=directory,
            env=os.environ | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            print(f"  {log.stem}: killed after {limit_s:.0f} s", flush=True)
        finally:
            _kill_group(process.pid)
    return log.read_text("utf-8", errors="replace")


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
