"""Delegation tokens: requests of several users and logins, recorded from real brokers and played on the sandbox."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import create_delegation_token as creation
from eosctl.wire.messages import describe_delegation_token as description
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from eosctl.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from eosctl.wire.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.sandbox.security.wire_client import WireClient

USERS: Final = ("admin", "alice", "bob", "carol")
SETTINGS: Final = {"delegation.token.secret.key": "a-secret", "delegation.token.max.lifetime.ms": "500000"}
MAX_LIFETIME_MS: Final = 500_000
SHORT_MS: Final = 400
USER_RESOURCE, CREATE_TOKENS, DESCRIBE_TOKENS, ALLOW, LITERAL = 7, 13, 14, 3, 3
DIGESTS: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
OTHER_EXTENSION: Final = "other=1,tokenauth=true"
Step = dict[str, Any]


class Conversation:
    """The requests, one after the other, with their results; `plain` is a listener without a login, if there is one."""

    def __init__(self, bootstrap: str, passwords: Mapping[str, str], plain: str | None = None) -> None:
        self._bootstrap = bootstrap
        self._passwords = passwords
        self._plain = plain
        self._tokens: dict[str, tuple[str, bytes]] = {}
        self.steps: list[Step] = []

    def run(self) -> list[Step]:
        """Play everything."""
        self._grant("bob", "alice", CREATE_TOKENS)
        for version in (1, 2, 3):
            self._create("alice", f"version {version}", version=version)
        self._create("alice", "renewable", renewers=["bob"])
        self._create("alice", "short", lifetime_ms=SHORT_MS)
        self._create("alice", "zero", lifetime_ms=0)
        self._create("alice", "long", lifetime_ms=10 * MAX_LIFETIME_MS)
        self._create("alice", "refused", renewers=["bob"], renewer_type="Group")
        self._create("alice", "of bob", owner="bob")
        self._create("alice", "of carol", owner="carol")
        self._create("admin", "of carol", owner="carol")
        self._create("alice", "own", owner="alice")
        self._await(set(self._tokens))
        if self._plain is not None:
            self._refuse_without_login()
        self._describe_all()
        self._renew()
        self._expire()
        self._describe_all()
        self._log_in_with_tokens()
        return self.steps

    # --- requests -------------------------------------------------------------------------------------------------

    def _create(
        self,
        user: str,
        name: str,
        *,
        version: int = 3,
        owner: str | None = None,
        renewers: list[str] | None = None,
        renewer_type: str = "User",
        lifetime_ms: int = -1,
    ) -> None:
        kind = None if owner is None else "User"
        listed = [creation.CreatableRenewers(renewer_type, one) for one in renewers or ()]
        request = creation.CreateDelegationTokenRequest(kind, owner, listed, lifetime_ms)
        with self._client(user) as client:
            answer = client.ask(ApiKey.CREATE_DELEGATION_TOKEN, version, request)
        assert answer is not None
        if not answer.error_code:
            self._tokens[name] = answer.token_id, answer.hmac
        self._note("create", user, name, **_created(answer))

    def _refuse_without_login(self) -> None:
        with WireClient(self._plain or "") as client:
            answer = client.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, creation.CreateDelegationTokenRequest())
            assert answer is not None
            self._note("create", "nobody", "", **_created(answer))
            found = client.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, description.DescribeDelegationTokenRequest(None))
            assert found is not None
            self._note("describe", "nobody", "", error=int(found.error_code), tokens=[])

    def _describe_all(self) -> None:
        self._grant("carol", "bob", DESCRIBE_TOKENS)
        for user in USERS:
            self._describe(user, None)
        for owners in ([], ["alice"], ["bob", "nobody"]):
            self._describe("bob", owners)

    def _describe(self, user: str, owners: list[str] | None) -> None:
        listed = None if owners is None else [description.DescribeDelegationTokenOwner("User", one) for one in owners]
        with self._client(user) as client:
            request = description.DescribeDelegationTokenRequest(listed)
            answer = client.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, request)
        assert answer is not None
        names = {token_id: name for name, (token_id, _) in self._tokens.items()}
        tokens = [
            {
                "token": names[one.token_id],
                "owner": f"{one.principal_type}:{one.principal_name}",
                "requester": f"{one.token_requester_principal_type}:{one.token_requester_principal_name}",
                "renewers": [f"{who.principal_type}:{who.principal_name}" for who in one.renewers],
                "has_hmac": one.hmac == self._tokens[names[one.token_id]][1],
                "lifetime_ms": one.max_timestamp - one.issue_timestamp,
            }
            for one in answer.tokens
        ]
        tokens.sort(key=lambda token: str(token["token"]))
        self._note("describe", user, str(owners), error=int(answer.error_code), tokens=tokens)

    def _await(self, names: set[str]) -> None:
        """Wait until a broker knows these tokens alone: Kafka derives credentials of each first, which takes time."""
        while set(self._listed()) != names:
            time.sleep(0.05)

    def _listed(self) -> list[str]:
        with self._client("admin") as client:
            answer = client.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, description.DescribeDelegationTokenRequest(None))
        assert answer is not None
        names = {token_id: name for name, (token_id, _) in self._tokens.items()}
        return [names[one.token_id] for one in answer.tokens]

    def _renew(self) -> None:
        for user, name, period_ms in (
            ("bob", "renewable", 60_000),
            ("alice", "renewable", -1),
            ("alice", "renewable", 0),
            ("alice", "renewable", 10 * MAX_LIFETIME_MS),
            ("carol", "renewable", 60_000),
            ("admin", "renewable", 60_000),
            ("admin", "of carol", 60_000),
            ("carol", "of carol", 60_000),
            ("alice", "unknown", 60_000),
        ):
            self._renew_one(user, name, period_ms)
        time.sleep(SHORT_MS / 1000 + 0.1)
        self._renew_one("alice", "short", 60_000)

    def _renew_one(self, user: str, name: str, period_ms: int) -> None:
        with self._client(user) as client:
            now_ms = time.time() * 1000
            request = RenewDelegationTokenRequest(self._hmac(name), period_ms)
            answer = client.ask(ApiKey.RENEW_DELEGATION_TOKEN, 2, request)
        assert answer is not None
        left = _rounded(answer.expiry_timestamp_ms, now_ms)
        self._note("renew", user, f"{name} {period_ms}", error=int(answer.error_code), left=left)

    def _expire(self) -> None:
        for user, name, period_ms in (
            ("carol", "version 1", -1),
            ("alice", "unknown", -1),
            ("alice", "version 1", 60_000),
            ("alice", "version 1", 10 * MAX_LIFETIME_MS),
            ("alice", "version 1", 0),
            ("alice", "version 1", -1),
            ("alice", "version 1", -1),
            ("alice", "short", 1000),
            ("alice", "short", -1),
            ("bob", "renewable", -5),
        ):
            with self._client(user) as client:
                now_ms = time.time() * 1000
                request = ExpireDelegationTokenRequest(self._hmac(name), period_ms)
                answer = client.ask(ApiKey.EXPIRE_DELEGATION_TOKEN, 2, request)
            assert answer is not None
            if period_ms < 0 and not answer.error_code:
                self._await(set(self._listed()) - {name})
            left = _rounded(answer.expiry_timestamp_ms, now_ms)
            self._note("expire", user, f"{name} {period_ms}", error=int(answer.error_code), left=left)

    def _log_in_with_tokens(self) -> None:
        token_id, key = self._tokens["own"]
        password = base64.b64encode(key).decode()
        for mechanism in DIGESTS:
            for name, given in (
                (token_id, password),
                (token_id, "wrong"),
                ("unknown", password),
                (self._tokens["version 1"][0], password),
            ):
                self._log_in(mechanism, name, given, "tokenauth=true")
            self._log_in(mechanism, token_id, password, "tokenauth=false")
            self._log_in(mechanism, token_id, password, "")
            self._log_in(mechanism, token_id, password, OTHER_EXTENSION)

    def accepts(self, mechanism: str, extensions: str) -> bool:
        """Return whether a login with a token and these extensions succeeds."""
        token_id, key = self._tokens["own"]
        with WireClient(self._bootstrap) as client:
            client.shake_hands(mechanism)
            return log_in_by_scram(client, mechanism, token_id, base64.b64encode(key).decode(), extensions) is None

    def _log_in(self, mechanism: str, name: str, password: str, extension: str) -> None:
        with WireClient(self._bootstrap) as client:
            client.shake_hands(mechanism)
            problem = log_in_by_scram(client, mechanism, name, password, extension)
            self._note("log in", mechanism, extension, problem=(problem or "").replace(name, "TOKEN"))
            if problem is None:
                answer = client.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, creation.CreateDelegationTokenRequest())
                assert answer is not None
                self._note("create", "token", "", **_created(answer))

    # --- users ----------------------------------------------------------------------------------------------------

    def _grant(self, user: str, to: str, operation: int) -> None:
        """Let a user create or describe tokens of another one."""
        acl = AclCreation(USER_RESOURCE, f"User:{user}", LITERAL, f"User:{to}", "*", operation, ALLOW)
        with self._client("admin") as client:
            answer = client.ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([acl]))
        assert answer is not None
        assert answer.results[0].error_code == 0, answer
        time.sleep(0.3)

    @contextmanager
    def _client(self, user: str) -> Iterator[WireClient]:
        with WireClient(self._bootstrap) as client:
            client.log_in(user, self._passwords[user])
            yield client

    def _hmac(self, name: str) -> bytes:
        return self._tokens[name][1] if name in self._tokens else b"unknown"

    def _note(self, what: str, user: str, name: str, **facts: Any) -> None:
        self.steps.append({"do": what, "user": user, "name": name, **facts})


def log_in_by_scram(client: WireClient, mechanism: str, user: str, password: str, extension: str) -> str | None:
    """Log in with an extension of SCRAM; return the broker's reason for a failure."""
    digest = DIGESTS[mechanism]
    bare = f"n={user},r=nonce" + (f",{extension}" if extension else "")
    answer = client.authenticate(f"n,,{bare}".encode())
    if answer is None or answer.error_code:
        return "closed" if answer is None else str(answer.error_message)
    first = answer.auth_bytes.decode()
    parts = dict(part.split("=", 1) for part in first.split(","))
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
    client_key = hmac.digest(salted, b"Client Key", digest)
    final = f"c=biws,r={parts['r']}"
    signature = hmac.digest(hashlib.new(digest, client_key).digest(), f"{bare},{first},{final}".encode(), digest)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    answer = client.authenticate(f"{final},p={base64.b64encode(proof).decode()}".encode())
    if answer is None or answer.error_code:
        return "closed" if answer is None else str(answer.error_message)
    return None


def _created(answer: Any) -> dict[str, Any]:
    return {
        "error": int(answer.error_code),
        "owner": f"{answer.principal_type}:{answer.principal_name}",
        "requester": f"{answer.token_requester_principal_type}:{answer.token_requester_principal_name}",
        "expiry_ms": answer.expiry_timestamp_ms - answer.issue_timestamp_ms,
        "max_ms": answer.max_timestamp_ms - answer.issue_timestamp_ms,
        "issued": answer.issue_timestamp_ms if answer.issue_timestamp_ms < 1 else 1,
        "hmac_bytes": len(answer.hmac),
        "token_id_length": len(answer.token_id),
    }


def _rounded(time_ms: int, now_ms: float) -> float | int:
    """Return the minutes until a time; a time before 1971 as it is."""
    return time_ms if time_ms < 1_000_000_000 else round((time_ms - now_ms) / 60_000)
