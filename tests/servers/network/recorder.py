# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""TCP server that records what clients send."""

from __future__ import annotations

import contextlib
import socket
import threading

from servers.ports import free_ports

_CHUNK = 1 << 16


class Recorder:
    """Server that accepts connections, records the received bytes and never responds.

    ```python
    with Recorder() as recorder:
        connect(recorder.address)
    ```
    """

    def __init__(self) -> None:
        """Create a recorder on a free port of 127.0.0.1."""
        self._port = free_ports(1)[0]
        self._lock = threading.Lock()
        self._received: dict[socket.socket, bytearray] = {}

    def __enter__(self) -> Recorder:
        """Start listening."""
        self._server = socket.create_server(("127.0.0.1", self._port))
        threading.Thread(target=self._accept, name="recorder", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening and close all connections."""
        with self._lock:
            every = [self._server, *self._received]
        for each in every:
            # This wakes a blocked accept or recv on Linux and macOS.
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    @property
    def address(self) -> str:
        """Return the address of the server."""
        return f"127.0.0.1:{self._port}"

    def received(self) -> list[bytes]:
        """Return the bytes that each connection has sent, also of closed connections."""
        with self._lock:
            return [bytes(each) for each in self._received.values()]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                with self._lock:
                    self._received[client] = bytearray()
                threading.Thread(target=self._record, args=(client,), daemon=True).start()

    def _record(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := client.recv(_CHUNK):
                with self._lock:
                    self._received[client] += piece
