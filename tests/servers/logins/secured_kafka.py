# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster with secured listeners, and the options of its clients."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from pathlib import Path

from servers.kafka.cluster import KafkaCluster
from servers.kafka.topics import KafkaTopics
from servers.logins.certificates import Certificates

_SECURITY = "org.apache.kafka.common.security"
_PLAIN = f"{_SECURITY}.plain.PlainLoginModule"
_SCRAM = f"{_SECURITY}.scram.ScramLoginModule"
_BEARER = f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule"
_MECHANISMS = {
    "PLAIN": f'{_PLAIN} required user_reader="{{password}}";',
    "SCRAM-SHA-512": f"{_SCRAM} required;",
    "OAUTHBEARER": f'{_BEARER} required unsecuredLoginStringClaim_sub="broker";',
}
_LISTENERS = {"LOGIN": "SASL_PLAINTEXT", "LOGINTLS": "SASL_SSL", "TLS": "SSL"}


class SecuredKafka:
    """Kafka cluster with a plain listener for tests and three secured listeners.

    The secured listeners are LOGIN (SASL), LOGINTLS (SASL over TLS) and TLS (client certificates).
    The user ``reader`` has the same password for every mechanism.
    """

    def __init__(self, folder: Path) -> None:
        """Create certificates in a folder."""
        self.password = secrets.token_hex(12)
        self.certificates = Certificates(folder)
        self._cluster = KafkaCluster(self._settings(), listeners=_LISTENERS)

    def __enter__(self) -> SecuredKafka:
        """Start the cluster, and set the SCRAM password of the user."""
        with ExitStack() as started:
            started.enter_context(self._cluster)
            self.topics.set_scram_password("reader", self.password)
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the cluster and remove its data."""
        self._started.close()

    @property
    def topics(self) -> KafkaTopics:
        """Return the topics, with connections over the plain listener."""
        return self._cluster.topics

    def servers(self, listener: str) -> str:
        """Return the bootstrap address of a secured listener."""
        return f"127.0.0.1:{self._cluster.node.ports[listener]}"

    def login(self, mechanism: str, password: str, listener: str = "LOGIN") -> dict[str, str]:
        """Return the options of a source that logs in with a password."""
        module = _PLAIN if mechanism == "PLAIN" else _SCRAM
        return {
            "kafka.bootstrap.servers": self.servers(listener),
            "kafka.security.protocol": _LISTENERS[listener],
            "kafka.sasl.mechanism": mechanism,
            "kafka.sasl.jaas.config": (
                f'{module} required username="reader" password="{password}";'
            ),
        }

    def bearer(self, handler: str, secret: str) -> dict[str, str]:
        """Return the options of a source that logs in with the token of a callback handler."""
        return {
            "kafka.bootstrap.servers": self.servers("LOGIN"),
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "OAUTHBEARER",
            "kafka.sasl.login.callback.handler.class": handler,
            "kafka.sasl.jaas.config": (
                f'{_BEARER} required user="reader" clientSecret="{secret}";'
            ),
        }

    def trust(self, password: str) -> dict[str, str]:
        """Return the options of a source that trusts the brokers' certificate."""
        return {
            "kafka.ssl.truststore.location": str(self.certificates.trust),
            "kafka.ssl.truststore.password": password,
            "kafka.ssl.truststore.type": "PKCS12",
        }

    def certificate(self, password: str) -> dict[str, str]:
        """Return the options of a source with a client certificate."""
        return {
            "kafka.bootstrap.servers": self.servers("TLS"),
            "kafka.security.protocol": "SSL",
            "kafka.ssl.keystore.location": str(self.certificates.client),
            "kafka.ssl.keystore.password": password,
            "kafka.ssl.key.password": password,
            "kafka.ssl.keystore.type": "PKCS12",
            **self.trust(password),
        }

    def certificate_as_text(self, key: str) -> dict[str, str]:
        """Return the options of a source with a client certificate as text."""
        stores = self.certificates.client, self.certificates.server
        chain, trusted = (store.with_suffix(".pem").read_text() for store in stores)
        return {
            "kafka.bootstrap.servers": self.servers("TLS"),
            "kafka.security.protocol": "SSL",
            "kafka.ssl.keystore.type": "PEM",
            "kafka.ssl.keystore.key": key,
            "kafka.ssl.keystore.certificate.chain": chain,
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.truststore.certificates": trusted,
        }

    def _settings(self) -> dict[str, str]:
        settings = {
            "ssl.keystore.location": str(self.certificates.server),
            "ssl.keystore.password": self.certificates.password,
            "ssl.keystore.type": "PKCS12",
            "ssl.truststore.location": str(self.certificates.trust),
            "ssl.truststore.password": self.certificates.password,
            "ssl.truststore.type": "PKCS12",
            "listener.name.tls.ssl.client.auth": "required",
        }
        for listener in ("login", "logintls"):
            prefix = f"listener.name.{listener}"
            settings[f"{prefix}.sasl.enabled.mechanisms"] = ",".join(_MECHANISMS)
            for mechanism, line in _MECHANISMS.items():
                key = f"{prefix}.{mechanism.lower()}.sasl.jaas.config"
                settings[key] = line.format(password=self.password)
        return settings
