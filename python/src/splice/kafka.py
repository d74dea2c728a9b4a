# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of Kafka topics."""

from __future__ import annotations

from splice._internal.log_source import LogSource, LogSourceBuilder
from splice.errors import OptionError

_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")


class KafkaSource(LogSource):
    """Source of Kafka topics, with the columns of Spark's Kafka source."""

    kind = "kafka"

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder without options."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(LogSourceBuilder[KafkaSource]):
    """Builder of a KafkaSource. Options have the same names as in Spark's Kafka source.

    Set a property of the Kafka client with ``option("kafka.<property>", value)``.
    """

    def bootstrap_servers(self, servers: str) -> KafkaSourceBuilder:
        """Set the bootstrap brokers, as ``host:port,host:port``."""
        return self.option(_SERVERS, servers)

    def topics(self, *topics: str) -> KafkaSourceBuilder:
        """Subscribe to topics by name, instead of a pattern."""
        for topic in topics:
            if not isinstance(topic, str) or not topic.strip() or "," in topic:
                raise OptionError.of("SPLICE_BUILDER.INVALID_TOPIC_NAME", value=repr(topic))
        return self.option("subscribe", ",".join(topics))

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Subscribe to all topics whose name contains a match of a Java regular expression.

        ``^`` and ``$`` anchor the pattern to the whole name.
        """
        return self.option("subscribePattern", pattern)

    def _make(self) -> KafkaSource:
        self._reject_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError.of("SPLICE_BUILDER.SERVERS_NOT_SET", option=_SERVERS)
        self._exactly_one(
            _SUBSCRIPTIONS,
            "Kafka source",
            "topics(...), topic_pattern(...) or option('assign', json)",
        )
        return KafkaSource(self._options)
