# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster with access control lists."""

from __future__ import annotations

import secrets

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from servers.kafka.cluster import KafkaCluster
from servers.kafka.container import ContainerNode
from servers.kafka.node import ProcessNode
from servers.ports import free_ports

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


class GuardedKafka(KafkaCluster):
    """Kafka cluster of one node, in which the user ``reader`` needs permissions.

    Clients of the plain listener have all permissions. The user ``reader`` logs in at another
    listener. A third listener advertises an address at which no server listens.
    """

    def __init__(self) -> None:
        """Create a cluster with a new password."""
        self.password = secrets.token_hex(12)
        self.dead = f"127.0.0.1:{free_ports(1)[0]}"
        super().__init__(
            {
                "authorizer.class.name": (
                    "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
                ),
                "super.users": "User:ANONYMOUS",
                "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
                "listener.name.login.plain.sasl.jaas.config": (
                    f'{_PLAIN} required user_reader="{self.password}";'
                ),
            },
            "384m",
            listeners={"LOGIN": "SASL_PLAINTEXT", "AWAY": "PLAINTEXT"},
        )

    def __enter__(self) -> GuardedKafka:
        """Start the cluster."""
        super().__enter__()
        return self

    @property
    def login_servers(self) -> str:
        """Return the bootstrap address of the listener with a login."""
        return f"127.0.0.1:{self.node.ports['LOGIN']}"

    @property
    def away_servers(self) -> str:
        """Return the bootstrap address of the listener that advertises a dead address."""
        return f"127.0.0.1:{self.node.ports['AWAY']}"

    def login(self, password: str | None = None) -> dict[str, str]:
        """Return the properties of a client of the user ``reader``."""
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": (
                f'{_PLAIN} required username="reader" password="{password or self.password}";'
            ),
        }

    def allow(self, topic: str, operation: str) -> None:
        """Allow the user an operation on a topic, such as ``READ``."""
        rule = AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            "User:reader",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        for future in admin.create_acls([rule]).values():
            future.result(30)

    def _make(self) -> ProcessNode | ContainerNode:
        node = super()._make()
        properties = self._folder / "server.properties"
        text = properties.read_text()
        advertised = next(
            line for line in text.splitlines() if line.startswith("advertised.listeners=")
        )
        # The last line of a property sets its value.
        away = advertised.replace(f"AWAY://127.0.0.1:{node.ports['AWAY']}", f"AWAY://{self.dead}")
        properties.write_text(f"{text}{away}\n")
        return node
