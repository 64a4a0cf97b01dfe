"""The options of ``eosctl sandbox up`` that secure its listener, and what its own commands need to get in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.errors import UsageError

if TYPE_CHECKING:
    from eosctl.model.client_config import ClientConfig
    from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec

SECURITY = "Security"
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Sasl = Annotated[
    list[str] | None,
    typer.Option(
        "--sasl",
        metavar="MECHANISM",
        help="Let clients log in: plain, scram-sha-256 or scram-sha-512; repeatable.",
        rich_help_panel=SECURITY,
    ),
]
Tls = Annotated[
    bool, typer.Option("--tls", help="Encrypt, with certificates made on first use.", rich_help_panel=SECURITY)
]
Users = Annotated[
    list[str] | None,
    typer.Option(
        "--user", metavar="NAME", help="A user besides admin, with a password of its own.", rich_help_panel=SECURITY
    ),
]
Authorize = Annotated[
    bool,
    typer.Option(
        "--authorizer",
        help="Decide by access control lists who may do what; admin may do everything.",
        rich_help_panel=SECURITY,
    ),
]


def mechanisms_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the SASL mechanisms under their real names.

    Raises:
        UsageError: One is not known.
    """
    from eosctl.sandbox.security.protocol import MECHANISMS

    chosen = tuple(dict.fromkeys(name.upper().replace("_", "-") for name in names))
    for name in chosen:
        if name not in MECHANISMS:
            raise UsageError(
                f"--sasl {name.lower()} is not known.",
                "The sandbox has " + ", ".join(mechanism.lower() for mechanism in MECHANISMS) + ".",
                "Choose one of them.",
            )
    return chosen


def users_of(names: Sequence[str], *, sasl: bool) -> tuple[str, ...]:
    """Return all users, admin first.

    Raises:
        UsageError: A name cannot be a user's, or nobody could log in.
    """
    from eosctl.sandbox.security.protocol import ADMIN_USER

    for name in names:
        if not _USER.fullmatch(name) or name == "client":
            raise UsageError(
                f"--user {name!r} cannot be a user of a sandbox.",
                "A name has up to 64 letters, digits, dots, dashes and underscores; client names the ready file.",
                "Choose another name.",
            )
    if names and not sasl:
        raise UsageError(
            "--user needs --sasl.", "Without SASL every client is User:ANONYMOUS.", "Add --sasl scram-sha-512."
        )
    return tuple(dict.fromkeys((ADMIN_USER, *names)))


def authorizer_settings(*, sasl: bool) -> tuple[tuple[str, str], ...]:
    """Return the broker settings of ``--authorizer``; without a login what no rule closes stays open."""
    from eosctl.sandbox.security.protocol import ADMIN_USER, STANDARD_AUTHORIZER

    settings = (("authorizer.class.name", STANDARD_AUTHORIZER), ("super.users", f"User:{ADMIN_USER}"))
    return settings if sasl else (*settings, ("allow.everyone.if.no.acl.found", "true"))


def client_file_of(spec: SandboxSpec) -> Path | None:
    """Return the client file of a secured sandbox, None for one that is open to all."""
    from eosctl.sandbox.process.security_files import client_file
    from eosctl.sandbox.security.protocol import ListenerSecurity

    return None if spec.security == ListenerSecurity() else client_file(Path(spec.data_dir))


def client_config_of(sandbox: RunningSandbox) -> ClientConfig:
    """Return how this program itself reaches a sandbox; of the environment only the timeouts count."""
    from eosctl.settings.client_resolution import resolve_client

    timeouts = {name: value for name, value in os.environ.items() if re.fullmatch("EOSCTL_.*TIMEOUT_MS", name)}
    return resolve_client(timeouts, bootstrap=sandbox.bootstrap, command_config=client_file_of(sandbox.spec)).config


def environment_of(sandbox: RunningSandbox) -> dict[str, str]:
    """Return the variables that a client needs: the address, and what a secured listener asks for."""
    from eosctl.sandbox.process.security_files import client_variables

    spec = sandbox.spec
    names = ("BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS", "EOSCTL_BOOTSTRAP_SERVERS")
    return dict.fromkeys(names, sandbox.bootstrap) | client_variables(Path(spec.data_dir), spec.security, spec.users)
