"""TCP links between real brokers that can be cut: a node stays up for clients, and reaches no other node."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


class Links:
    """Forwarded ports of all nodes. After `isolate`, connections from and to one node are closed and refused."""

    def __init__(self) -> None:
        self._listeners: list[socket.socket] = []
        self._open: list[tuple[socket.socket, int, int]] = []
        self._lock = threading.Lock()
        self._cut: tuple[int, frozenset[int]] | None = None

    def forward(self, port: int, target: int) -> None:
        """Forward a port of loopback to another one."""
        listener = socket.create_server((HOST, port))
        self._listeners.append(listener)
        threading.Thread(target=self._accept, args=(listener, target), daemon=True).start()

    def isolate(self, pid: int, targets: frozenset[int]) -> None:
        """Cut a process, which listens on the target ports, from all others."""
        with self._lock:
            self._cut = (pid, targets)
            crossing = [one for one, target, peer in self._open if self._crosses(target, peer)]
        for one in crossing:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close every listener and connection."""
        for one in (*self._listeners, *(one for one, *_ in self._open)):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _crosses(self, target: int, peer: int) -> bool:
        if self._cut is None:
            return False
        pid, targets = self._cut
        return (target in targets) != (peer in ports_of(pid))

    def _accept(self, listener: socket.socket, target: int) -> None:
        with suppress(OSError):
            while True:
                client, (_, peer) = listener.accept()
                threading.Thread(target=self._connect, args=(client, target, peer), daemon=True).start()

    def _connect(self, client: socket.socket, target: int, peer: int) -> None:
        with self._lock:
            refused = self._crosses(target, peer)
        try:
            if refused:
                raise ConnectionRefusedError
            server = socket.create_connection((HOST, target))
        except OSError:
            client.close()
            return
        self._open += [(client, target, peer), (server, target, peer)]
        for here, there in ((client, server), (server, client)):
            threading.Thread(target=_pump, args=(here, there), daemon=True).start()


def _pump(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while data := here.recv(65536):
            there.sendall(data)
    for one in (here, there):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def ports_of(pid: int) -> frozenset[int]:
    """Return the local ports of a process's TCP sockets."""
    own = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            name = str(descriptor.readlink())
            if name.startswith("socket:["):
                own.add(name[8:-1])
    rows = (line.split() for table in TABLES for line in Path(table).read_text().splitlines()[1:])
    return frozenset(int(row[1].rpartition(":")[2], 16) for row in rows if row[9] in own)
