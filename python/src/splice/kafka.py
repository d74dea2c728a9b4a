# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka as a source, unbounded or bounded."""

from __future__ import annotations

from splice.errors import OptionError
from splice.log_source import LogSource, LogSourceBuilder
from splice.offsets import OffsetsArgument

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
                raise OptionError(
                    f"{topic!r} is no name of a topic. Give each topic as a string of its own: "
                    "topics('a', 'b')."
                )
        return self.option("subscribe", ",".join(topics))

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Subscribes to all topics whose name holds a match of a Java regular expression.

        ``^`` and ``$`` bind it to the whole name.
        """
        return self.option("subscribePattern", pattern)

    def ending_offsets(self, end: OffsetsArgument) -> KafkaSourceBuilder:
        """Fixes the end, which makes the source bounded; by default there is none.

        Args:
            end: ``"latest"`` or an OffsetsInitializer other than earliest and committed.
        """
        return self._ending("ending_offsets", end)

    def commit_to_group(self, group: str) -> KafkaSourceBuilder:
        """Commits to a consumer group what Spark has committed, for tools that show lag.

        It never goes ahead of the checkpoint, and the query does not begin there unless
        its start is ``OffsetsInitializer.committed()``.

        Args:
            group: the id of the group, the option ``kafka.group.id``.
        """
        if not isinstance(group, str) or not group.strip():
            raise OptionError(
                f"{group!r} is no consumer group. Give its id: commit_to_group('orders-report')."
            )
        return self.option("kafka.group.id", group).option("commitToGroup", True)

    def _make(self) -> KafkaSource:
        self._refuse_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError(
                f"Option '{_SERVERS}' is missing, so no broker can be found. "
                "Give it with bootstrap_servers('host:port')."
            )
        self._exactly_one(
            _SUBSCRIPTIONS,
            "Kafka source",
            "topics(...), topic_pattern(...) or option('assign', json)",
        )
        return KafkaSource(self._options)
