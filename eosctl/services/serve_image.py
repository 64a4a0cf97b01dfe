"""Serve one broker in this process, configured by the environment variables of the image `apache/kafka`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from eosctl.model.emulation import NEWEST
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.foreground import serve_in_foreground
from eosctl.sandbox.process.image_variables import plan_image
from eosctl.sandbox.process.listeners import plan_listeners
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandboxes import check_release


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


def serve_image(
    request: ImageRequest,
    environment: Mapping[str, str],
    write: Callable[[str], None],
    callbacks: Callbacks = SILENT,
) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code. Each variable without an effect is a remark.

    Raises:
        UsageError: A variable asks for something that one plaintext node cannot be.
    """
    check_release(request.emulate)
    data_dir = request.data_dir or paths.default_data_dir(request.name)
    base = SandboxSpec(name=request.name, data_dir=str(data_dir.absolute()), emulate=request.emulate)
    plan = plan_image(environment, base)
    plan_listeners(plan.spec.listen, plan.spec.advertise, plan.spec.security.protocol.name)
    for remark in plan.remarks:
        callbacks.remark(remark)
    return serve_in_foreground(plan.spec, write)
