# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster with logins, whose passwords change while clients are connected."""

from __future__ import annotations

import functools
import itertools
import secrets

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from servers.kafka.cluster import KafkaCluster
from servers.waiting import wait_for

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
_MECHANISM = "SCRAM-SHA-512"
_LISTENER = "LOGIN"
_OWN = f"listener.name.{_LISTENER.lower()}"
_SETTINGS = {
    f"{_OWN}.sasl.enabled.mechanisms": _MECHANISM,
    f"{_OWN}.{_MECHANISM.lower()}.sasl.jaas.config": f"{_MODULE} required;",
    # Without this setting, open connections remain usable after their password is no longer valid.
    f"{_OWN}.connections.max.reauth.ms": "10000",
}


class LoginKafka(KafkaCluster):
    """Kafka cluster of one node, with a plain listener for tests and a listener with SCRAM logins.

    Passwords are in a file, and clients have references to the file. A connection must log in again
    every ten seconds.
    """

    def __init__(self, heap: str = "512m") -> None:
        """Create a cluster with the heap of its JVM."""
        super().__init__(_SETTINGS, heap, listeners={_LISTENER: "SASL_PLAINTEXT"})
        self._numbers = itertools.count()
        self._passwords: dict[str, str] = {}

    def __enter__(self) -> LoginKafka:
        """Start the cluster, and create the first user."""
        super().__enter__()
        try:
            self.change_user()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    @property
    def login_servers(self) -> str:
        """Return the bootstrap address of the SCRAM listener, which restarts do not change."""
        return f"127.0.0.1:{self.node.ports[_LISTENER]}"

    @property
    def client(self) -> dict[str, str]:
        """Return the properties of a client with the newest user.

        The properties contain a reference to the password, which :attr:`providers` resolves.
        """
        user = self._newest
        reference = f"${{file:{self._folder / 'secrets.properties'}:{user}}}"
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": _MECHANISM,
            "sasl.jaas.config": f'{_MODULE} required username="{user}" password="{reference}";',
        }

    @property
    def providers(self) -> dict[str, str]:
        """Return the options of a query that resolve references to passwords."""
        return {
            "kafka.config.providers": "file",
            "kafka.config.providers.file.class": (
                "org.apache.kafka.common.config.provider.FileConfigProvider"
            ),
            "kafka.config.providers.file.param.allowed.paths": str(self._folder),
        }

    def change_user(self) -> None:
        """Create another user, which is then the newest user. Other users remain valid."""
        self._let_in(f"reader-{next(self._numbers)}")

    def change_password(self) -> None:
        """Change the password of the newest user, first in the file and then on the server."""
        user, was = self._newest, self._passwords[self._newest]
        self._let_in(user)
        wait_for("the rejection of the old password", lambda: not self._lets_in(user, was))

    def shut_out_old_users(self) -> None:
        """Remove all users except the newest user."""
        for user in [user for user in self._passwords if user != self._newest]:
            password = self._passwords.pop(user)
            # If a user was removed, brokers of some versions have no users after a restart. So the
            # user remains, with a random password.
            self.topics.set_scram_password(user, secrets.token_hex(12))
            wait_for(f"the rejection of {user}", functools.partial(self._shuts_out, user, password))
        self._write()

    @property
    def _newest(self) -> str:
        return list(self._passwords)[-1]

    def _let_in(self, user: str) -> None:
        password = self._passwords[user] = secrets.token_hex(12)
        self._write()
        self.topics.set_scram_password(user, password)
        wait_for(f"the login of {user}", lambda: self._lets_in(user, password))

    def _write(self) -> None:
        following = self._folder / "secrets.next"
        following.write_text("".join(f"{u}={p}\n" for u, p in self._passwords.items()))
        following.replace(self._folder / "secrets.properties")

    def _shuts_out(self, user: str, password: str) -> bool:
        return not self._lets_in(user, password)

    def _lets_in(self, user: str, password: str) -> bool:
        client: dict[str, str | int | float | bool] = {
            "bootstrap.servers": self.login_servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": _MECHANISM,
            "sasl.username": user,
            "sasl.password": password,
            "log_level": 0,
        }
        try:
            AdminClient(client).list_topics(timeout=2)
        except KafkaException:
            return False
        return True
