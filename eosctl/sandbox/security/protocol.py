"""Security of the sandbox's client listener, by Kafka's names."""

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
    """A listener's security protocol, numbered as in broker registrations (Kafka's `SecurityProtocol`)."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def uses_sasl(self) -> bool:
        """Return whether clients must authenticate with SASL."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ListenerSecurity(NamedTuple):
    """The required client security: TLS, SASL mechanisms, both, or none."""

    mechanisms: tuple[str, ...] = ()
    tls: bool = False

    @property
    def protocol(self) -> SecurityProtocol:
        """Return the listener's protocol, which is also its name."""
        if self.mechanisms:
            return SecurityProtocol.SASL_SSL if self.tls else SecurityProtocol.SASL_PLAINTEXT
        return SecurityProtocol.SSL if self.tls else SecurityProtocol.PLAINTEXT

    def settings(self) -> Mapping[str, str]:
        """Return the settings for DescribeConfigs; inter-broker links stay inside the process."""
        if self == ListenerSecurity():
            return {}
        # As in Kafka, a listener is named after its protocol, so no map is needed.
        settings = {"security.inter.broker.protocol": self.protocol.name}
        if self.mechanisms:
            settings["sasl.enabled.mechanisms"] = ",".join(self.mechanisms)
            settings["sasl.mechanism.inter.broker.protocol"] = self.mechanisms[0]
        return settings
