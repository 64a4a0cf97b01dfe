"""From the settings of a Java client to eosctl's typed configuration.

The names are those of Kafka's ``CommonClientConfigs``, ``SaslConfigs`` and ``SslConfigs``; librdkafka's spelling of the
same things is understood where it differs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import ClientConfig, Endpoint, Given, SaslConfig, SaslMechanism, SecurityProtocol
from eosctl.model.secret import Secret
from eosctl.model.setting_names import is_setting_name, shown_key
from eosctl.settings.clusters.endpoints import DEFAULT_PORT, parse_endpoints
from eosctl.settings.clusters.kerberos import parse_kerberos
from eosctl.settings.clusters.key_material import parse_tls
from eosctl.settings.clusters.oauth import AWS_MECHANISM, parse_oauth
from eosctl.settings.values.jaas import parse_jaas
from eosctl.settings.values.lookup import Lookup
from eosctl.text import count_text

#: Addresses that a user types, where the port may be left out.
_TYPED: Final = frozenset({"--bootstrap-server", "EOSCTL_BOOTSTRAP_SERVERS"})
_DURATIONS: Final = {
    "socket.connection.setup.timeout.ms": "connect_timeout_ms",
    "request.timeout.ms": "request_timeout_ms",
    "default.api.timeout.ms": "timeout_ms",
    "retry.backoff.ms": "retry_backoff_ms",
}

ALIASES: Final = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.location": "ssl.keystore.location",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
}
"""librdkafka's name and Kafka's."""

KNOWN_NAMES: Final = frozenset(
    {
        "bootstrap.servers",
        "client.id",
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "sasl.oauthbearer.token",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.scope",
        "sasl.login.callback.handler.class",
        "sasl.kerberos.service.name",
        "sasl.kerberos.principal",
        "sasl.kerberos.keytab",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
        "ssl.truststore.certificates",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.key.password",
        "ssl.key.location",
        "ssl.endpoint.identification.algorithm",
        *_DURATIONS,
    }
)
"""Every setting that has a meaning for eosctl; others are reported and left alone."""

SECRET_NAMES: Final = frozenset(
    {
        "sasl.jaas.config",
        "sasl.password",
        "sasl.oauthbearer.token",
        "sasl.oauthbearer.client.credentials.client.secret",
        "ssl.truststore.password",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.key.password",
    }
)


def parse_client_config(given: Mapping[str, Given], environment: Mapping[str, str]) -> ClientConfig:
    """Build the typed configuration.

    Args:
        given: Settings by name, already merged by precedence.
        environment: What ``${NAME}`` in a value refers to.

    Raises:
        ConfigFileError: A value is missing, not allowed, or refers to something that is not there.
    """
    lookup = Lookup({ALIASES.get(name, name): value for name, value in given.items()}, environment)
    protocol = lookup.choice("security.protocol", SecurityProtocol, SecurityProtocol.PLAINTEXT)
    durations: dict[str, Any] = {}
    for name, attribute in _DURATIONS.items():
        # A pause of 0 is allowed in Kafka; here it is the shortest there is, as retries must let others run.
        duration_ms = 1 if name == "retry.backoff.ms" and lookup.text(name) == "0" else lookup.duration_ms(name)
        if duration_ms is not None:
            durations[attribute] = duration_ms
    bootstrap = _parse_bootstrap(lookup)
    return ClientConfig(
        bootstrap=bootstrap,
        security_protocol=protocol,
        tls=parse_tls(lookup),
        sasl=_parse_sasl(lookup, bootstrap[0]) if protocol.uses_sasl else None,
        client_id=lookup.text("client.id") or "eosctl",
        ignored_keys=tuple(sorted(name for name in given if ALIASES.get(name, name) not in KNOWN_NAMES)),
        **durations,
    )


def explain_ignored_keys(given: Mapping[str, Given], names: Iterable[str]) -> Iterator[str]:
    """Yield a line about each setting that has no effect here, and one about all lines that are not a setting.

    No value is part of it, nor what may be one: a PEM block without backslashes at the ends of its lines.
    """
    others = []
    for name in names:
        close = difflib.get_close_matches(name, KNOWN_NAMES | ALIASES.keys(), n=1, cutoff=0.85)
        if close:
            yield f"{given[name].origin}: {shown_key(name)} has no effect on eosctl; did you mean {close[0]}?"
        elif is_setting_name(name):
            yield f"{given[name].origin}: {name} has no effect on eosctl."
        else:
            others.append(given[name].origin)
    if others:
        more = f" and {count_text(len(others) - 1, 'other line')}" if len(others) > 1 else ""
        first = min(others, key=line_of_origin)
        yield (
            f"{first}{more}: not a setting, and not shown, because it may be a part of a value; a value of several "
            "lines needs a backslash at the end of each but the last."
        )


def line_of_origin(origin: str) -> tuple[str, int]:
    """Return file and line of a place, such as ``client.properties:12``; 0 for what is not a line."""
    file, _, line = origin.rpartition(":")
    return file, int(line) if line.isdecimal() else 0


def _parse_bootstrap(lookup: Lookup) -> tuple[Endpoint, ...]:
    text = lookup.text("bootstrap.servers")
    if not text:
        raise ConfigFileError(
            "No bootstrap address is given.",
            "eosctl never picks a cluster by itself.",
            "Give -b HOST:PORT, --command-config FILE, --profile NAME, or set EOSCTL_BOOTSTRAP_SERVERS; "
            "eosctl sandbox up starts a cluster to try it on.",
        )
    origin = lookup.origin("bootstrap.servers")
    return parse_endpoints(text, origin, DEFAULT_PORT if origin in _TYPED else 0)


def _parse_sasl(lookup: Lookup, bootstrap: Endpoint) -> SaslConfig:
    if (lookup.text("sasl.mechanism") or "").upper() == AWS_MECHANISM:
        return parse_oauth(lookup, bootstrap)
    chosen = lookup.choice("sasl.mechanism", SaslMechanism, SaslMechanism.GSSAPI)
    if chosen is SaslMechanism.GSSAPI:
        return SaslConfig(chosen, kerberos=parse_kerberos(lookup))
    if chosen is SaslMechanism.OAUTHBEARER:
        return parse_oauth(lookup, bootstrap)
    return _parse_password_login(lookup, chosen)


_LOGIN_MODULES: Final = {
    SaslMechanism.PLAIN: "PlainLoginModule",
    SaslMechanism.SCRAM_SHA_256: "ScramLoginModule",
    SaslMechanism.SCRAM_SHA_512: "ScramLoginModule",
}


def _parse_password_login(lookup: Lookup, mechanism: SaslMechanism) -> SaslConfig:
    line = lookup.text("sasl.jaas.config")
    if line is None:
        username, password = lookup.text("sasl.username"), lookup.secret("sasl.password")
    else:
        origin = lookup.origin("sasl.jaas.config")
        entry = parse_jaas(line, origin)
        if entry.module_name != _LOGIN_MODULES[mechanism]:
            raise ConfigFileError(
                f"{origin}: {entry.module_name} does not go with sasl.mechanism={mechanism.value}.",
                f"That mechanism logs in through {_LOGIN_MODULES[mechanism]}.",
                "Change one of the two.",
            )
        username = entry.options.get("username")
        password = Secret(entry.options["password"]) if "password" in entry.options else None
    if not username or password is None:
        raise ConfigFileError(
            f"User or password is missing for sasl.mechanism={mechanism.value}.",
            "Both are read from sasl.jaas.config (or sasl.username and sasl.password).",
            'Set sasl.jaas.config=...LoginModule required username="..." password="${PASSWORD}";',
        )
    return SaslConfig(mechanism, username, password)
