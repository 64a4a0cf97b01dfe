"""DescribeUserScramCredentials (key 50, version 0): users' mechanisms and iterations, never keys (KIP-554).

- Null or no names are all users; a user listed twice gets an error of its own.
"""

from __future__ import annotations

from collections import Counter

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.sandbox.security.mechanisms import SCRAM_TYPES
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(broker: BrokerServices, context: RequestContext, request: DescribeUserScramCredentialsRequest) -> None:
    """Describe the requested users."""
    known = broker.metadata.scram
    requested = Counter(user.name for user in request.users or ()) or Counter({user for user, _ in known})
    results = []
    for user, count in requested.items():
        infos = [
            CredentialInfo(kind, known[user, mechanism].iterations)
            for kind, mechanism in SCRAM_TYPES.items()
            if (user, mechanism) in known
        ]
        error, message = ErrorCode.NONE, ""
        if count > 1:
            error = ErrorCode.DUPLICATE_RESOURCE
            message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
            infos = []
        elif not infos:
            error = ErrorCode.RESOURCE_NOT_FOUND
            message = f"Attempt to describe a user credential that does not exist: {user}"
        results.append(DescribeUserScramCredentialsResult(user, error, message, infos))
    context.reply(DescribeUserScramCredentialsResponse(0, ErrorCode.NONE, "", results))


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _refuse(request: DescribeUserScramCredentialsRequest) -> DescribeUserScramCredentialsResponse:
    results = [DescribeUserScramCredentialsResult("", DENIED, kafka_text(DENIED)) for _ in request.users or ()]
    return DescribeUserScramCredentialsResponse(0, DENIED, kafka_text(DENIED), results)


guard = needs_cluster(AclOperation.DESCRIBE, _refuse)
