"""The links of a worker: the nodes of other workers as its network reaches them.

The messages of a link keep their order, so that a node sees the end of another after its last frame, as with TCP. A
frame names the run of its destination, so that a node that was started again receives nothing of an earlier
connection. Frames leave at the end of a turn, after the flushes of the logs that they report on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import cast

import msgspec

from eosctl.sandbox.network import Frame, Network, Passed
from eosctl.sandbox.ticks import Ticks
from eosctl.sandbox.workers.link_messages import (
    Attached,
    Carried,
    Detached,
    Hello,
    LinkMessage,
    MessageReader,
    encode_message,
)
from eosctl.wire.frames import encode_request, encode_response


class _Link(asyncio.Protocol):
    """The connection to another worker."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._reader = MessageReader()
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self.settled = asyncio.Event()  # The other worker has introduced itself, or has ended.
        self.runs: dict[int, int] = {}

    @property
    def is_open(self) -> bool:
        """Return whether the other worker is connected."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Introduce this worker."""
        self._transport = cast("asyncio.Transport", transport)
        self.send(self._links.opened(self))

    def data_received(self, data: bytes) -> None:
        """Pass on the messages of the other worker."""
        try:
            for message in self._reader.feed(data):
                self._links.take(self, message)
        except msgspec.DecodeError:  # Not a worker.
            if self._transport is not None:
                self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Disconnect the nodes of a worker that has ended."""
        self._transport = None
        self.settled.set()
        self._links.lost(self)

    def send(self, message: LinkMessage) -> None:
        """Send a message at the end of this turn."""
        if not self._unsent:
            self._links.ticks.at_write(self._flush)
        self._unsent.append(encode_message(message))

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None:
            self._transport.write(b"".join(unsent))

    def close(self) -> None:
        """Send what is left, and close the connection."""
        if self._transport is not None:
            self._flush()
            self._transport.close()


class Links:
    """The nodes of other workers (`network.RemoteNodes`), and the connections over which they are reached."""

    def __init__(self, network: Network, ticks: Ticks) -> None:
        self.ticks = ticks
        self._network = network
        self._run_count = 0
        self._runs: dict[int, int] = {}  # Of the attached nodes of this worker.
        self._links: set[_Link] = set()
        self._by_node: dict[int, _Link] = {}
        self._server: asyncio.Server | None = None
        network.remote = self

    async def listen(self, path: Path) -> None:
        """Accept the links of other workers on a socket that only this user can open; a stale one is replaced."""
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.get_running_loop().create_unix_server(partial(_Link, self), path)
        finally:
            os.umask(before)

    async def connect(self, paths: Iterable[Path]) -> None:
        """Connect to other workers, and wait until they are known.

        Raises:
            OSError: A worker does not listen.
        """
        for path in paths:
            _, link = await asyncio.get_running_loop().create_unix_connection(partial(_Link, self), str(path))
            await link.settled.wait()
            if not link.is_open:
                raise ConnectionResetError(f"the worker at {path} has ended")

    def close(self) -> None:
        """Close every link."""
        if self._server is not None:
            self._server.close()
        for link in tuple(self._links):
            link.close()

    # --- RemoteNodes --------------------------------------------------------------------------------------------

    def has(self, node_id: int) -> bool:
        """Return whether a node of another worker is attached."""
        return node_id in self._by_node

    def carry(self, frame: Frame | Passed) -> None:
        """Send a frame, or a message that is encoded first, to a node of another worker after this turn's flushes."""
        link = self._by_node.get(frame.destination)
        if link is not None:
            data = _encoded(frame) if isinstance(frame, Passed) else frame.data
            run = link.runs[frame.destination]
            link.send(
                Carried(
                    source=frame.source,
                    destination=frame.destination,
                    run=run,
                    api_key=frame.api_key,
                    is_request=frame.is_request,
                    data=data,
                    envelope=frame.envelope,
                )
            )

    def announce(self, node_id: int, *, is_attached: bool) -> None:
        """Report to the other workers that a node of this one is attached, or has disconnected."""
        if is_attached:
            self._run_count += 1
            self._runs[node_id] = self._run_count
        elif self._runs.pop(node_id, None) is None:
            return
        for link in self._links:
            link.send(Attached(node_id, self._run_count) if is_attached else Detached(node_id))

    # --- links --------------------------------------------------------------------------------------------------

    def opened(self, link: _Link) -> Hello:
        """Note a new link, and return the introduction of this worker."""
        self._links.add(link)
        return Hello(dict(self._runs))

    def take(self, link: _Link, message: LinkMessage) -> None:
        """Receive a message of another worker."""
        match message:
            case Carried():
                if self._runs.get(message.destination) == message.run:
                    self._network.arrive(
                        Frame(
                            source=message.source,
                            destination=message.destination,
                            api_key=message.api_key,
                            is_request=message.is_request,
                            data=message.data,
                            envelope=message.envelope,
                        )
                    )
            case Hello():
                self._add(link, message.runs)
                link.settled.set()
            case Attached():
                self._add(link, {message.node_id: message.run})
            case Detached():
                self._remove(link, message.node_id)

    def _add(self, link: _Link, runs: Mapping[int, int]) -> None:
        for node_id in runs:
            earlier = self._by_node.get(node_id)
            if earlier is not None and earlier is not link:  # Its worker has ended, which is not read yet.
                self._remove(earlier, node_id)
        link.runs |= runs
        self._by_node |= dict.fromkeys(runs, link)

    def _remove(self, link: _Link, node_id: int) -> None:
        if link.runs.pop(node_id, None) is not None:
            del self._by_node[node_id]
            self._network.notify_disconnected(node_id)

    def lost(self, link: _Link) -> None:
        """Disconnect the nodes of a worker that has ended."""
        self._links.discard(link)
        for node_id in tuple(link.runs):
            self._remove(link, node_id)


def _encoded(passed: Passed) -> bytes:
    """Return the frame of a message, without its size."""
    if passed.message is None:  # The response that closes a connection.
        return passed.correlation_id.to_bytes(4, "big")
    if passed.is_request:
        client_id = f"broker-{passed.source}"
        return encode_request(passed.api_key, passed.version, passed.correlation_id, client_id, passed.message)[4:]
    return encode_response(passed.api_key, passed.version, passed.correlation_id, passed.message)[4:]
