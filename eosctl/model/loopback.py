"""The names under which a program on this machine reaches a listener on loopback."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host is an address of the loopback interface, or `localhost`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def may_name_loopback(host_field: str) -> bool:
    """Return whether the Host field of a request can be that of a client of a loopback listener.

    The page of another site in a browser on this machine reaches loopback under a name of that site, which its name
    server resolves to 127.0.0.1 (DNS rebinding); its Host field is that name. Addresses cannot be resolved to others.

    >>> [may_name_loopback(host) for host in ("127.0.0.1:9308", "[::1]", "localhost:9308", "rebound.example:9308")]
    [True, True, True, False]
    """
    host = host_field.strip()
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        ip_address(name)
    except ValueError:
        plain = name.lower().removesuffix(".")
        return plain == "localhost" or plain.endswith(".localhost")
    return True
