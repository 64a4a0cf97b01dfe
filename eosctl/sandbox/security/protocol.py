"""How the client listener of a sandbox is secured, under Kafka's names."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

PLAIN = "PLAIN"
SCRAM_SHA_256 = "SCRAM-SHA-256"
SCRAM_SHA_512 = "SCRAM-SHA-512"
MECHANISMS = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512)
ADMIN_USER = "admin"
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class SecurityProtocol(IntEnum):
    """A listener's protocol, as broker registrations number it (Kafka's class of this name)."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def uses_sasl(self) -> bool:
        """Return whether a client has to log in."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ListenerSecurity(NamedTuple):
    """What a client has to bring: TLS, a login by one of the SASL mechanisms, both, or nothing."""

    mechanisms: tuple[str, ...] = ()
    tls: bool = False

    @property
    def protocol(self) -> SecurityProtocol:
        """Return the listener's protocol, whose name is the listener's name too."""
        if self.mechanisms:
            return SecurityProtocol.SASL_SSL if self.tls else SecurityProtocol.SASL_PLAINTEXT
        return SecurityProtocol.SSL if self.tls else SecurityProtocol.PLAINTEXT

    def settings(self) -> Mapping[str, str]:
        """Return what DescribeConfigs shows of it; links between brokers stay inside the process."""
        if self == ListenerSecurity():
            return {}
        # As in Kafka a listener is named by its protocol unless a map says otherwise, so no map is needed.
        settings = {"security.inter.broker.protocol": self.protocol.name}
        if self.mechanisms:
            settings["sasl.enabled.mechanisms"] = ",".join(self.mechanisms)
            settings["sasl.mechanism.inter.broker.protocol"] = self.mechanisms[0]
        return settings
