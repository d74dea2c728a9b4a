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

_USERS = 8


def _user(number: int) -> str:
    return f"reader-{number}"


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
    def credentials(self) -> str:
        """Return the name of the newest user, which is the name of its credentials."""
        return list(self._passwords)[-1]

    @property
    def options(self) -> dict[str, str]:
        """Return the options of a query with the credentials of each user.

        The credentials contain references to the passwords.
        """
        providers = {
            "kafka.config.providers": "file",
            "kafka.config.providers.file.class": (
                "org.apache.kafka.common.config.provider.FileConfigProvider"
            ),
            "kafka.config.providers.file.param.allowed.paths": str(self._folder),
        }
        return providers | {
            f"credentials.{user}.kafka.{name}": value
            for user in map(_user, range(_USERS))
            for name, value in self._client(user).items()
        }

    def change_user(self) -> None:
        """Change to another user, which is then the newest user. The previous users remain valid.

        After the last user, the first user is the newest user again, with a new password.
        """
        user = _user(next(self._numbers) % _USERS)
        self._passwords.pop(user, None)
        self._let_in(user)

    def change_password(self) -> None:
        """Change the password of the newest user, first in the file and then on the server."""
        user, was = self.credentials, self._passwords[self.credentials]
        self._let_in(user)
        wait_for("the rejection of the old password", lambda: not self._lets_in(user, was))

    def shut_out_old_users(self) -> None:
        """Remove all users except the newest user."""
        for user in [user for user in self._passwords if user != self.credentials]:
            password = self._passwords.pop(user)
            # If a user was removed, brokers of some versions have no users after a restart. So the
            # user remains, with a random password.
            self.topics.set_scram_password(user, secrets.token_hex(12))
            wait_for(f"the rejection of {user}", functools.partial(self._shuts_out, user, password))
        self._write()

    def _client(self, user: str) -> dict[str, str]:
        reference = f"${{file:{self._folder / 'secrets.properties'}:{user}}}"
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": _MECHANISM,
            "sasl.jaas.config": f'{_MODULE} required username="{user}" password="{reference}";',
        }

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
