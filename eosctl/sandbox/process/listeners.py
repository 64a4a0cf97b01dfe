"""The listeners of a sandbox's brokers, as `--listen` and `--advertise` name them.

A listener is `[NAME://]ADDRESS[:PORT]`, as in Kafka's `listeners`. Broker N adds N - 1 to each port.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Final, NamedTuple

from eosctl.errors import UsageError

LOOPBACK: Final = "127.0.0.1"
ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - refused as an address for clients
CONTROLLER: Final = "CONTROLLER"
_PLACE: Final = re.compile(r"(?:(?P<name>[A-Za-z0-9_.-]+)://)?(?P<host>[^:/]*)(?::(?P<port>\d{1,5}))?")
_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9-]{1,63})*")
_LARGEST_PORT: Final = 65_535


class PlannedListener(NamedTuple):
    """A listener of every broker; the ports are those of broker 1, and None for any free one, or the bound one."""

    name: str
    address: str
    port: int | None
    advertised_host: str
    advertised_port: int | None

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine reaches the listener."""
        return IPv4Address(self.address).is_loopback

    def port_of(self, broker_id: int) -> int:
        """Return the port that a broker binds; 0 for any free one."""
        return 0 if self.port is None else self.port + broker_id - 1

    def advertised_port_of(self, broker_id: int, bound: int) -> int:
        """Return the port that a broker gives to its clients."""
        return bound if self.advertised_port is None else self.advertised_port + broker_id - 1


class _Place(NamedTuple):
    name: str
    host: str
    port: int | None


def plan_listeners(
    listen: Sequence[str], advertise: Sequence[str], protocol: str, port_base: int | None = None
) -> tuple[PlannedListener, ...]:
    """Return the listeners in order; the first one is that of the bootstrap servers.

    Args:
        listen: The listeners to bind; loopback if empty. A listener that is alone needs no name; it then has
            that of its protocol.
        advertise: Their addresses for clients; without a name, that of the first listener.
        protocol: The name of the security protocol.
        port_base: The port of the first listener of broker 1 where none is given.

    Raises:
        UsageError: An address is malformed, names are missing or repeated, or clients cannot connect to an address.
    """
    listen = listen or (LOOPBACK,)
    places = [_parse("--listen", text) for text in listen]
    if len(places) > 1 and not all(place.name for place in places):
        raise UsageError(
            "Several listeners need names.",
            "Clients are given the addresses of the listener through which they connect.",
            "Example: --listen HOST://127.0.0.1 --listen DOCKER://0.0.0.0 --advertise DOCKER://kafka",
        )
    names = [place.name or protocol for place in places]
    for text, place in zip(listen, places, strict=True):
        _check_address(text, place.host)
    _check_names(names)
    given: dict[str, _Place] = {}
    for text in advertise:
        place = _parse("--advertise", text)
        if not _HOST.fullmatch(place.host):
            raise UsageError(
                f"--advertise {text!r} is not a host.",
                "Clients connect to a name or an IPv4 address; each broker adds its port.",
                "Example: --advertise kafka.test",
            )
        given[place.name or names[0]] = place
    unknown = [name for name in given if name not in names]
    if unknown:
        raise UsageError(
            f"--advertise names the listener {unknown[0]}, which is not bound.",
            f"The brokers bind {', '.join(names)}.",
            f"Add --listen {unknown[0]}://ADDRESS, or correct the name.",
        )
    planned: list[PlannedListener] = []
    for name, place in zip(names, places, strict=True):
        seen = given.get(name, place)
        if seen.host == ANY_ADDRESS:
            raise UsageError(
                "The brokers need an address for clients.",
                f"Clients cannot connect to {ANY_ADDRESS}.",
                "Add --advertise HOST with a name of this machine that the clients can resolve.",
            )
        port = port_base if place.port is None and not planned else place.port
        planned.append(PlannedListener(name, place.host, port, seen.host, seen.port if name in given else None))
    return tuple(planned)


def _parse(option: str, text: str) -> _Place:
    match = _PLACE.fullmatch(text)
    port = None if match is None or match["port"] is None else int(match["port"])
    if match is None or (port is not None and not 0 < port <= _LARGEST_PORT):
        noun = "an address" if option == "--listen" else "a host"
        raise UsageError(
            f"{option} {text!r} is not {noun}.",
            "A listener is [NAME://]ADDRESS[:PORT], as in Kafka's listeners.",
            "Example: --listen DOCKER://0.0.0.0:9092 --advertise DOCKER://kafka.test:9092",
        )
    return _Place(match["name"] or "", match["host"], port)


def _check_address(text: str, host: str) -> None:
    try:
        IPv4Address(host)
    except ValueError:
        raise UsageError(
            f"--listen {text!r} is not an address.",
            "Brokers bind an IPv4 address of this machine, or all of them with 0.0.0.0.",
            "Example: --listen 0.0.0.0 --advertise kafka.test",
        ) from None


def _check_names(names: Sequence[str]) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UsageError(f"The listener {repeated[0]} is named twice.", "Each listener has one address.", "Rename one.")
    if CONTROLLER in names:
        raise UsageError(
            f"{CONTROLLER} cannot be a listener for clients.", "Kafka's controllers have it.", "Choose another name."
        )
