"""Delegation tokens on the controller (`DelegationTokenControlManager`, KIP-48)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec.structs import replace

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.delegation_tokens import (
    USER_TYPE,
    Principal,
    hmac_of,
    may_renew,
    secret_key,
    token_of,
)
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from eosctl.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord
from eosctl.wire.messages.internal.metadata.remove_delegation_token_record import RemoveDelegationTokenRecord
from eosctl.wire.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from eosctl.wire.uuid import render_uuid

DISABLED: Final = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
_MAX_TIME: Final = (1 << 63) - 1


def create_delegation_token(
    controller: Controller, context: RequestContext, request: CreateDelegationTokenRequest
) -> None:
    """Create a token for its owner, by default the principal that requests it."""
    requester = Principal.parse(context.principal)
    owner = requester
    if request.owner_principal_name:
        owner = Principal(request.owner_principal_type or USER_TYPE, request.owner_principal_name)
    refused = CreateDelegationTokenResponse(DISABLED, *owner, *requester)
    key = _key(controller)
    if not key:
        context.reply(refused)
        return
    if any(renewer.principal_type != USER_TYPE for renewer in request.renewers):
        never = {"issue_timestamp_ms": -1, "expiry_timestamp_ms": -1, "max_timestamp_ms": -1}
        context.reply(replace(refused, error_code=ErrorCode.INVALID_PRINCIPAL_TYPE, **never))
        return
    now_ms = controller.runtime.now_ms()
    lifetime_ms = controller.config.get_int("delegation.token.max.lifetime.ms")
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    latest_ms = _sum(now_ms, lifetime_ms)
    token = DelegationTokenRecord(
        owner=str(owner),
        requester=str(requester),
        renewers=[f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers],
        issue_timestamp=now_ms,
        max_timestamp=latest_ms,
        expiration_timestamp=min(latest_ms, _sum(now_ms, _renewal_ms(controller))),
        token_id=render_uuid(controller.runtime.random.randbytes(16)),
    )
    response = replace(
        refused,
        error_code=ErrorCode.NONE,
        issue_timestamp_ms=now_ms,
        expiry_timestamp_ms=token.expiration_timestamp,
        max_timestamp_ms=latest_ms,
        token_id=token.token_id,
        hmac=hmac_of(key, token.token_id),
    )
    controller.write([token], lambda: context.reply(response))


def renew_delegation_token(
    controller: Controller, context: RequestContext, request: RenewDelegationTokenRequest
) -> None:
    """Let a token expire later, at most at the end of its lifetime."""
    token, now_ms = _find(controller, request.hmac), controller.runtime.now_ms()
    error, until_ms = ErrorCode.NONE, 0
    if isinstance(token, ErrorCode):
        error = token
    elif _is_expired(token, now_ms):
        error = ErrorCode.DELEGATION_TOKEN_EXPIRED
    elif not may_renew(token, context.principal):
        error = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    else:
        period_ms = request.renew_period_ms if request.renew_period_ms > 0 else _renewal_ms(controller)
        until_ms = min(token.max_timestamp, _sum(now_ms, period_ms))
    response = RenewDelegationTokenResponse(error, until_ms)
    _write_expiration(controller, token, until_ms, partial(context.reply, response))


def expire_delegation_token(
    controller: Controller, context: RequestContext, request: ExpireDelegationTokenRequest
) -> None:
    """Let a token expire after a period; remove it if the period is negative."""
    token, now_ms = _find(controller, request.hmac), controller.runtime.now_ms()
    error, until_ms = ErrorCode.NONE, 0
    if isinstance(token, ErrorCode):
        error = token
    elif not may_renew(token, context.principal):
        error = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    elif request.expiry_time_period_ms < 0:
        done = partial(context.reply, ExpireDelegationTokenResponse(ErrorCode.NONE, now_ms))
        controller.write([RemoveDelegationTokenRecord(token.token_id)], done)
        return
    elif _is_expired(token, now_ms):
        error = ErrorCode.DELEGATION_TOKEN_EXPIRED
    else:
        until_ms = min(token.max_timestamp, _sum(now_ms, request.expiry_time_period_ms))
    response = ExpireDelegationTokenResponse(error, until_ms)
    _write_expiration(controller, token, until_ms, partial(context.reply, response))


def _write_expiration(
    controller: Controller, token: DelegationTokenRecord | ErrorCode, until_ms: int, done: Callable[[], None]
) -> None:
    """Change the time at which a token expires, unless that is 0."""
    if until_ms and isinstance(token, DelegationTokenRecord):
        controller.write([replace(token, expiration_timestamp=until_ms)], done)
    else:
        done()


def remove_expired_tokens(controller: Controller) -> None:
    """Remove the tokens that have expired."""
    now_ms = controller.runtime.now_ms()
    expired = [token for token in controller.image.delegation_tokens.values() if _is_expired(token, now_ms)]
    for token in expired:
        controller.events.expires_token(token.token_id, token.owner)
    if expired:
        controller.write([RemoveDelegationTokenRecord(token.token_id) for token in expired])


def _find(controller: Controller, given: bytes) -> DelegationTokenRecord | ErrorCode:
    key = _key(controller)
    if not key:
        return DISABLED
    return token_of(controller.image.delegation_tokens, key, given) or ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def _key(controller: Controller) -> bytes:
    return secret_key(controller.config, is_3_9=controller.emulation.is_3_9)


def _renewal_ms(controller: Controller) -> int:
    return controller.config.get_int("delegation.token.expiry.time.ms")


def _is_expired(token: DelegationTokenRecord, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def _sum(time_ms: int, period_ms: int) -> int:
    return min(_MAX_TIME, time_ms + period_ms)
