"""The choice of a cluster."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

_VARIABLES: Final = ("EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG", "EOSCTL_PROFILE")


class Connection(msgspec.Struct, frozen=True):
    """Which cluster to reach, and how. What is not given is taken from the environment.

    Attributes:
        bootstrap: ``host:port``, or several with commas.
        command_config: A properties file with client settings.
        overrides: Single client settings, ``name=value``.
        profile: A profile of eosctl's own configuration file.
        timeout_ms: The maximum time for the whole command, in milliseconds; half of what is left of it for one request.
        requests_per_second: Maximum requests a second to each broker, without those that open a connection; None for
            no limit.
    """

    bootstrap: str | None = None
    command_config: Path | None = None
    overrides: tuple[str, ...] = ()
    profile: str | None = None
    timeout_ms: int | None = None
    requests_per_second: int | None = None

    @property
    def is_given(self) -> bool:
        """Whether any option names a cluster."""
        return any((self.bootstrap, self.command_config, self.overrides, self.profile))

    @property
    def option_text(self) -> str:
        """The options for a command that follows this one, quoted for the shell."""
        given = {"-b": self.bootstrap, "--command-config": self.command_config}
        words = (word for option, value in given.items() if value is not None for word in (option, str(value)))
        return shlex.join((*words, *self.own_options))

    @property
    def own_options(self) -> tuple[str, ...]:
        """The options that only eosctl's own commands understand; a secret in clear text is refused in each."""
        profile = () if self.profile is None else ("--profile", self.profile)
        return (*profile, *(word for one in self.overrides for word in ("-X", one)))


def names_a_cluster(connection: Connection, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a connection or the environment names a cluster."""
    return connection.is_given or any(environment.get(name) for name in _VARIABLES)
