"""Explain why a cluster, or one of its brokers, did not start."""

from __future__ import annotations

from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.settings import InvalidSetting
from eosctl.storage.errors import DamagedFile


def explain_start(error: BaseException, spec: SandboxSpec, timeout_s: float) -> BaseException:
    """Return the error to raise instead of a low-level error at the start of a cluster."""
    if isinstance(error, TimeoutError):
        return EosctlError(
            f"The brokers did not get ready within {timeout_s:.0f} s.",
            "The machine is busy, or they wait for each other.",
            "Try again; see: eosctl sandbox logs --process.",
        )
    if isinstance(error, InvalidSetting):
        return EosctlError("A broker setting is not allowed.", str(error), "Correct the --config option.")
    if isinstance(error, DamagedFile):
        return UsageError(f"The data in {spec.data_dir} cannot be used.", str(error), "Choose another --data-dir.")
    if isinstance(error, OSError):
        return EosctlError(
            f"The data directory {spec.data_dir} cannot be used.",
            error.strerror or str(error),
            "Make it writable or choose another --data-dir.",
        )
    return error


def not_ready(broker_id: int, timeout_s: float) -> EosctlError:
    """Return the error for a broker that started and does not serve in time."""
    return EosctlError(
        f"Broker {broker_id} does not serve yet, {timeout_s:g} seconds after its start.",
        "The machine is busy, or the broker recovers its logs.",
        "It serves as soon as it is ready: eosctl sandbox status --name NAME.",
    )


def not_startable(broker_id: int) -> EosctlError:
    """Return the error for a broker that runs already, or that the sandbox does not have."""
    return EosctlError(
        f"Broker {broker_id} cannot be started.",
        "It is running, or the sandbox has no broker with this number.",
        "List the brokers: eosctl sandbox status --name NAME.",
    )
