"""Streams to brokers that are set up and logged in like those of the client, for a caller's own frames."""

from __future__ import annotations

import ssl

from eosctl.client.deadline import Deadline
from eosctl.client.ports import Connector, Receiver, Transport
from eosctl.client.session import Session
from eosctl.model.client_config import ClientConfig, Endpoint


class _Relay:
    """Passes a stream's bytes to its receiver of the moment."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self.receiver: Receiver | None = None
        self.transport: Transport | None = None

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream for a session; see `eosctl.client.ports.Connector`."""
        self.receiver = receiver
        self.transport = await self._connector.open(endpoint, self, tls)
        return self.transport

    def data_received(self, data: bytes) -> None:
        """Pass bytes on."""
        if self.receiver is not None:
            self.receiver.data_received(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Pass the end of the stream on."""
        if self.receiver is not None:
            self.receiver.connection_lost(error)


async def open_raw(
    endpoint: Endpoint, config: ClientConfig, connector: Connector, tls: ssl.SSLContext | None, receiver: Receiver
) -> Transport:
    """Connect and log in as a session does, and return the stream, whose bytes the receiver gets from then on.

    A broker closes the stream when the credentials expire (KIP-368).

    Args:
        endpoint: The broker.
        config: The credentials and timeouts.
        connector: Opens the stream.
        tls: The TLS context, None for plaintext.
        receiver: Gets the responses to what the caller writes.

    Raises:
        ClusterUnreachable: The connection failed, or the peer is not a Kafka broker.
        AuthenticationFailed: The certificate or credentials were rejected.
    """
    relay = _Relay(connector)
    await Session.open(endpoint, config, relay, tls, Deadline.after(config.connect_timeout_ms))
    assert relay.transport is not None
    relay.receiver = receiver
    return relay.transport
