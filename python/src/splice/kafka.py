# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka as a source, unbounded or bounded."""

from __future__ import annotations

from splice.errors import OptionError
from splice.log_source import LogSource, LogSourceBuilder

_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")


class KafkaSource(LogSource):
    """The records of Kafka topics, with the columns of Spark's own Kafka source."""

    kind = "kafka"

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Begins a source of Kafka topics."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(LogSourceBuilder[KafkaSource]):
    """Builds a KafkaSource; options and their names are those of Spark's own Kafka source.

    Any setting of the Kafka client goes through as ``option("kafka.<setting>", value)``.
    """

    def bootstrap_servers(self, servers: str) -> KafkaSourceBuilder:
        """Sets the brokers to begin with, as ``host:port,host:port``."""
        return self.option(_SERVERS, servers)

    def topics(self, *topics: str) -> KafkaSourceBuilder:
        """Subscribes to topics by name; instead of a pattern."""
        for topic in topics:
            if not isinstance(topic, str) or not topic.strip() or "," in topic:
                raise OptionError.of("SPLICE_BUILDER.INVALID_TOPIC_NAME", value=repr(topic))
        return self.option("subscribe", ",".join(topics))

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Subscribes to all topics whose name holds a match of a Java regular expression.

        ``^`` and ``$`` bind it to the whole name.
        """
        return self.option("subscribePattern", pattern)

    def _make(self) -> KafkaSource:
        self._refuse_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError.of("SPLICE_BUILDER.SERVERS_NOT_SET", option=_SERVERS)
        self._exactly_one(
            _SUBSCRIPTIONS,
            "Kafka source",
            "topics(...), topic_pattern(...) or option('assign', json)",
        )
        return KafkaSource(self._options)
