"""Serve one broker in this process, configured by the environment variables of the image `apache/kafka`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from eosctl.model.emulation import NEWEST
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.foreground import serve_in_foreground
from eosctl.sandbox.process.image_variables import SERVER_PROPERTIES, plan_image
from eosctl.sandbox.process.listeners import plan_listeners
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandboxes import check_release
from eosctl.settings.formats.properties_file import read_properties

#: Where users of the image apache/kafka mount configuration files.
MOUNTED_CONFIG = Path("/mnt/shared/config")


class ImageRequest(NamedTuple):
    """A broker that takes its settings from environment variables.

    Attributes:
        name: The name for other commands.
        emulate: The release to behave as.
        data_dir: The directory for the broker's files.
    """

    name: str = "kafka"
    emulate: str = NEWEST
    data_dir: Path | None = None


class MountedConfig(NamedTuple):
    """The settings of mounted files, and a line for each file without an effect."""

    properties: Mapping[str, str]
    remarks: tuple[str, ...]


def read_mounted(directory: Path) -> MountedConfig:
    """Read the files that the image apache/kafka takes from a mounted directory, which need not exist.

    Raises:
        ConfigFileError: A file cannot be read.
    """
    names = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    properties = read_properties(directory / SERVER_PROPERTIES) if SERVER_PROPERTIES in names else {}
    return MountedConfig(
        {name: given.text for name, given in properties.items()},
        tuple(
            f"{directory / name} has no effect: only {SERVER_PROPERTIES} is read."
            for name in names
            if name != SERVER_PROPERTIES
        ),
    )


def serve_image(
    request: ImageRequest,
    environment: Mapping[str, str],
    write: Callable[[str], None],
    callbacks: Callbacks = SILENT,
    config_dir: Path = MOUNTED_CONFIG,
) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code. Each variable without an effect is a remark.

    Args:
        request: Name, release, and directory.
        environment: All environment variables.
        write: Receives the lines of the server log.
        callbacks: Only remarks are made.
        config_dir: The directory of configuration files that users mount; its `server.properties` counts.

    Raises:
        UsageError: A variable asks for something that one plaintext node cannot be.
    """
    check_release(request.emulate)
    data_dir = request.data_dir or paths.default_data_dir(request.name)
    base = SandboxSpec(name=request.name, data_dir=str(data_dir.absolute()), emulate=request.emulate)
    mounted = read_mounted(config_dir)
    plan = plan_image(environment, base, mounted.properties)
    plan_listeners(plan.spec.listen, plan.spec.advertise, plan.spec.security.protocol.name)
    for remark in (*mounted.remarks, *plan.remarks):
        callbacks.remark(remark)
    return serve_in_foreground(plan.spec, write)
