# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Free ports."""

from __future__ import annotations

import os
import random
import socket

# The ports are below the range of outgoing connections. No connection therefore uses a port before
# its server starts, or while its server is down.
_PORTS = range(15000, 32000)


def free_ports(count: int) -> list[int]:
    """Return different TCP ports without a listener."""
    found: list[int] = []
    candidates = _own_ports()
    for port in random.sample(candidates, len(candidates)):
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"no {count} free ports in {candidates}")


def _own_ports() -> range:
    # Another worker of pytest must not use the port of a server that is temporarily down.
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return _PORTS[worker :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
