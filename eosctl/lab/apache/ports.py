"""Free loopback ports that other programs are unlikely to use before they are bound."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

from eosctl.lab.apache.properties import HOST
from eosctl.lab.engine import EngineError

# Linux uses 32768-60999 for outgoing connections, so lower ports stay free while a JVM starts.
CANDIDATES = range(20_000, 32_000)


def free_ports(count: int, rng: random.Random) -> tuple[int, ...]:
    """Return `count` different free loopback ports.

    Raises:
        EngineError: There are not enough free ports.
    """
    found: list[int] = []
    with ExitStack() as held:
        for port in rng.sample(CANDIDATES, len(CANDIDATES)):
            if len(found) == count:
                break
            probe = held.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            found.append(port)
    if len(found) < count:
        raise EngineError(
            f"There are no {count} free ports between {CANDIDATES.start} and {CANDIDATES.stop}.",
            f"Other programs listen there on {HOST}.",
            "Stop unused clusters: eosctl sandbox status, then eosctl sandbox down",
        )
    return tuple(found)


def required_ports(first: int, count: int) -> tuple[int, ...]:
    """Return `count` loopback ports, starting with the first one.

    Raises:
        EngineError: One of them is in use, which a JVM would report late and verbosely.
    """
    ports = tuple(range(first, first + count))
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                raise EngineError(
                    f"Port {port} cannot be used.", error.strerror or str(error), "Choose another --port-base."
                ) from error
    return ports
