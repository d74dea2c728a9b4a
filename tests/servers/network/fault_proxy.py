# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""TCP proxy that simulates network faults: slow, cut or half-open connections."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from servers.network.kafka_requests import Requests

_CHUNK = 1 << 16


class FaultProxy:
    """Proxy that forwards connections from its port to another port, with optional faults.

    ```python
    with FaultProxy(listen=15000, upstream=15001) as proxy:
        proxy.slow(0.2)
    ```
    """

    def __init__(self, listen: int, upstream: int) -> None:
        """Create a proxy between two ports of 127.0.0.1."""
        self.port, self._upstream = listen, upstream
        self._delay = 0.0
        self._advertised = upstream
        self._is_cut = False
        self._passes = threading.Event()
        self._passes.set()
        self._closed = False
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._watched: dict[int, Callable[[], None]] = {}
        self.accepted = 0
        """Number of client connections."""
        self.refused = 0
        """Number of client connections that reached no broker."""
        self.abandoned = 0
        """Number of half-open connections that clients closed."""

    def __enter__(self) -> FaultProxy:
        """Start listening."""
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, name="fault-proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections and stop listening."""
        self._closed = True
        self._passes.set()
        # This wakes a blocked accept on Linux and macOS.
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._drop_all()

    def slow(self, seconds: float) -> None:
        """Delay each part of every response by the given number of seconds."""
        self._delay = seconds

    def cut(self) -> None:
        """Close all connections, and each new connection immediately."""
        self._is_cut = True
        self._drop_all()

    def silence(self) -> None:
        """Make connections half-open: requests are forwarded, responses are not."""
        self._passes.clear()

    def advertise(self, port: int) -> None:
        """Replace the port of the broker by another port in all responses."""
        self._advertised = port

    def before_next(self, kind: int, act: Callable[[], None]) -> None:
        """Call a function once, before the next request of a kind (a Kafka API key)."""
        self._watched[kind] = act

    def heal(self) -> None:
        """End all faults. Close half-open connections, because no client uses these connections."""
        if not self._passes.is_set():
            self._drop_all()
        self._delay, self._is_cut = 0.0, False
        self._passes.set()

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            self.accepted += 1
            if self._is_cut:
                self._refuse(client)
                continue
            try:
                broker = socket.create_connection(("127.0.0.1", self._upstream))
            except OSError:
                self._refuse(client)
                continue
            with self._lock:
                self._sockets |= {client, broker}
            for source, sink, answers in ((client, broker, False), (broker, client, True)):
                threading.Thread(
                    target=self._pump, args=(source, sink, answers), daemon=True
                ).start()

    def _refuse(self, client: socket.socket) -> None:
        self.refused += 1
        client.close()

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        requests = Requests()
        with contextlib.suppress(OSError):
            while piece := source.recv(_CHUNK):
                for kind in () if answers else requests.begun_in(piece):
                    self._watched.pop(kind, lambda: None)()
                if answers:
                    if self._advertised != self._upstream:
                        old, new = (
                            p.to_bytes(4, "big") for p in (self._upstream, self._advertised)
                        )
                        piece = piece.replace(old, new)
                    time.sleep(self._delay)
                    self._passes.wait()
                sink.sendall(piece)
            if not answers and not self._passes.is_set():
                self.abandoned += 1
        self._drop({source, sink})

    def _drop_all(self) -> None:
        with self._lock:
            every = set(self._sockets)
        self._drop(every)

    def _drop(self, some: set[socket.socket]) -> None:
        with self._lock:
            self._sockets -= some
        for each in some:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
