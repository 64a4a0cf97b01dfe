"""SASL GSSAPI (Kerberos 5, RFC 4752) through the extra `kerberos`, the bindings of MIT Kerberos."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from eosctl.errors import AuthenticationFailed, UsageError
from eosctl.model.client_config import KerberosLogin

if TYPE_CHECKING:
    from types import ModuleType

_NO_SECURITY_LAYER: Final = 1
_SERVICE_UNKNOWN: Final = "not found in Kerberos database"


def kerberos_exchange(login: KerberosLogin, host: str) -> Generator[bytes, bytes, None]:
    """Return the exchange with a broker: tokens to send, and the broker's tokens to receive.

    Each step may ask the KDC, and blocks meanwhile.

    Args:
        login: Who logs in, and the service that brokers run as.
        host: The broker's name; its principal is `service/host@REALM`.

    Raises:
        UsageError: The extra is not installed.
        AuthenticationFailed: There is no valid ticket, or the KDC or the broker refuses it.
    """
    gssapi = _load()
    try:
        yield from _exchange(gssapi, login, host)
    except gssapi.exceptions.GSSError as error:
        raise _failed(login, host, str(error)) from error


def _exchange(gssapi: ModuleType, login: KerberosLogin, host: str) -> Generator[bytes, bytes, None]:
    service = gssapi.Name(f"{login.service}@{host}", gssapi.NameType.hostbased_service)
    context: Any = gssapi.SecurityContext(
        name=service, creds=_credentials(gssapi, login), mech=gssapi.MechType.kerberos, usage="initiate"
    )
    token = context.step()
    while not context.complete:
        token = context.step((yield token or b""))
    offer = context.unwrap((yield token or b"")).message
    if len(offer) != 4 or not offer[0] & _NO_SECURITY_LAYER:
        raise AuthenticationFailed(
            f"{host} demands a security layer of GSSAPI.", "Kafka's protocol does not have one.", "Check the address."
        )
    # No layer, no buffer, and the principal itself as the authorization id.
    yield context.wrap(bytes((_NO_SECURITY_LAYER, 0, 0, 0)), encrypt=False).message


def _credentials(gssapi: ModuleType, login: KerberosLogin) -> Any:
    """Return the credentials of a keytab, or None for the tickets that `kinit` got."""
    name = gssapi.Name(login.principal, gssapi.NameType.kerberos_principal) if login.principal else None
    if login.keytab is None:
        return None if name is None else gssapi.Credentials(name=name, usage="initiate")
    # Tickets of a keytab are kept in memory: the user's own are not replaced.
    store = {"client_keytab": f"FILE:{login.keytab}", "ccache": f"MEMORY:eosctl-{id(login):x}"}
    return gssapi.Credentials(name=name, usage="initiate", store=store)


def _load() -> ModuleType:
    try:
        return importlib.import_module("gssapi")
    except ImportError as error:
        raise UsageError(
            "Kerberos needs the extra kerberos.",
            f"sasl.mechanism is GSSAPI, Kafka's default, and the package gssapi cannot be loaded: {error}.",
            "Install it: pip install 'eosctl[kerberos]' (needs MIT Kerberos; Debian: libkrb5-dev, gcc, python3-dev). "
            "Or set sasl.mechanism to PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or OAUTHBEARER.",
        ) from error


def _failed(login: KerberosLogin, host: str, reason: str) -> AuthenticationFailed:
    who = login.principal or "the default principal"
    if _SERVICE_UNKNOWN in reason:
        check = f"Check sasl.kerberos.service.name ({login.service})"
        next_step = f"{check}, and that brokers advertise the host of their principal."
    elif login.keytab is not None:
        next_step = f"Check the keytab and its principal: klist -kt {login.keytab}"
    else:
        next_step = "Get a ticket: kinit PRINCIPAL; or name a keytab in sasl.jaas.config."
    return AuthenticationFailed(f"Kerberos failed for {who} at {login.service}/{host}.", reason, next_step)
