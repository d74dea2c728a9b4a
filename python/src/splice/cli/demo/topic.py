# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka topic of the demo, with the Kafka client of the package."""

from __future__ import annotations

import sys
import uuid
from typing import TYPE_CHECKING, Any

from splice._internal import jvm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from py4j.protocol import Py4JJavaError

_TEXT = "org.apache.kafka.common.serialization.StringSerializer"
_TIMEOUT = "15000"


class DemoTopic:
    """Topic with a unique name, which exists within a ``with`` block."""

    def __init__(self, servers: str, client: Mapping[str, str], partitions: int = 1) -> None:
        """Create an instance for a cluster, with properties of the Kafka client."""
        self.servers = servers
        self.client = dict(client)
        self.partitions = partitions
        self.name = f"splice-demo-{uuid.uuid4().hex[:8]}"
        self._jvm: Any = jvm.running()

    def __enter__(self) -> DemoTopic:
        """Create the topic."""
        java = self._jvm.java.util
        self._admin = self._client()
        topic = self._jvm.org.apache.kafka.clients.admin.NewTopic(
            self.name, java.Optional.of(self.partitions), java.Optional.empty()
        )
        try:
            self._done(self._admin.createTopics(java.List.of(topic)).all())
        except BaseException:
            # After a timeout or an interrupt, the topic may exist.
            self._clean()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Delete the topic. A failed deletion does not hide the result of the block."""
        if self._clean():
            print(f"The topic {self.name} was deleted.")

    def produce(self, records: Iterable[tuple[str, str] | tuple[int, int, str, str]]) -> None:
        """Append records, each with a key and a value after an optional partition and time."""
        clients = self._jvm.org.apache.kafka.clients.producer
        serializers = {"key.serializer": _TEXT, "value.serializer": _TEXT, "linger.ms": "50"}
        producer = clients.KafkaProducer(self._properties(serializers))
        try:
            for record in records:
                last = producer.send(clients.ProducerRecord(self.name, *record))
            producer.flush()
            self._done(last)
        finally:
            producer.close()

    def _client(self) -> Any:
        from py4j.protocol import Py4JJavaError

        settings = {"default.api.timeout.ms": _TIMEOUT, "request.timeout.ms": _TIMEOUT}
        try:
            return self._jvm.org.apache.kafka.clients.admin.AdminClient.create(
                self._properties(settings)
            )
        except Py4JJavaError as error:
            raise OSError(f"{self.servers}: {_message(_cause(error))}") from None

    def _clean(self) -> bool:
        """Delete the topic, close the client, and return True if the topic was deleted.

        An error of the deletion is printed, unless the topic does not exist.
        """
        from py4j.protocol import Py4JError

        try:
            self._done(self._admin.deleteTopics(self._jvm.java.util.List.of(self.name)).all())
        except _MissingTopicError:
            return False
        except (OSError, Py4JError) as error:
            text = f"The topic {self.name} was not deleted: {error}. Delete the topic."
            print(text, file=sys.stderr)
            return False
        finally:
            self._admin.close()
        return True

    def _properties(self, own: Mapping[str, str]) -> Any:
        found = self._jvm.java.util.Properties()
        for name, value in {**own, **self.client, "bootstrap.servers": self.servers}.items():
            found.setProperty(name, value)
        return found

    def _done(self, future: Any) -> None:
        from py4j.protocol import Py4JJavaError

        try:
            future.get()
        except Py4JJavaError as error:
            cause = _cause(error)
            missing = cause.getClass().getSimpleName() == "UnknownTopicOrPartitionException"
            kind = _MissingTopicError if missing else OSError
            raise kind(f"{self.servers}: {_message(cause)}") from None


class _MissingTopicError(OSError):
    pass


def _cause(error: Py4JJavaError) -> Any:
    """Return the cause of a Java exception; the exception itself if the cause is not set."""
    cause = error.java_exception.getCause()
    return error.java_exception if cause is None else cause


def _message(cause: Any) -> str:
    return str(cause.getMessage() or cause.toString()).removesuffix(".")
