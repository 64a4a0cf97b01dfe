"""Faults of a TCP proxy between a run's clients and any cluster, for all client libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.errors import UsageError
from eosctl.lab.faults import PROXY, word_of
from eosctl.lab.proxy.proxy import FaultProxy
from eosctl.lab.verify.nemesis import Control, Disturber
from eosctl.lab.verify.plan import FaultRange, PlannedFault
from eosctl.model.client_config import ClientConfig, SecurityProtocol
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.settings.clusters.endpoints import parse_endpoints

_CUT: Final = f"{PROXY}:{FaultKind.CUT}"
_DELAY: Final = f"{PROXY}:{FaultKind.DELAY}"
_DUPLICATE: Final = f"{PROXY}:{FaultKind.DUPLICATE}"
_DISCONNECT: Final = f"{PROXY}:{FaultKind.DISCONNECT}"
_LATE_END_TXN: Final = f"{PROXY}:{FaultKind.LATE_END_TXN}"


def proxy_ranges(broker_ids: Sequence[int]) -> tuple[FaultRange, ...]:
    """Return the possible faults of a proxy on the streams of each broker's clients."""
    brokers = tuple(broker_ids)
    return (
        FaultRange(_CUT, brokers),
        FaultRange(_DELAY, brokers, amount=(20, 1_000)),
        FaultRange(_DUPLICATE, brokers, amount=(1, 20)),
        FaultRange(_DISCONNECT, brokers, duration_ms=(0, 100)),
        # Late enough for the client to time out and retry.
        FaultRange(_LATE_END_TXN, (0,), duration_ms=(500, 1_500), amount=(3_500, 6_000)),
    )


def proxy_words(fault: PlannedFault) -> tuple[str, ...]:
    """Return a fault in the syntax of `eosctl sandbox proxy --fault`."""
    kind, node, amount = word_of(fault.kind), fault.target, fault.amount
    match kind:
        case FaultKind.CUT:
            return (f"drop from=clients to={node}", f"drop from={node} to=clients")
        case FaultKind.DELAY:
            return (f"{kind} from=clients to={node} ms={amount}",)
        case FaultKind.DUPLICATE:
            return (f"{kind} from=clients to={node} count={amount}",)
        case FaultKind.DISCONNECT:
            return (f"{kind} node={node}",)
        case _:
            return (f"{kind} ms={amount}",)


def proxy_for(config: ClientConfig, seed: int) -> FaultProxy:
    """Return a proxy in front of a cluster.

    Raises:
        UsageError: The cluster uses TLS or SASL.
    """
    if config.security_protocol is not SecurityProtocol.PLAINTEXT:
        raise UsageError(
            "--nemesis proxy is for clusters without TLS and SASL.",
            "The proxy must read who leads what, to lead clients back to itself.",
            "Use --nemesis links, which stands behind the encryption.",
        )
    return FaultProxy(config, seed=seed, anywhere=True)


def through(config: ClientConfig, proxy: FaultProxy) -> ClientConfig:
    """Return the configuration for connecting through a proxy."""
    return replace(config, bootstrap=parse_endpoints(proxy.bootstrap, "the proxy"))


def proxy_nemesis(proxy: FaultProxy) -> Disturber:
    """Return the nemesis of a proxy."""
    commands = fault_commands(proxy.faults)

    async def control(command: str, arguments: dict[str, Any]) -> Any:
        return await commands[command](arguments)

    asks: Control = control
    return Disturber(asks, proxy_words)
