# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Availability of a Docker engine."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlparse

_PING = b"GET /_ping HTTP/1.0\r\n\r\n"


def engine_answers(timeout: float = 1) -> bool:
    """Send a ping to the engine, and return True if the engine responds."""
    address = urlparse(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"))
    try:
        with _connect(address.scheme, address.path, address.hostname, address.port, timeout) as s:
            s.sendall(_PING)
            return b" 200 " in s.recv(64)
    except OSError:
        return False


def _connect(
    scheme: str, path: str, host: str | None, port: int | None, timeout: float
) -> socket.socket:
    if scheme == "unix":
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        connection.connect(path)
        return connection
    return socket.create_connection((host or "localhost", port or 2375), timeout)
