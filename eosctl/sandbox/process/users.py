"""Register the sandbox's users in its cluster, as SCRAM credentials in the metadata log."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eosctl.errors import EosctlError
from eosctl.model.secret import Secret
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.security.mechanisms import MIN_ITERATIONS, SCRAM_TYPES, ScramCredential, scram_credential
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)

Known = Mapping[tuple[str, str], ScramCredential]


async def register_users(core: ClusterCore, mechanisms: Sequence[str], passwords: Mapping[str, Secret]) -> None:
    """Add the missing credentials of the users; return when every broker has them.

    Raises:
        EosctlError: The controller rejected them.
    """
    lacking = list(_lacking(core.brokers()[0].metadata.scram, mechanisms, passwords))
    for kind in sorted({kind for _, kind, _ in lacking}):  # A user may appear once per request.
        await _upsert(core, [_upsertion(user, kind, word) for user, other, word in lacking if other == kind])
    while any(list(_lacking(broker.metadata.scram, mechanisms, passwords)) for broker in core.brokers()):
        await asyncio.sleep(0.005)  # Wait until the other brokers have replayed the metadata log.


async def _upsert(core: ClusterCore, upsertions: Sequence[ScramCredentialUpsertion]) -> None:
    request = AlterUserScramCredentialsRequest([], upsertions)
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    channel = core.brokers()[0].channel
    channel.send_to_controller(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request, answered.set_result)
    core.ticks.run()
    answer = await answered
    if answer is None or any(result.error_code for result in answer.results):
        raise EosctlError(
            "The users of the sandbox could not be registered.",
            f"The controller answered {answer}.",
            "See its log: eosctl sandbox logs --process.",
        )


def _lacking(
    known: Known, mechanisms: Sequence[str], passwords: Mapping[str, Secret]
) -> Iterator[tuple[str, int, Secret]]:
    for kind, mechanism in SCRAM_TYPES.items():
        for user, word in passwords.items() if mechanism in mechanisms else ():
            credential = known.get((user, mechanism))
            if credential is None or credential != scram_credential(
                mechanism, word.reveal().encode(), credential.salt, credential.iterations
            ):
                yield user, kind, word


def _upsertion(user: str, kind: int, word: Secret) -> ScramCredentialUpsertion:
    salt = secrets.token_bytes(24)
    name = "sha256" if kind == 1 else "sha512"
    salted = hashlib.pbkdf2_hmac(name, word.reveal().encode(), salt, MIN_ITERATIONS)
    return ScramCredentialUpsertion(user, kind, MIN_ITERATIONS, salt, salted)
