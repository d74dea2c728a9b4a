# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of a Kafka cluster: addresses, login and permissions."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from splice._internal import jvm_metadata
from splice.cli.findings import Finding, failed, ok

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LOGIN = "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED"
_SECONDS = 5.0
_DIGITS = 5
_MILLIS = "15000"


def bootstrap(servers: str) -> Iterator[Finding]:
    """Connect to each bootstrap server. The checks need no JVM."""
    for server in servers.split(","):
        address = _address(server.strip())
        if address is None:
            yield failed(f"'{server}' is not an address", "Use host:port, such as broker-1:9092.")
            continue
        error = _connect(*address)
        if error is None:
            yield ok(f"bootstrap server {server} accepts connections")
        else:
            yield failed(
                f"bootstrap server {server}: {error}",
                "Check the address, the port, DNS and firewalls between this machine and the "
                "broker.",
            )


def cluster(servers: str, client: Mapping[str, str], topic: str | None) -> Iterator[Finding]:
    """Check the login, each advertised address, and the permissions on a topic."""
    options = {f"kafka.{name}": value for name, value in client.items()}
    options.setdefault("kafka.default.api.timeout.ms", _MILLIS)
    options |= {
        "metadata": "singleCluster",
        "kafka.bootstrap.servers": servers,
        "streamPattern": ".*",
    }
    found = jvm_metadata.cluster(options, topic or "")
    if "error" in found:
        login = found["condition"] == _LOGIN
        step = "Check security.protocol, sasl.mechanism and sasl.jaas.config of --kafka."
        if not login:
            step += " If the bootstrap servers accept connections, also check advertised.listeners."
        yield failed(f"{'login' if login else 'request'} to {servers}: {found['error']}", step)
        return
    yield ok(f"the cluster accepts the client and has {len(found['brokers'])} brokers")
    for broker in found["brokers"]:
        address = f"{broker['host']}:{broker['port']}"
        error = _connect(broker["host"], broker["port"])
        if error is None:
            yield ok(f"advertised address {address} accepts connections")
        else:
            yield failed(
                f"advertised address {address}: {error}",
                "Set advertised.listeners of the broker to an address that this machine reaches.",
            )
    if topic:
        yield from _topic(topic, found["topic"])


def _topic(name: str, state: Mapping[str, Any]) -> Iterator[Finding]:
    if "error" in state:
        yield failed(f"topic {name}: {state['error']}", "Correct the error above.")
    elif state["missing"]:
        yield failed(f"topic {name} does not exist", "Create the topic, or correct the name.")
    elif state["forbidden"]:
        for one in state["forbidden"]:
            yield failed(
                f"topic {name}: the user lacks the permission {one['permission']}",
                f"Add an ACL that allows {one['permission']} on the topic.",
            )
    else:
        yield ok(f"topic {name} exists, and the user may describe and read the topic")


def _address(server: str) -> tuple[str, int] | None:
    """Return host and port; None if the text is not an address."""
    host, _, port = server.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    is_port = port.isascii() and port.isdigit() and len(port) <= _DIGITS
    return (host, int(port)) if host and is_port else None


def _connect(host: str, port: int) -> str | None:
    """Return the error of a connection; None if the address accepts connections."""
    try:
        with socket.create_connection((host, port), timeout=_SECONDS):
            return None
    except (OSError, UnicodeError, OverflowError) as error:
        return str(error)
