"""Addresses of brokers."""

from __future__ import annotations

import re
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import Endpoint
from eosctl.model.redaction import redact_address, redact_text

# Kafka's own form (org.apache.kafka.common.utils.Utils): an optional protocol, a host or [IPv6], a port.
_ADDRESS: Final = re.compile(
    r"(?:\w+://)?(?:\[(?P<ipv6>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^:\s\[\]/]+))(?::(?P<port>\d{1,5}))?"
)
#: The port of an address without one on the command line.
DEFAULT_PORT: Final = 9092


def parse_endpoints(text: str, origin: str, default_port: int = 0) -> tuple[Endpoint, ...]:
    """Parse ``host:port[,host:port...]``; repeated addresses count once.

    Args:
        text: The addresses, separated by commas.
        origin: Where they were given, for errors.
        default_port: The port of an address without one; 0 requires a port, as Kafka's clients do.

    Raises:
        ConfigFileError: The list is empty, or an address has another form.
    """
    if "@" in text:
        raise ConfigFileError(
            f"{origin}: {redact_address(text)!r} is not an address.",
            "A user name or password cannot be part of the address of a broker.",
            "Write HOST:PORT, and give credentials with --command-config FILE or a profile.",
        )
    endpoints = [_parse_endpoint(part.strip(), origin, default_port) for part in text.split(",") if part.strip()]
    if not endpoints:
        raise ConfigFileError(f"{origin}: bootstrap.servers is empty.", "", "Give at least one HOST:PORT.")
    return tuple(dict.fromkeys(endpoints))


def _parse_endpoint(text: str, origin: str, default_port: int) -> Endpoint:
    match = _ADDRESS.fullmatch(text)
    port = int(match["port"] or default_port) if match is not None else 0
    if match is None or not 0 < port < 65_536:
        raise ConfigFileError(
            f"{origin}: {redact_text(text)!r} is not an address.",
            "An address is HOST:PORT with a port from 1 to 65535; an IPv6 host stands in brackets.",
            "Write for example broker-1.example.org:9092,[2001:db8::1]:9092.",
        )
    return Endpoint(match["ipv6"] or match["host"], port)
