"""The messages on a link between two workers: MessagePack, each with its size in front."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from eosctl.sandbox.ports import Envelope

SIZE_BYTES: Final = 4


class Hello(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """The first message of each side: its attached nodes, each with the number of its run (see `Attached`)."""

    runs: dict[int, int]


class Attached(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A node of the sender is attached; `run` counts the attachments in the sender's process."""

    node_id: int
    run: int


class Detached(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A node of the sender has disconnected."""

    node_id: int


class Carried(msgspec.Struct, frozen=True, array_like=True, tag=3, gc=False):
    """A frame (see `network.Frame`) to a run of a node; the frame of a request names its client in `envelope`."""

    source: int
    destination: int
    run: int
    api_key: int
    is_request: bool
    data: bytes
    envelope: Envelope | None = None


LinkMessage = Hello | Attached | Detached | Carried

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(LinkMessage)


def encode_message(message: LinkMessage) -> bytes:
    """Return a message with its size."""
    data = _ENCODER.encode(message)
    return len(data).to_bytes(SIZE_BYTES, "big") + data


class MessageReader:
    """Reads messages from the bytes of a stream."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[LinkMessage]:
        """Yield the messages that are complete by now.

        Raises:
            msgspec.DecodeError: The bytes are not those of a link.
        """
        buffer, start = self._buffer, 0
        buffer += data
        while len(buffer) - start >= SIZE_BYTES:
            begin = start + SIZE_BYTES
            end = begin + int.from_bytes(buffer[start:begin], "big")
            if end > len(buffer):
                break
            with memoryview(buffer) as view, view[begin:end] as message:
                decoded = _DECODER.decode(message)
            start = end
            yield decoded
        del buffer[:start]
