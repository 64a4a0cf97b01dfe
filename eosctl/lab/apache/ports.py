"""Loopback ports that nobody else is likely to take between choosing and binding them."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

from eosctl.lab.apache.properties import HOST
from eosctl.lab.engine import EngineError

# Linux hands out 32768-60999 for outgoing connections; a port below cannot be lost to one of those while a JVM starts.
CANDIDATES = range(20_000, 32_000)


def free_ports(count: int, rng: random.Random) -> tuple[int, ...]:
    """Return `count` different loopback ports on which nothing listens.

    Raises:
        EngineError: There are not that many.
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
            "Stop clusters that nobody needs: eosctl sandbox status, then eosctl sandbox down",
        )
    return tuple(found)


def required_ports(first: int, count: int) -> tuple[int, ...]:
    """Return `count` loopback ports from the first one on.

    Raises:
        EngineError: Somebody listens on one of them; a JVM would find out late and say it at length.
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
