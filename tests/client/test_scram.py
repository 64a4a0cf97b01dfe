"""The client's side of SCRAM against an independent server, a published exchange, and brokers that lie."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scramp import ScramMechanism

from eosctl.client.scram import ScramError, sasl_name, scram_exchange
from eosctl.sandbox.security.mechanisms import ScramCredential, ScramServer, scram_credential

MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
SALT = b"0123456789abcdef"
PASSWORDS = ["word", "pw\u00b2x", "\U0001f600pw", "\u20ac", "a,b=c", " ", "\u00ad", "\u2168", "e\u0301"]


def test_the_published_exchange_is_the_same() -> None:
    # RFC 7677, section 3.
    nonce, salt = "rOprNGfwEbeRWgbNEkqO", "W22ZaJ0SNY7soEsUEjb6gQ=="
    exchange = scram_exchange("SCRAM-SHA-256", "user", "pencil", nonce)
    assert next(exchange) == f"n,,n=user,r={nonce}".encode()
    whole = f"{nonce}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    final = exchange.send(f"r={whole},s={salt},i=4096".encode())
    assert final == f"c=biws,r={whole},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    with pytest.raises(StopIteration):
        exchange.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def log_in(mechanism: str, known: str, user: str, given_password: str) -> str | None:
    """Log in at the sandbox's server, which knows a password as Kafka stores it; return the user."""
    credential: ScramCredential = scram_credential(mechanism, known.encode(), SALT, 4096)
    find = {user: credential}
    server = ScramServer(mechanism, lambda _, name: find.get(name), lambda *_: None, "s" * 20, is_3_9=False)
    exchange = scram_exchange(mechanism, user, given_password)
    message = next(exchange)
    try:
        while True:
            message = exchange.send(server.step(message))
    except StopIteration:
        return server.user


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("password", PASSWORDS)
def test_any_password_is_what_kafka_stores(mechanism: str, password: str) -> None:
    assert log_in(mechanism, password, "alice", password) == "alice"


@settings(max_examples=20)
@given(st.text(st.characters(min_codepoint=1, max_codepoint=127), min_size=1, max_size=9))
def test_any_name_that_a_broker_takes_is_found(user: str) -> None:
    assert log_in("SCRAM-SHA-256", "word", user, "word") == user
    assert "," not in sasl_name(user)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_independent_server_agrees(mechanism: str) -> None:
    scram = ScramMechanism(mechanism)
    keys = scram.make_auth_info("word", iteration_count=4096)
    server = scram.make_server(lambda _: keys)
    exchange = scram_exchange(mechanism, "alice", "word")
    server.set_client_first(next(exchange).decode())
    server.set_client_final(exchange.send(server.get_server_first().encode()).decode())
    with pytest.raises(StopIteration):
        exchange.send(server.get_server_final().encode())


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (b"", "not that of SCRAM"),
        (b"\xff", "not text"),
        (b"e=unknown-user", "not that of SCRAM"),
        (b"r=other,s=AAAA,i=4096", "does not begin with that of this client"),
        (b"r=me,s=AAAA,i=4096", "does not begin with that of this client"),
        (b"r=meand,s=AAA,i=4096", "not valid base64"),
        (b"r=meand,s=AAAA,i=4095", "fewer than 4,096"),
        (b"r=meand,s=AAAA,i=" + b"9" * 5_000, "more than 1,000,000"),
    ],
)
def test_a_first_message_that_is_wrong_is_refused(message: bytes, words: str) -> None:
    exchange = scram_exchange("SCRAM-SHA-256", "alice", "word", "me")
    next(exchange)
    with pytest.raises(ScramError, match=words):
        exchange.send(message)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (b"", "not that of SCRAM"),
        (b"e=other-error", "it answered other-error"),
        (b"v=" + base64.b64encode(hashlib.sha256(b"").digest()), "signature is not that of the password"),
        (b"v=AAA", "not valid base64"),
    ],
)
def test_a_last_message_that_is_wrong_is_refused(message: bytes, words: str) -> None:
    exchange = scram_exchange("SCRAM-SHA-256", "alice", "word", "me")
    next(exchange)
    exchange.send(b"r=meand,s=AAAA,i=4096")
    with pytest.raises(ScramError, match=words):
        exchange.send(message)
