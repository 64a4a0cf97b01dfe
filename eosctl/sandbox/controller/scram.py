"""AlterUserScramCredentials on the controller (`ScramControlManager`, KIP-554)."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.mechanisms import MAX_ITERATIONS, MIN_ITERATIONS, SCRAM_TYPES, of_salted_password
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from eosctl.wire.messages.internal.metadata.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from eosctl.wire.messages.internal.metadata.user_scram_credential_record import UserScramCredentialRecord


def alter_user_scram_credentials(
    controller: Controller, context: RequestContext, request: AlterUserScramCredentialsRequest
) -> None:
    """Set and remove credentials; a user may appear once in a request."""
    changes: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    if any(not upsertion.salted_password for upsertion in request.upsertions):  # Kafka fails the whole request.
        users = dict.fromkeys(change.name for change in changes)
        failed = [AlterUserScramCredentialsResult(user, ErrorCode.UNKNOWN_SERVER_ERROR, None) for user in users]
        context.reply(AlterUserScramCredentialsResponse(0, failed))
        return
    planned: dict[str, Any] = {}  # user -> record, or the reason for rejecting it
    for change in changes:
        user = change.name
        if isinstance(planned.get(user), Refused):
            continue
        try:
            if user in planned:
                raise Refused(
                    ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request"
                )
            planned[user] = _record(controller, change)
        except Refused as refused:
            planned[user] = refused
    results = [
        AlterUserScramCredentialsResult(user, plan.error, plan.message)
        if isinstance(plan, Refused)
        else AlterUserScramCredentialsResult(user, ErrorCode.NONE, None)
        for user, plan in planned.items()
    ]
    response = AlterUserScramCredentialsResponse(0, results)
    records = [plan for plan in planned.values() if not isinstance(plan, Refused)]
    controller.write(records, lambda: context.reply(response))


def _record(controller: Controller, change: ScramCredentialDeletion | ScramCredentialUpsertion) -> Any:
    if not change.name:
        raise Refused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    mechanism = SCRAM_TYPES.get(change.mechanism)
    if mechanism is None:
        raise Refused(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(change, ScramCredentialDeletion):
        if (change.name, mechanism) not in controller.image.scram:
            raise Refused(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
        return RemoveUserScramCredentialRecord(change.name, change.mechanism)
    if change.iterations < MIN_ITERATIONS:
        raise Refused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if change.iterations > MAX_ITERATIONS:
        raise Refused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    keys = of_salted_password(mechanism, change.salted_password, change.salt, change.iterations)
    return UserScramCredentialRecord(
        name=change.name,
        mechanism=change.mechanism,
        salt=keys.salt,
        stored_key=keys.stored_key,
        server_key=keys.server_key,
        iterations=keys.iterations,
    )
