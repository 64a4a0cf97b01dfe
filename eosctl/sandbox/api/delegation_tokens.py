"""Delegation tokens (keys 38 to 41; KIP-48): requests of clients with a login of their own.

- Clients without a login, and those that logged in with a token, may not create or list tokens.
- A token of another owner needs CREATE_TOKENS on that user; listing tokens of others needs DESCRIBE on the token, or
  DESCRIBE_TOKENS on their owner.
- Tokens are created, renewed, and removed by the controller; without `delegation.token.secret.key` it refuses to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replies import IdentifiedReply
from eosctl.sandbox.security.access import Guard, may
from eosctl.sandbox.security.acls import ResourceType
from eosctl.sandbox.security.delegation_tokens import USER_TYPE, Principal, hmac_of, is_concerned, secret_key
from eosctl.sandbox.security.protocol import SecurityProtocol
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import create_delegation_token as creation
from eosctl.wire.messages import describe_delegation_token as description
from eosctl.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord
from eosctl.wire.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse

TIMEOUT_MS: Final = 30_000
NOT_ALLOWED: Final = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def _create(broker: BrokerServices, context: RequestContext, request: creation.CreateDelegationTokenRequest) -> None:
    requester = Principal.parse(context.principal)
    owner = requester
    if request.owner_principal_name:
        owner = Principal(request.owner_principal_type or USER_TYPE, request.owner_principal_name)
    if not _may_request(broker, context):
        error = NOT_ALLOWED
    elif owner != requester and not may(broker, context, AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner)):
        error = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    else:
        broker.forward(context, request, TIMEOUT_MS)
        return
    context.reply(
        creation.CreateDelegationTokenResponse(
            error_code=error,
            principal_type=owner.kind,
            principal_name=owner.name,
            token_requester_principal_type=requester.kind,
            token_requester_principal_name=requester.name,
            issue_timestamp_ms=-1,
            expiry_timestamp_ms=-1,
            max_timestamp_ms=-1,
        )
    )


def _renew(broker: BrokerServices, context: RequestContext, request: RenewDelegationTokenRequest) -> None:
    _forward(broker, context, request, RenewDelegationTokenResponse(NOT_ALLOWED, -1))


def _expire(broker: BrokerServices, context: RequestContext, request: ExpireDelegationTokenRequest) -> None:
    _forward(broker, context, request, ExpireDelegationTokenResponse(NOT_ALLOWED, -1))


def _forward(broker: BrokerServices, context: RequestContext, request: Struct, refusal: Struct) -> None:
    if _may_request(broker, context):
        broker.forward(context, request, TIMEOUT_MS)
    else:
        context.reply(refusal)


def _describe(
    broker: BrokerServices, context: RequestContext, request: description.DescribeDelegationTokenRequest
) -> None:
    key = secret_key(broker.config, is_3_9=broker.emulation.is_3_9)
    if not _may_request(broker, context):
        context.reply(description.DescribeDelegationTokenResponse(NOT_ALLOWED))
    elif not key:
        context.reply(description.DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED))
    else:
        owners = None
        if request.owners is not None:
            owners = [f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners]
        tokens = [
            _described(token, key)
            for token in broker.metadata.delegation_tokens.values()
            if (owners is None or any(is_concerned(token, owner) for owner in owners))
            and _may_describe(broker, context, token)
        ]
        context.reply(description.DescribeDelegationTokenResponse(ErrorCode.NONE, tokens))


def _may_describe(broker: BrokerServices, context: RequestContext, token: DelegationTokenRecord) -> bool:
    return (
        is_concerned(token, context.principal)
        or may(broker, context, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or may(broker, context, AclOperation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)
    )


def _described(token: DelegationTokenRecord, key: bytes) -> description.DescribedDelegationToken:
    owner, requester = Principal.parse(token.owner), Principal.parse(token.requester)
    return description.DescribedDelegationToken(
        principal_type=owner.kind,
        principal_name=owner.name,
        token_requester_principal_type=requester.kind,
        token_requester_principal_name=requester.name,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=hmac_of(key, token.token_id),
        renewers=[description.DescribedDelegationTokenRenewer(*Principal.parse(renewer)) for renewer in token.renewers],
    )


def _may_request(broker: BrokerServices, context: RequestContext) -> bool:
    endpoint = broker.listeners.get(context.listener)
    if endpoint is None or not SecurityProtocol(endpoint.security_protocol).uses_sasl:
        return False
    return not (isinstance(context.reply, IdentifiedReply) and context.reply.client().by_token)


HANDLERS: Final[Mapping[int, Handler]] = {
    ApiKey.CREATE_DELEGATION_TOKEN: _create,
    ApiKey.RENEW_DELEGATION_TOKEN: _renew,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _expire,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _describe,
}
GUARDS: Final[Mapping[int, Guard]] = {}
