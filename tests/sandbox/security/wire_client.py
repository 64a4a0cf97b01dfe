"""A blocking client of single frames, for what no real client would send."""

from __future__ import annotations

import socket
import struct
from typing import Any, Self

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest

PATIENCE_S = 60


class WireClient:
    """A connection; `None` instead of a response means that the broker disconnected."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.split(",")[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def frame(self) -> bytes | None:
        try:
            size = self._file.read(4)
            return self._file.read(struct.unpack(">i", size)[0]) if len(size) == 4 else None
        except ConnectionError:
            return None

    def ask(self, api_key: int, version: int, message: Any) -> Any | None:
        self.send(encode_request(api_key, version, 7, "test", message))
        frame = self.frame()
        return None if frame is None else decode_response(api_key, version, frame)[1]

    def shake_hands(self, mechanism: str = "PLAIN", version: int = 1) -> Any | None:
        return self.ask(ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism))

    def authenticate(self, token: bytes, version: int = 2) -> Any | None:
        return self.ask(ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(token))

    def log_in(self, user: str, password: str) -> None:
        assert self.shake_hands() is not None
        answer = self.authenticate(f"\0{user}\0{password}".encode())
        assert answer is not None
        assert answer.error_code == 0, answer
