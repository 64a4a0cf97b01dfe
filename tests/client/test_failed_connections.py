"""The cause of a failed connection is the one that was found: certificates by real handshakes in memory."""

from __future__ import annotations

import datetime as dt
import socket
import ssl

import pytest
import trustme

from eosctl.client.diagnosis import explain_connect_error
from eosctl.model.client_config import Endpoint

LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def refused(server: ssl.SSLContext, client: ssl.SSLContext) -> OSError:
    """Shake hands in memory, and return the error of the client."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    there = server.wrap_bio(to_server, to_client, server_side=True)
    while True:
        for side in (here, there):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
            except OSError as error:
                if side is here:
                    return error
                raise


@pytest.mark.parametrize(
    ("name", "not_after", "is_known", "why"),
    [
        ("localhost", LONG_AGO, True, "Its validity has ended"),
        ("other.example", None, True, "It is made out to other names"),
        ("localhost", None, False, "signed by an authority that this client does not know"),
    ],
)
def test_each_cause_has_its_own_words(name: str, not_after: dt.datetime | None, is_known: bool, why: str) -> None:
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(name, not_after=not_after).configure_cert(server)
    if is_known:
        authority.configure_trust(client)
    error = explain_connect_error(Endpoint("localhost", 9093), refused(server, client))
    assert "The certificate of localhost:9093 is not to be trusted: " in error.what
    assert why in error.why
    assert ".." not in error.what


def test_plain_text_is_named() -> None:
    here = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    stream = here.wrap_bio(incoming, outgoing, server_hostname="localhost")
    incoming.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ssl.SSLError) as failed:
        stream.do_handshake()
    assert "does not answer in TLS" in explain_connect_error(Endpoint("localhost", 9093), failed.value).what


@pytest.mark.parametrize(
    ("error", "what", "why"),
    [
        (socket.gaierror(-2, "Name or service not known"), "unknown host", "does not resolve"),
        (ConnectionRefusedError(111, "Connect call failed"), "connection refused", "nothing listens on this port"),
        (TimeoutError(), "no answer within the connection timeout", "a firewall drops the packets"),
        (OSError(113, "No route to host"), "No route to host", "no route leads to it"),
    ],
)
def test_what_the_system_found_has_its_own_cause(error: OSError, what: str, why: str) -> None:
    explained = explain_connect_error(Endpoint("broker-1", 9092), error)
    assert explained.what == f"Cannot connect to broker-1:9092: {what}."
    assert why in explained.why
