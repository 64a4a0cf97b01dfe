"""Delegation tokens (KIP-48): their keys, who may use them, and the credential of a login with one."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.security.mechanisms import MIN_ITERATIONS, TokenCredential, scram_credential
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord

USER_TYPE: Final = "User"
_FIRST_KEY, _OLD_KEY = "delegation.token.secret.key", "delegation.token.master.key"
_PREFIX: Final = f"{USER_TYPE}:"


class Principal(NamedTuple):
    """A principal, printed as `User:alice`."""

    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Principal:
        """Return the principal of its text."""
        kind, _, name = text.partition(":")
        return cls(kind, name)

    def __str__(self) -> str:
        """Return its text."""
        return f"{self.kind}:{self.name}"


def secret_key(config: BrokerConfig, *, is_3_9: bool) -> bytes:
    """Return the key with which a cluster signs its tokens; empty if tokens are disabled."""
    key = config.get_str(_FIRST_KEY) or (config.get_str(_OLD_KEY) if is_3_9 else "")
    return key.encode()


def hmac_of(key: bytes, token_id: str) -> bytes:
    """Return the HMAC of a token, which is the password of a login."""
    return hmac.digest(key, token_id.encode(), "sha512")


def token_of(tokens: Mapping[str, DelegationTokenRecord], key: bytes, given: bytes) -> DelegationTokenRecord | None:
    """Return the token with an HMAC, or None."""
    for token in tokens.values():
        if hmac.compare_digest(hmac_of(key, token.token_id), given):
            return token
    return None


def may_renew(token: DelegationTokenRecord, principal: str) -> bool:
    """Return whether a principal may renew a token, or let it expire."""
    return principal == token.owner or principal in token.renewers


def is_concerned(token: DelegationTokenRecord, principal: str) -> bool:
    """Return whether a principal may renew a token, or has requested it for its owner."""
    return may_renew(token, principal) or principal == token.requester


def token_credential(token: DelegationTokenRecord, key: bytes, mechanism: str, salt: bytes) -> TokenCredential:
    """Return the credential of a login with a token: its HMAC in base64 is the password."""
    password = base64.b64encode(hmac_of(key, token.token_id))
    credential = scram_credential(mechanism, password, salt, MIN_ITERATIONS)
    return TokenCredential(credential, token.owner.removeprefix(_PREFIX), token.expiration_timestamp)
