# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A Kafka that lets in who logs in by a password, which changes while clients are connected."""

from __future__ import annotations

import functools
import itertools
import secrets

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from servers.kafka import KafkaCluster
from servers.waiting import wait_for

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
_MECHANISM = "SCRAM-SHA-512"
_LISTENER = "LOGIN"
_OWN = f"listener.name.{_LISTENER.lower()}"
_SETTINGS = {
    f"{_OWN}.sasl.enabled.mechanisms": _MECHANISM,
    f"{_OWN}.{_MECHANISM.lower()}.sasl.jaas.config": f"{_MODULE} required;",
    # Without it a connection that is open goes on with a password that is not valid any more.
    f"{_OWN}.connections.max.reauth.ms": "3000",
}


class LoginKafka(KafkaCluster):
    """A Kafka of one node with a plain listener for tests and one where clients log in (SCRAM).

    Passwords are in a file, and clients are told where in it. A connection has to log in again
    every three seconds.
    """

    def __init__(self, heap: str = "512m") -> None:
        """Takes the JVM's heap."""
        super().__init__(_SETTINGS, heap, listeners={_LISTENER: "SASL_PLAINTEXT"})
        self._numbers = itertools.count()
        self._passwords: dict[str, str] = {}

    def __enter__(self) -> LoginKafka:
        """Starts it, and lets a first user in."""
        super().__enter__()
        try:
            self.change_user()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    @property
    def login_servers(self) -> str:
        """Where clients begin that log in, the same after a restart."""
        return f"127.0.0.1:{self.node.ports[_LISTENER]}"

    @property
    def client(self) -> dict[str, str]:
        """The properties of a client that is the newest user; they hold no password.

        They refer to it. :attr:`providers` resolves the reference.
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
        """The options of a query that resolve references to passwords."""
        return {
            "kafka.config.providers": "file",
            "kafka.config.providers.file.class": (
                "org.apache.kafka.common.config.provider.FileConfigProvider"
            ),
            "kafka.config.providers.file.param.allowed.paths": str(self._folder),
        }

    def change_user(self) -> None:
        """Lets another user in, who is the newest from now on; the others are still let in."""
        self._let_in(f"reader-{next(self._numbers)}")

    def change_password(self) -> None:
        """Gives the newest user another password: in the file, and then for the servers."""
        user, was = self._newest, self._passwords[self._newest]
        self._let_in(user)
        wait_for("the old password to be refused", lambda: not self._lets_in(user, was))

    def shut_out_old_users(self) -> None:
        """Lets nobody in but the newest user."""
        for user in [user for user in self._passwords if user != self._newest]:
            password = self._passwords.pop(user)
            # Once a user was removed, brokers of some versions know no user at all when they start
            # again; so this one stays, with a password that nobody knows.
            self.topics.set_scram_password(user, secrets.token_hex(12))
            wait_for(f"{user} to be refused", functools.partial(self._shuts_out, user, password))
        self._write()

    @property
    def _newest(self) -> str:
        return list(self._passwords)[-1]

    def _let_in(self, user: str) -> None:
        password = self._passwords[user] = secrets.token_hex(12)
        self._write()
        self.topics.set_scram_password(user, password)
        wait_for(f"{user} to be let in", lambda: self._lets_in(user, password))

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
