"""The login of SASL GSSAPI: a keytab and a principal, or the tickets of the user's cache."""

from __future__ import annotations

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import KerberosLogin
from eosctl.settings.values.jaas import JaasEntry, parse_jaas
from eosctl.settings.values.lookup import Lookup

_MODULE = "Krb5LoginModule"


def parse_kerberos(lookup: Lookup) -> KerberosLogin:
    """Return the login from `sasl.jaas.config` (JDK's `Krb5LoginModule`), or from librdkafka's settings.

    Raises:
        ConfigFileError: The service is not named, which Kafka's clients refuse too, or another module is given.
    """
    entry = _entry(lookup)
    service = lookup.text("sasl.kerberos.service.name") or entry.options.get("serviceName")
    if not service:
        is_default = lookup.text("sasl.mechanism") is None
        raise ConfigFileError(
            f"{lookup.origin('sasl.mechanism')}: the service name of Kerberos (GSSAPI) is missing.",
            "GSSAPI is Kafka's default when sasl.mechanism is not set."
            if is_default
            else "Kafka's clients need it too.",
            "Set sasl.kerberos.service.name, e.g. kafka; or set sasl.mechanism to PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
            "or OAUTHBEARER.",
        )
    keytab = entry.options.get("keyTab") if entry.options.get("useKeyTab", "").lower() == "true" else None
    return KerberosLogin(
        service,
        entry.options.get("principal") or lookup.text("sasl.kerberos.principal") or "",
        keytab or lookup.text("sasl.kerberos.keytab"),
    )


def _entry(lookup: Lookup) -> JaasEntry:
    line = lookup.text("sasl.jaas.config")
    if line is None:
        return JaasEntry("", {})
    origin = lookup.origin("sasl.jaas.config")
    entry = parse_jaas(line, origin)
    if entry.module_name != _MODULE:
        raise ConfigFileError(
            f"{origin}: {entry.module_name} does not go with sasl.mechanism=GSSAPI.",
            f"Kerberos logs in through {_MODULE}; GSSAPI is Kafka's default when sasl.mechanism is not set.",
            "Change one of the two.",
        )
    return entry
